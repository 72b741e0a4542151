//! A stage in twenty lines of Rust: used in a TOML pipeline, run by the executor, and checked for undeclared access.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use aurora_pipeline::{
    Access, BatchView, BuildContext, Column, DynamicType, Emitter, Fingerprint, PipelineSource, Registry, RunError,
    RunOptions, Services, Stage, StageConfig, StageContext, StageError, Stateless, Transform, Value, Worker, load,
    producer,
};
use aurora_plugins::testkit::{StageTest, TestError};
use serde::Deserialize;

const PATH: Column<String> = Column::new("file.path");
const SIZE: Column<u64> = Column::new("file.size");
const OWNER: Column<String> = Column::new("file.owner");

// The stage. The owner of a file is the team of the longest matching directory.

#[derive(Deserialize)]
struct Owners {
    teams: BTreeMap<String, String>,
}

impl Transform for Owners {
    const TYPE: &'static str = "owners";
    fn access(&self) -> Access {
        Access::transform().reads([PATH]).writes([OWNER])
    }
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Self::TYPE, 1).with("teams", format!("{:?}", self.teams))
    }
    fn process(&self, batch: &mut BatchView<'_>, _: &StageContext<'_>) -> Result<(), StageError> {
        let team = |path: &String| self.teams.iter().rfind(|(dir, _)| path.starts_with(*dir));
        let owner = |path: &String| team(path).map_or("nobody", |(_, team)| team).to_owned();
        let owners = batch.read(PATH)?.iter().map(owner).collect();
        Ok(batch.write(OWNER, owners)?)
    }
}

// The pipeline of the stage. It has a source that emits numbered paths, and a sink that collects its input.

type Seen = Mutex<Vec<(String, String)>>;

#[derive(Deserialize)]
struct Paths {
    count: usize,
}

impl StageConfig for Paths {
    const TYPE: &'static str = "paths";
    fn access(&self) -> Access {
        Access::source().writes([PATH.spec(), SIZE.spec()])
    }
    fn build(self, _: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(self))
    }
}

impl Stage for Paths {
    fn open(&self) -> Box<dyn Worker + '_> {
        producer(|out: &mut Emitter<'_>, cx: &StageContext<'_>| {
            let paths: Vec<String> =
                (0..self.count).map(|n| format!("{}/{n}.rs", ["pay", "web", "x"][n % 3])).collect();
            for part in paths.chunks(cx.batch_files()) {
                let mut draft = out.batch(part.len());
                draft.write(SIZE, part.iter().map(|path| path.len() as u64).collect())?;
                draft.write(PATH, part.to_vec())?;
                out.emit(draft)?;
            }
            Ok(())
        })
    }
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Self::TYPE, 1)
    }
}

#[derive(Deserialize)]
struct Collect {}

impl StageConfig for Collect {
    const TYPE: &'static str = "collect";
    fn access(&self) -> Access {
        Access::sink().reads([PATH, OWNER])
    }
    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        let seen = cx.services.get::<Seen>().ok_or_else(|| StageError::new("nowhere to collect"))?;
        Ok(Box::new(Collector { seen }))
    }
}

struct Collector {
    seen: Arc<Seen>,
}

impl Stage for Collector {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(|batch: &mut BatchView<'_>, _: &StageContext<'_>| {
            let rows = batch.read(PATH)?.iter().cloned().zip(batch.read(OWNER)?.iter().cloned());
            self.seen.lock().expect("no panic").extend(rows);
            Ok(())
        })
    }
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new("collect", 1)
    }
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.register::<Paths>();
    registry.register::<Stateless<Owners>>();
    registry.register::<Collect>();
    registry
}

fn run(jobs: usize, batch_files: usize) -> Vec<(String, String)> {
    let text = format!(
        r#"
        [run]
        batch_files = {batch_files}
        [stage.collect]
        [stage.teams]
        use = "owners"
        teams = {{ pay = "payments", "web" = "front" }}
        [stage.paths]
        count = 500
        "#
    );
    let source = PipelineSource { name: "pipeline.toml", text: &text };
    let plan = load(&[source], &registry(), &[]).unwrap_or_else(|found| panic!("{found}"));
    let seen = Arc::new(Seen::default());
    let mut services = Services::new();
    services.insert(Arc::clone(&seen));
    let pipeline = plan.build(&BuildContext { root: Path::new("."), services: &services }).expect("builds");
    let report = pipeline.run(RunOptions { jobs: Some(jobs), ..RunOptions::default() }).expect("runs");
    assert_eq!(report.files, 500);
    let seen = seen.lock().expect("no panic");
    seen.clone()
}

