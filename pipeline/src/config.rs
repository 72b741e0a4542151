//! A pipeline file, parsed but not resolved: its TOML with the location of every key.

use std::thread::available_parallelism;

use serde::Serialize;
use toml::de::DeTable;

use crate::ceilings::{MAX_BATCH_FILES, MAX_FILE_BYTES, MAX_QUEUE_BATCHES, MAX_STAGES, MAX_WORKERS};
use crate::config_entry::{ConfigEntry, bytes, count, entries, shifted, string, table};
use crate::problems::suggest;
use crate::reference::{Described, Key, TableReference};
use crate::source_map::{SourceMap, Span};
use aurora_diagnostics::{Diagnostic, Diagnostics, code};

/// Keys at the top level of a file.
const ROOT_KEYS: [&str; 3] = ["extends", "run", "stage"];

/// One file of a pipeline.
#[derive(Default)]
pub(crate) struct Layer<'a> {
    pub(crate) extends: Option<(String, Span)>,
    pub(crate) run: Vec<ConfigEntry<'a>>,
    /// The stages in the order of the file.
    pub(crate) stages: Vec<StageTable<'a>>,
    /// Whether stages may be missing, because a stage or one of the keys `stage` and `extends` is malformed.
    pub(crate) lacks_stages: bool,
}

/// A table `[stage.<name>]` of one file.
pub(crate) struct StageTable<'a> {
    pub(crate) name: String,
    pub(crate) header: Span,
    pub(crate) entries: Vec<ConfigEntry<'a>>,
}

impl<'a> Layer<'a> {
    /// Parses a file and reports unknown keys.
    pub(crate) fn parse(sources: &mut SourceMap, name: &str, text: &'a str, found: &mut Diagnostics) -> Self {
        let (base, root) = parse_toml(sources, name, text, found);
        let mut layer = Self::default();
        if found.iter().any(|item| item.code == code::SYNTAX) {
            // A partial parse would give misleading errors.
            return layer;
        }
        for entry in entries(root, base) {
            match entry.key.as_str() {
                "extends" => match string(sources, &entry, found) {
                    Some(name) => layer.extends = Some((name, entry.value.span())),
                    None => layer.lacks_stages = true,
                },
                "run" => layer.run = table(sources, entry, found).unwrap_or_default(),
                "stage" => {
                    let stages = table(sources, entry, found);
                    layer.lacks_stages |= stages.is_none();
                    let stages = stages.unwrap_or_default();
                    let count = stages.len();
                    if stages.len() > MAX_STAGES {
                        let location = sources.locate(&stages[MAX_STAGES].key_span);
                        let message = format!("more than {MAX_STAGES} stages");
                        found.push(Diagnostic::error(code::SYNTAX, location, message));
                    }
                    layer.stages =
                        stages.into_iter().take(MAX_STAGES).filter_map(|entry| stage(sources, entry, found)).collect();
                    layer.lacks_stages |= layer.stages.len() < count;
                }
                other => {
                    let location = sources.locate(&entry.key_span);
                    let message = format!("unknown key `{other}`");
                    let help = suggest(other, ROOT_KEYS, "a pipeline has");
                    layer.lacks_stages |= !matches!(aurora_suggest::nearest(other, ROOT_KEYS), None | Some("run"));
                    found.push(Diagnostic::error(code::UNKNOWN_KEY, location, message).with_help(help));
                }
            }
        }
        layer
    }
}

impl<'a> StageTable<'a> {
    /// Parses the text of a single stage's table.
    pub(crate) fn parse(name: &str, sources: &mut SourceMap, text: &'a str, found: &mut Diagnostics) -> Self {
        let (base, table) = parse_toml(sources, name, text, found);
        Self { name: name.to_owned(), header: base..base, entries: entries(table, base) }
    }
}

