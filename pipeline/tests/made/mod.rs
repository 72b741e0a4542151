//! A registry with stage types for tests.
#![allow(dead_code, reason = "each test program uses a part of the module")]

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use aurora_pipeline::{
    Access, BatchView, BuildContext, ColumnSpec, Diagnostics, DynamicType, Emitter, Entity, Fingerprint, Pipeline,
    PipelineSource, Plan, Problems, Registry, Services, Stage, StageConfig, StageContext, StageError, StageKind, Value,
    Worker, load, producer,
};
use serde::Deserialize;

/// The rows that sinks received, each with the name of the sink, in the order of arrival.
#[derive(Default)]
pub(crate) struct Log {
    pub(crate) seen: Mutex<Vec<(String, String)>>,
    pub(crate) closed: Mutex<Vec<String>>,
    pub(crate) emitted: AtomicUsize,
}

/// A stage whose columns are listed in its configuration. Every column contains integers. The written values depend
/// only on the column name, the label, and the values that the stage reads.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Mixer {
    pub(crate) kind: MixerKind,
    pub(crate) reads: Vec<String>,
    pub(crate) optional: Vec<String>,
    pub(crate) writes: Vec<String>,
    pub(crate) label: String,
    /// Whether a sink declares `in_parallel()` and records batches when it admits them.
    pub(crate) parallel: bool,
    /// If set, drops every file whose value in the first file column of `reads` is divisible by this number.
    pub(crate) drop_every: Option<i64>,
    /// If set, adds up to this number of chunks to every file.
    pub(crate) chunks: Option<usize>,
    /// Row number at which the failure selected by `trouble` occurs.
    pub(crate) at: usize,
    pub(crate) trouble: String,
    /// Number of rows to emit when the stage closes.
    pub(crate) late: usize,
    pub(crate) files: usize,
    pub(crate) payload: usize,
    /// Minimum time per batch, in microseconds.
    pub(crate) nap: u64,
    /// Whether the stage reads all custom columns. A sink then logs them.
    pub(crate) all: bool,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
pub(crate) enum MixerKind {
    Source,
    #[default]
    Transform,
    Sink,
}

impl StageConfig for Mixer {
    const TYPE: &'static str = "mixer";

    fn access(&self) -> Access {
        let access = match self.kind {
            MixerKind::Source => Access::source(),
            MixerKind::Transform => Access::transform(),
            MixerKind::Sink if self.parallel => Access::sink().in_parallel(),
            MixerKind::Sink => Access::sink(),
        };
        let columns = |names: &[String]| -> Vec<ColumnSpec> {
            names.iter().map(|name| ColumnSpec::dynamic(name.as_str(), DynamicType::Integer)).collect()
        };
        let access = access.reads(columns(&self.reads)).writes(columns(&self.writes));
        let access = access.reads_optional(columns(&self.optional));
        let access = if self.all { access.reads_dynamic() } else { access };
        if self.drop_every.is_some() || self.chunks.is_some() || self.late > 0 { access.restructures() } else { access }
    }

    fn check(&self, problems: &mut Problems<'_>) {
        if self.trouble.contains('!') {
            problems.error("trouble", "no shouting").help("leave out the `!`");
        }
        if self.files > 1_000_000 {
            problems.warning("files", "that is a lot of files");
        }
    }

    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        if self.trouble == "build" {
            return Err(StageError::new("the model `x` does not exist; see `aur model list`"));
        }
        let log = cx.services.get::<Log>().unwrap_or_default();
        Ok(Box::new(MixerStage { config: self, log }))
    }
}

struct MixerStage {
    config: Mixer,
    log: Arc<Log>,
}

impl MixerStage {
    fn trouble(&self, row: usize) -> Result<(), StageError> {
        if row != self.config.at {
            return Ok(());
        }
        match self.config.trouble.as_str() {
            "error" => Err(StageError::new(format!("row {row} is cursed"))),
            "panic" => panic!("row {row} is cursed"),
            _ => Ok(()),
        }
    }

    fn columns(&self, batch: &BatchView<'_>) -> Result<Vec<Vec<i64>>, StageError> {
        let present = |name: &&String| batch.read_dynamic(name).is_ok();
        let names = self.config.reads.iter().chain(self.config.optional.iter().filter(present));
        names
            .map(|name| {
                let cells: Vec<i64> = batch.read_dynamic(name)?.iter().map(integer).collect();
                let rows = if name.starts_with("chunk.") { batch.chunks() } else { batch.files() };
                assert_eq!(cells.len(), rows, "a column has one cell per row");
                Ok(cells)
            })
            .collect()
    }

