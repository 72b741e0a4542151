//! Dry runs of pipelines with custom stages.

use std::sync::Arc;

use aurora_pipeline::{
    Access, BatchView, BuildContext, ColumnSpec, DynamicType, Fingerprint, Registry, Stage, StageConfig, StageContext,
    StageError, Stateless, Transform, Worker,
};
use aurora_stages::index::{DryRun, IndexOptions, StageTrace, dry_run};
use serde::Deserialize;

use crate::examples::with_example;
use crate::fixture::Fixture;
use crate::{options, repository, run, snapshot};

/// A stage that fails.
#[derive(Deserialize)]
struct Failing {}

impl Transform for Failing {
    const TYPE: &'static str = "failing";
    fn access(&self) -> Access {
        Access::transform()
            .reads([ColumnSpec::named("chunk.text")])
            .writes([ColumnSpec::dynamic("failed", DynamicType::Bool)])
    }
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Self::TYPE, 1)
    }
    fn process(&self, _: &mut BatchView<'_>, _: &StageContext<'_>) -> Result<(), StageError> {
        Err(StageError::new("the ledger is closed"))
    }
}

/// A sink that must not run.
#[derive(Deserialize)]
struct Publish {}

impl StageConfig for Publish {
    const TYPE: &'static str = "publish";
    fn access(&self) -> Access {
        Access::sink().reads([ColumnSpec::named("chunk.text")])
    }
    fn build(self, _: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(self))
    }
}

impl Stage for Publish {
    fn open(&self) -> Box<dyn Worker + '_> {
        panic!("a dry run publishes nothing")
    }
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Self::TYPE, 1)
    }
}

fn dry(fixture: &Fixture, path: &str) -> DryRun {
    let mut registry: Registry = aurora::registry();
    registry.register::<Stateless<Failing>>();
    registry.register::<Publish>();
    let options = IndexOptions { registry: Arc::new(registry), ..options(fixture.root()) };
    dry_run(&options, path, &[]).unwrap_or_else(|error| panic!("{}", crate::error_message(&error)))
}

fn trace<'r>(run: &'r DryRun, stage: &str) -> &'r StageTrace {
    run.stages.iter().find(|trace| trace.stage == stage).expect("the pipeline has the stage")
}

#[test]
fn a_dry_run_shows_what_an_index_run_stores() {
    let fixture = with_example("owner");
    let pipeline = std::fs::read_to_string(fixture.path(".aurora/pipeline.toml")).expect("the file can be read");
    fixture.write(".aurora/pipeline.toml", pipeline.replace("filter = true", "embed = true"));
    fixture.write("CODEOWNERS", "/src/pay/ @org/payments @ada\n*.js @front\n");
    let before: Vec<DryRun> = ["src/pay/f1.py", "web/f2.js"].map(|path| dry(&fixture, path)).into();
    run(&fixture);
    let snapshot = snapshot(fixture.root());
    for shown in before.into_iter().chain([dry(&fixture, "web/f3.js")]) {
        let file = snapshot.file(&shown.path).expect("the index can be read").expect("the file is indexed");
        let (owner, embed) = (trace(&shown, "owner"), trace(&shown, "embed"));
        assert_eq!((owner.chunks.len(), embed.chunks.len()), (file.chunks.len(), file.chunks.len()));
        for (row, id) in file.chunks.iter().enumerate() {
            let stored = snapshot.whole_chunk(*id).expect("the index can be read").expect("the record exists");
            assert_eq!(owner.chunks[row].key, stored.key);
            let value = stored.metadata.iter().find(|(name, _)| name == "owner").map(|(_, value)| value);
            let shown =
                owner.columns[0].values.get(row).or(owner.columns[0].values.first()).expect("the column has a value");
            assert_eq!(shown.value, serde_json::to_value(value).expect("the value can be serialised"));
            let vector = snapshot.vector(*id).expect("the index can be read").expect("the record exists");
            let shown: Vec<f32> =
                serde_json::from_value(embed.columns[0].values[row].value.clone()).expect("the values are numbers");
            // Stored vectors have one byte per component.
            let cosine: f32 = shown.iter().zip(vector).map(|(a, b)| a * b).sum();
            assert!(cosine > 0.99, "{cosine}");
        }
    }
}

#[test]
fn a_failing_stage_ends_the_run_and_earlier_stages_are_shown() {
    let fixture = repository();
    fixture.write(".aurora/pipeline.toml", "extends = \"default\"\n[stage.failing]\n[stage.publish]\n");
    let run = dry(&fixture, "src/pay/f1.py");
    assert_eq!(
        run.error.as_ref().map(ToString::to_string).as_deref(),
        Some("stage `failing` failed: the ledger is closed")
    );
    assert_eq!(trace(&run, "chunk").chunks.len(), 1);
    assert!(!trace(&run, "failing").has_file);
    assert!(run.stages.iter().all(|trace| trace.stage != "publish"), "a dry run has no sinks");
    assert!(!fixture.path(".aurora/index").exists());
}