#[test]
fn the_sink_gets_the_same_rows_in_the_same_order_with_one_worker_and_with_eight() {
    let serial = run(1, 7);
    assert_eq!(serial.len(), 500);
    assert_eq!(serial[3], ("pay/3.rs".to_owned(), "payments".to_owned()));
    assert_eq!(serial[499], ("web/499.rs".to_owned(), "front".to_owned()));
    assert_eq!(serial[2].1, "nobody");
    assert_eq!(run(8, 7), serial);
    assert_eq!(run(8, 1), serial);
}

#[test]
fn the_testkit_returns_the_output_of_the_stage() {
    let outcome = StageTest::new::<Stateless<Owners>>("teams = { pay = 'payments' }")
        .expect("configured")
        .column(PATH, vec!["pay/a.rs".to_owned(), "b.rs".to_owned()])
        .run()
        .expect("runs");
    assert_eq!(outcome.read(OWNER), ["payments", "nobody"]);
}

/// A stage that declares only the path but also reads the size.
#[derive(Deserialize)]
struct Nosy {
    #[serde(default)]
    swallow: bool,
}

impl StageConfig for Nosy {
    const TYPE: &'static str = "nosy";
    fn access(&self) -> Access {
        Access::transform().reads([PATH])
    }
    fn build(self, _: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(self))
    }
}

impl Stage for Nosy {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(|batch: &mut BatchView<'_>, _: &StageContext<'_>| match batch.read(SIZE) {
            Err(error) if !self.swallow => Err(error.into()),
            _ => Ok(()),
        })
    }
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Self::TYPE, 1)
    }
}

#[test]
fn an_undeclared_read_is_refused_even_if_the_stage_ignores_the_error() {
    for config in ["swallow = false", "swallow = true"] {
        let test = StageTest::new::<Nosy>(config).expect("configured");
        let test = test.column(PATH, vec!["a".to_owned()]).column(SIZE, vec![1]);
        let Err(TestError::Run(error @ RunError::Stage { .. })) = test.run() else { panic!("the run must fail") };
        assert_eq!(
            error.to_string(),
            "stage `stage-under-test` failed: stage `stage-under-test` reads column `file.size` \
             without declaring it; add it to the stage's access"
        );
    }
}

#[test]
fn the_testkit_reports_errors_in_the_configuration() {
    let Err(TestError::Config(found)) = StageTest::new::<Stateless<Owners>>("team = {}\n") else {
        panic!("`team` is not a key")
    };
    let codes: Vec<&str> = found.iter().map(|item| item.code).collect();
    assert_eq!(codes, ["A0102", "A0111"], "{found}");
}

#[test]
fn a_column_that_the_rows_lack_is_reported() {
    let Err(TestError::Config(found)) = StageTest::new::<Stateless<Owners>>("teams = {}").expect("configured").run()
    else {
        panic!("there is no path");
    };
    assert_eq!(
        found.to_string(),
        "error[A0104]: stage `stage-under-test` reads column `file.path`, which no earlier stage writes"
    );
}

/// A stage that copies the column `file.rank` to the column `number` of the chunks, and accesses both columns by name.
#[derive(Deserialize)]
struct Number {}

impl Transform for Number {
    const TYPE: &'static str = "number";
    fn access(&self) -> Access {
        Access::transform().reads(["file.rank"]).writes_dynamic("number", DynamicType::Integer)
    }
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Self::TYPE, 1)
    }
    fn process(&self, batch: &mut BatchView<'_>, cx: &StageContext<'_>) -> Result<(), StageError> {
        let ranks = batch.read_dynamic("file.rank")?;
        let numbers = batch.chunk_files().iter().map(|file| ranks[*file as usize].clone()).collect();
        cx.warn("a.rs", "numbered");
        Ok(batch.write_dynamic("number", numbers)?)
    }
}

#[test]
fn the_testkit_supports_chunks_and_custom_columns() {
    let ranks = vec![Some(Value::Integer(5)), None];
    let outcome = StageTest::new::<Stateless<Number>>("")
        .expect("configured")
        .chunks([0, 1, 0])
        .dynamic("file.rank", DynamicType::Integer, ranks)
        .run()
        .expect("runs");
    assert_eq!((outcome.files(), outcome.chunks()), (2, 3));
    assert_eq!(outcome.values("number"), [Some(Value::Integer(5)), None, Some(Value::Integer(5))]);
    assert_eq!(outcome.report().warnings.get("numbered").map(|reason| reason.count), Some(1));
}

#[test]
fn the_testkit_runs_sources_too() {
    let outcome = StageTest::new::<Paths>("count = 100").expect("configured").run().expect("runs");
    assert_eq!(outcome.batches().len(), 2);
    assert_eq!(outcome.read(PATH).len(), 100);
}