    /// Adds the batch that a sink received to the log.
    fn note(&self, batch: &BatchView<'_>, inputs: &[Vec<i64>], cx: &StageContext<'_>) {
        let mut seen = self.log.seen.lock().expect("no panic while locked");
        for entity in [Entity::File, Entity::Chunk] {
            for (name, cells) in batch.dynamic_columns(entity) {
                seen.push((cx.stage().to_owned(), format!("{entity:?} {name} {}", cells.len())));
            }
        }
        let rows = batch.files().max(batch.chunks());
        for row in 0..rows {
            let cells: Vec<String> =
                inputs.iter().map(|cells| cells.get(row).map_or("-".to_owned(), i64::to_string)).collect();
            seen.push((cx.stage().to_owned(), cells.join(" ")));
        }
    }

    /// Returns the values of the first file column that the stage reads.
    fn lead(&self, batch: &BatchView<'_>) -> Result<Vec<i64>, StageError> {
        let Some(name) = self.config.reads.iter().find(|name| name.starts_with("file.")) else {
            return Ok(vec![1; batch.files()]);
        };
        Ok(batch.read_dynamic(name)?.iter().map(integer).collect())
    }

    fn fill(&self, name: &str, rows: usize, inputs: &[Vec<i64>]) -> Vec<Option<Value>> {
        let seed = name.bytes().chain(self.config.label.bytes()).fold(7i64, |sum, byte| mix(sum, i64::from(byte)));
        let value = |row: usize| {
            inputs.iter().filter(|cells| cells.len() == rows).fold(seed, |sum, cells| mix(sum, cells[row]))
        };
        (0..rows).map(|row| Some(Value::Integer(value(row)))).collect()
    }
}

fn integer(cell: &Option<Value>) -> i64 {
    match cell {
        Some(Value::Integer(value)) => *value,
        _ => -1,
    }
}

fn mix(a: i64, b: i64) -> i64 {
    a.wrapping_mul(31).wrapping_add(b).rotate_left(7)
}

/// The worker of a parallel sink.
struct Admitting<'a, W> {
    stage: &'a MixerStage,
    worker: W,
    has_admitted: bool,
}

impl<W: Worker> Worker for Admitting<'_, W> {
    fn admit(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        assert!(!std::mem::replace(&mut self.has_admitted, true), "the previous batch was processed");
        self.stage.note(batch, &self.stage.columns(batch)?, cx);
        Ok(())
    }

    fn process(&mut self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        assert!(std::mem::take(&mut self.has_admitted), "the batch was admitted");
        self.worker.process(batch, cx)
    }
}

impl Stage for MixerStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        let config = &self.config;
        if config.kind == MixerKind::Source {
            return producer(|out: &mut Emitter<'_>, cx: &StageContext<'_>| {
                cx.set_total_files(config.files as u64);
                for start in (0..config.files).step_by(cx.batch_files()) {
                    let part: Vec<i64> =
                        (start..config.files.min(start + cx.batch_files())).map(|row| row as i64).collect();
                    self.trouble(part[0] as usize)?;
                    let mut draft = out.batch(part.len());
                    for name in &config.writes {
                        let cells = part.iter().map(|row| Some(Value::Integer(*row))).collect();
                        draft.write_dynamic(name, cells)?;
                    }
                    draft.expect_bytes((part.len() * config.payload) as u64);
                    out.emit(draft)?;
                    self.log.emitted.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            });
        }
        let worker = move |batch: &mut BatchView<'_>, cx: &StageContext<'_>| {
            std::thread::sleep(Duration::from_micros(config.nap));
            if config.trouble == "give up" && cx.cancelled() {
                return Err(StageError::Stopped);
            }
            let inputs = self.columns(batch)?;
            let lead = self.lead(batch)?;
            for row in &lead {
                self.trouble(usize::try_from(*row).unwrap_or(usize::MAX))?;
            }
            if config.kind == MixerKind::Sink && !config.parallel {
                self.note(batch, &inputs, cx);
            }
            if let Some(every) = config.drop_every {
                let keep: Vec<bool> = lead.iter().map(|value| value.rem_euclid(every) != 0).collect();
                let dropped = keep.iter().filter(|keep| !**keep).count();
                cx.count("dropped", dropped as u64);
                batch.retain_files(&keep)?;
            }
            if let Some(chunks) = config.chunks {
                let files: Vec<u32> =
                    (0..batch.files()).flat_map(|file| vec![file as u32; (file * 7 + 3) % (chunks + 1)]).collect();
                batch.add_chunks(files)?;
            }
            let inputs = self.columns(batch)?;
            for name in &config.writes {
                let rows = if name.starts_with("chunk.") { batch.chunks() } else { batch.files() };
                let cells = self.fill(name, rows, &inputs);
                batch.write_dynamic(name, cells)?;
            }
            Ok(())
        };
        match config.parallel {
            true => Box::new(Admitting { stage: self, worker, has_admitted: false }),
            false => Box::new(worker),
        }
    }

    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Mixer::TYPE, 1).with("label", &self.config.label)
    }

    fn close(&self, out: &mut Emitter<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        if self.config.trouble == "close" {
            return Err(StageError::new("cannot close"));
        }
        for number in 0..self.config.late {
            let mut draft = out.batch(1);
            for name in self.config.writes.iter().filter(|name| name.starts_with("file.")) {
                draft.write_dynamic(name, vec![Some(Value::Integer(-(number as i64) - 1))])?;
            }
            out.emit(draft)?;
        }
        self.log.closed.lock().expect("no panic while locked").push(cx.stage().to_owned());
        Ok(())
    }
}

