//! Tests of the stage output that a probe observes, and of plans without sinks.

mod made;

use std::sync::{Arc, Mutex};

use aurora_pipeline::{BuildContext, Plan, Probe, RunOptions, Services, StageEvent, StageOutput, Value};

/// A probe that records a description of each output and event.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

impl Notes {
    fn sorted(&self) -> Vec<String> {
        let mut notes = self.0.lock().expect("no panic while locked").clone();
        notes.sort();
        notes
    }
}

impl Probe for Notes {
    fn on_output(&self, stage: &str, output: &StageOutput<'_>) {
        let values = output.written().map(|name| {
            let values = output.values(name).expect("it was written");
            let number = |value: Option<aurora_pipeline::ValueRef<'_>>| match value.map(|value| value.into_owned()) {
                Some(Value::Integer(number)) => number.to_string(),
                other => format!("{other:?}"),
            };
            let shown: Vec<String> = values.iter().map(number).collect();
            // Only the source writes predictable values. For other stages, the number of values is recorded.
            if stage == "s" { format!("{name}={}", shown.join(",")) } else { format!("{name}×{}", shown.len()) }
        });
        let values = values.collect::<Vec<_>>().join(" ");
        let note = format!("{stage}: {} files, {} chunks, {values}", output.files(), output.chunks());
        self.0.lock().expect("no panic while locked").push(note);
    }

    fn on_event(&self, stage: &str, event: StageEvent<'_>) {
        let StageEvent::Counted { name, n } = event else { return };
        self.0.lock().expect("no panic while locked").push(format!("{stage}: {name} {n}"));
    }
}

fn run(plan: Plan) -> Vec<String> {
    let notes = Arc::new(Notes::default());
    let services = Services::new();
    let pipeline = plan.build(&BuildContext { root: ".".as_ref(), services: &services }).expect("builds");
    let probe: Arc<dyn Probe> = Arc::<Notes>::clone(&notes);
    pipeline.run(RunOptions { jobs: Some(2), probe: Some(probe), ..RunOptions::default() }).expect("runs");
    notes.sorted()
}

const PLAN: &str = "
[stage.s]
use = 'mixer'
kind = 'source'
files = 4
writes = ['file.id']
[stage.drop]
use = 'mixer'
reads = ['file.id']
drop_every = 3
[stage.chunk]
use = 'mixer'
reads = ['file.id']
writes = ['chunk.text']
chunks = 3
after = ['drop']
[stage.left]
use = 'mixer'
reads = ['chunk.text']
writes = ['chunk.left']
[stage.right]
use = 'mixer'
reads = ['chunk.text']
writes = ['file.right']
[stage.keep]
use = 'mixer'
kind = 'sink'
reads = ['chunk.left', 'file.right']
writes = ['file.kept']
[stage.told]
use = 'mixer'
reads = ['file.kept']
writes = ['file.told']
[stage.last]
use = 'mixer'
kind = 'sink'
reads = ['file.told']
";

fn plan() -> Plan {
    made::plan(PLAN).unwrap_or_else(|found| panic!("{found}"))
}

fn names(plan: &Plan) -> Vec<(usize, &str)> {
    plan.stages().iter().map(|stage| (stage.step(), stage.name())).collect()
}

#[test]
fn a_probe_sees_every_stage_with_its_rows_and_columns() {
    let seen = run(plan());
    insta::assert_snapshot!(seen.join("\n"), @r"
    chunk: 2 files, 5 chunks, chunk.text×5
    drop: 2 files, 0 chunks, 
    drop: dropped 2
    keep: 2 files, 5 chunks, file.kept×2
    last: 2 files, 5 chunks, 
    left: 2 files, 5 chunks, chunk.left×5
    right: 2 files, 5 chunks, file.right×2
    s: 4 files, 0 chunks, file.id=0,1,2,3
    told: 2 files, 5 chunks, file.told×2
    ");
}

#[test]
fn a_plan_without_sinks_keeps_its_order() {
    let whole = plan().without_sinks(&[]);
    assert_eq!(names(&whole), [(1, "s"), (2, "drop"), (3, "chunk"), (4, "left"), (4, "right")]);
    let seen = run(whole);
    assert!(seen.iter().any(|note| note.starts_with("left: ")) && !seen.iter().any(|note| note.starts_with("keep")));
    let part = plan().without_sinks(&["right".to_owned()]);
    assert_eq!(names(&part), [(1, "s"), (2, "drop"), (3, "chunk"), (4, "right")]);
    assert_eq!(names(&plan().without_sinks(&["drop".to_owned()])), [(1, "s"), (2, "drop")]);
    assert_eq!(names(&plan().without_sinks(&["told".to_owned()])), [(1, "s")], "`told` depends on a sink");
}