/// Parses as much of a file as is valid TOML. Also returns the offset of the file in the source map.
fn parse_toml<'a>(sources: &mut SourceMap, name: &str, text: &'a str, found: &mut Diagnostics) -> (usize, DeTable<'a>) {
    if text.len() > MAX_FILE_BYTES {
        let message = format!("the file has {} bytes, more than {MAX_FILE_BYTES}", text.len());
        let base = sources.add(name, "");
        found.push(Diagnostic::error(code::SYNTAX, sources.locate(&(base..base)), message));
        return (base, DeTable::default());
    }
    let base = sources.add(name, text);
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let location = error.span().and_then(|span| sources.locate(&shifted(&span, base)));
        found.push(Diagnostic::error(code::SYNTAX, location, error.message()));
    }
    (base, root.into_inner())
}

fn stage<'a>(sources: &SourceMap, entry: ConfigEntry<'a>, found: &mut Diagnostics) -> Option<StageTable<'a>> {
    // If the table has a header, its span covers only the header.
    let whole = entry.value.span();
    let header = if whole.start < entry.key_span.start { whole } else { entry.key_span.clone() };
    let name = entry.key.clone();
    let entries = table(sources, entry, found)?;
    Some(StageTable { name, header, entries })
}

/// The resolved table `[run]`: the limits of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunConfig {
    /// Memory of a run in bytes. [`Pipeline::run`](crate::Pipeline::run) uses it as the maximum size of all batches in
    /// flight together, unless [`RunOptions::memory`](crate::RunOptions::memory) sets another maximum. The key `memory`
    /// accepts a unit, as in `"1GiB"`, or a plain number of bytes.
    pub memory: u64,
    /// Number of threads of a run, and the default number of workers of a transform; `None` means one per CPU core.
    pub jobs: Option<usize>,
    /// Number of files that a source should put in a batch.
    pub batch_files: usize,
    /// Capacity of the queue before each stage, in batches.
    pub queue_batches: usize,
}

impl Default for RunConfig {
    fn default() -> Self {
        Self { memory: 1 << 30, jobs: None, batch_files: 64, queue_batches: 4 }
    }
}

impl Described for RunConfig {
    const SUMMARY: &'static str = "Bounds of a run as a whole.";
    const KEYS: &'static [Key] = &[
        Key::count_up_to("batch_files", MAX_BATCH_FILES, "files", "Files that a source should put in a batch."),
        Key::count_up_to(
            "jobs",
            MAX_WORKERS,
            "threads",
            "Threads of a run, and workers of every transform that does not set its own.",
        )
        .computed("one per core"),
        Key::size(
            "memory",
            "Memory of a run: a quarter for batches in flight, half for postings before they are written, the rest for \
             what every run needs.",
        ),
        Key::count_up_to("queue_batches", MAX_QUEUE_BATCHES, "batches", "Batches that may wait before a stage."),
    ];
}

impl RunConfig {
    /// The reference entry of `[run]`.
    pub fn reference() -> TableReference {
        TableReference::new::<Self>("run")
    }

    pub(crate) fn parse(sources: &SourceMap, entries: &[&ConfigEntry<'_>], found: &mut Diagnostics) -> Self {
        let mut run = Self::default();
        for entry in entries {
            match entry.key.as_str() {
                "memory" => run.memory = bytes(sources, entry, found).unwrap_or(run.memory),
                "jobs" => run.jobs = count(sources, entry, 1..=MAX_WORKERS, found),
                "batch_files" => {
                    run.batch_files = count(sources, entry, 1..=MAX_BATCH_FILES, found).unwrap_or(run.batch_files);
                }
                "queue_batches" => {
                    run.queue_batches =
                        count(sources, entry, 1..=MAX_QUEUE_BATCHES, found).unwrap_or(run.queue_batches);
                }
                other => {
                    let location = sources.locate(&entry.key_span);
                    let message = format!("unknown key `{other}` in [run]");
                    let help = suggest(other, Self::KEYS.iter().map(|key| key.name), "[run] has");
                    found.push(Diagnostic::error(code::UNKNOWN_KEY, location, message).with_help(help));
                }
            }
        }
        run
    }

    /// The number of threads of a run, after applying the default and the maximum.
    pub fn threads(&self) -> usize {
        self.jobs.unwrap_or_else(|| available_parallelism().map_or(1, usize::from)).min(MAX_WORKERS)
    }
}