/// A stage type that rejects unknown keys, for tests of error messages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Embed {
    #[serde(default)]
    pub(crate) model: String,
    #[serde(default)]
    pub(crate) batch: u32,
    #[serde(default)]
    pub(crate) cache: Cache,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Cache {
    #[serde(default)]
    pub(crate) entries: u32,
}

impl StageConfig for Embed {
    const TYPE: &'static str = "embed";
    fn access(&self) -> Access {
        Access::transform().reads(["chunk.text"]).writes_dynamic("chunk.embedding", DynamicType::Integer)
    }
    fn build(self, _: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Err(StageError::new("not made for running"))
    }
}

/// The only stage type that writes `chunk.text`.
#[derive(Deserialize)]
pub(crate) struct Chunk {
    #[serde(default)]
    pub(crate) lines: u32,
}

impl StageConfig for Chunk {
    const TYPE: &'static str = "chunk";
    fn access(&self) -> Access {
        Access::transform().writes_dynamic("chunk.text", DynamicType::String).restructures()
    }
    fn build(self, _: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Err(StageError::new("not made for running"))
    }
}

/// A type with a required key.
#[derive(Deserialize)]
pub(crate) struct Process {
    pub(crate) command: Vec<String>,
    #[serde(default)]
    pub(crate) timeout: u32,
}

impl StageConfig for Process {
    const TYPE: &'static str = "process";
    fn access(&self) -> Access {
        Access::transform()
    }
    fn build(self, _: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Err(StageError::new(format!("{:?} does not run", self.command)))
    }
}

pub(crate) fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.register::<Mixer>();
    registry.register::<Embed>();
    registry.register::<Chunk>();
    registry.register::<Process>();
    registry
}

/// A pipeline that other pipelines of the tests extend.
pub(crate) const BASE: PipelineSource<'static> = PipelineSource {
    name: "base",
    text: r#"[run]
memory = "64MiB"
jobs = 2

[stage.walk]
use = "mixer"
kind = "source"
writes = ["file.id"]
files = 10

[stage.chunk]
lines = 40

[stage.embed]
model = "static"

[stage.keep]
use = "mixer"
kind = "sink"
reads = ["file.id"]
optional = ["chunk.embedding"]
"#,
};

pub(crate) fn plan(text: &str) -> Result<Plan, Diagnostics> {
    load(&[PipelineSource { name: ".aurora/pipeline.toml", text }], &registry(), &[BASE])
}

/// A pipeline of mixers, and the log of its sinks.
pub(crate) fn pipeline(text: &str) -> (Pipeline, Arc<Log>) {
    let plan = plan(text).unwrap_or_else(|found| panic!("{found}\n{text}"));
    assert!(plan.stages().iter().any(|stage| stage.kind() == StageKind::Source));
    let log = Arc::new(Log::default());
    let mut services = Services::new();
    services.insert(Arc::clone(&log));
    let pipeline = plan.build(&BuildContext { root: Path::new("."), services: &services }).expect("builds");
    (pipeline, log)
}
