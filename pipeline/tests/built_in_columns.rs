//! Tests of columns that stages use by name: fields of built-in columns, and built-in columns that custom stages may
//! write.

use std::sync::{Arc, Mutex};

use aurora_pipeline::{
    Access, BatchView, BuildContext, BuiltInColumn, Cell, Column, ColumnSpec, DynamicType, Emitter, Fingerprint,
    PipelineSource, Registry, RunOptions, Services, Stage, StageConfig, StageContext, StageError, Value, ValueRef,
    Worker, load, producer,
};
use serde::Deserialize;

#[derive(Clone, Debug, Default)]
struct Person {
    name: String,
    age: i64,
}

impl Cell for Person {}

const PERSON: Column<Person> = Column::new("file.person");

fn set_age(person: &mut Person, value: Value) -> Result<(), String> {
    match value {
        Value::Integer(age @ 0..) => person.age = age,
        other => return Err(format!("no age: {other:?}")),
    }
    Ok(())
}

fn registry() -> Registry {
    let mut registry = Registry::new();
    registry.register::<People>();
    registry.register::<Birthday>();
    registry.register_column(BuiltInColumn::field(PERSON, "file.name", DynamicType::String, "Name.", |person| {
        Some(ValueRef::from(person.name.as_str()))
    }));
    registry.register_column(
        BuiltInColumn::field(PERSON, "file.age", DynamicType::Integer, "Age.", |person| {
            Some(ValueRef::Integer(person.age))
        })
        .updatable(PERSON, "anyone", set_age),
    );
    registry
}

#[derive(Deserialize)]
struct People {}

impl StageConfig for People {
    const TYPE: &'static str = "people";
    fn access(&self) -> Access {
        Access::source().writes([PERSON])
    }
    fn build(self, _: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        Ok(Box::new(self))
    }
}

impl Stage for People {
    fn open(&self) -> Box<dyn Worker + '_> {
        producer(|out: &mut Emitter<'_>, _: &StageContext<'_>| {
            let mut draft = out.batch(2);
            let person = |name: &str, age| Person { name: name.to_owned(), age };
            draft.write(PERSON, vec![person("Ada", 36), person("Alan", 41)])?;
            out.emit(draft)
        })
    }
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Self::TYPE, 1)
    }
}

type Seen = Mutex<Vec<(String, i64)>>;

/// A stage that writes ages by column name, and then records the values of all persons.
#[derive(Deserialize)]
struct Birthday {
    write: String,
    kind: DynamicType,
    read: String,
    ages: Vec<i64>,
}

impl StageConfig for Birthday {
    const TYPE: &'static str = "birthday";
    fn access(&self) -> Access {
        Access::transform().reads([ColumnSpec::named(&self.read)]).writes([ColumnSpec::dynamic(&self.write, self.kind)])
    }
    fn build(self, cx: &BuildContext<'_>) -> Result<Box<dyn Stage>, StageError> {
        let seen = cx.services.get::<Seen>().ok_or_else(|| StageError::new("no list"))?;
        Ok(Box::new(BirthdayStage { config: self, seen }))
    }
}

struct BirthdayStage {
    config: Birthday,
    seen: Arc<Seen>,
}

impl Stage for BirthdayStage {
    fn open(&self) -> Box<dyn Worker + '_> {
        Box::new(|batch: &mut BatchView<'_>, cx: &StageContext<'_>| {
            let ages = self.config.ages.iter().map(|age| (*age != 0).then_some(Value::Integer(*age))).collect();
            for (row, reason) in batch.write_values(&self.config.write, ages)? {
                cx.failed(&row.to_string(), &reason);
            }
            let names = batch.read_dynamic(&self.config.read)?;
            let people = batch.read(PERSON)?;
            for (person, name) in people.iter().zip(names) {
                assert_eq!(name, Some(Value::String(person.name.clone())));
                self.seen.lock().expect("one thread").push((person.name.clone(), person.age));
            }
            cx.log("done");
            Ok(())
        })
    }
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Birthday::TYPE, 1)
    }
}

fn plan(stage: &str) -> Result<aurora_pipeline::Plan, aurora_pipeline::Diagnostics> {
    let text = format!("[stage.people]\n[stage.birthday]\n{stage}");
    load(&[PipelineSource { name: "pipeline.toml", text: &text }], &registry(), &[])
}

#[test]
fn a_field_is_read_and_a_column_is_updated_by_name() {
    let seen = Arc::new(Seen::default());
    let mut services = Services::new();
    services.insert(Arc::clone(&seen));
    let plan = plan("write = 'file.age'\nkind = 'integer'\nread = 'file.name'\nages = [37, 0]").expect("valid");
    let pipeline = plan.build(&BuildContext { root: std::path::Path::new("."), services: &services }).expect("builds");
    let report = pipeline.run(RunOptions::default()).expect("no stage fails");
    assert!(report.failures.is_empty());
    assert_eq!(*seen.lock().expect("one thread"), [("Ada".to_owned(), 37), ("Alan".to_owned(), 41)]);
}

#[test]
fn a_rejected_value_is_reported_as_a_failure() {
    let mut services = Services::new();
    services.insert(Arc::new(Seen::default()));
    let plan = plan("write = 'file.age'\nkind = 'integer'\nread = 'file.name'\nages = [-1, 42]").expect("valid");
    let pipeline = plan.build(&BuildContext { root: std::path::Path::new("."), services: &services }).expect("builds");
    let report = pipeline.run(RunOptions::default()).expect("no stage fails");
    let failures = &report.failures["birthday"];
    assert_eq!(failures.get("no age: Integer(-1)").map(|entry| entry.count), Some(1));
}

#[test]
fn mistakes_with_built_in_columns_are_reported() {
    let faults = |write: &str, kind: &str, read: &str| {
        let text = format!("write = '{write}'\nkind = '{kind}'\nread = '{read}'\nages = []");
        plan(&text).err().map(|found| found.to_string()).unwrap_or_default()
    };
    insta::assert_snapshot!(faults("file.name", "string", "file.name"), @r"
    error[A0112]: stage `birthday` writes column `file.name`, which is a built-in one
     --> pipeline.toml:2:1
    2 | [stage.birthday]
      = help: give the column another name

    warning[A0201]: no stage reads column `file.name`, which `birthday` writes
     --> pipeline.toml:2:1
    2 | [stage.birthday]

    warning[A0202]: the pipeline has no sink: nothing is kept
    ");
    insta::assert_snapshot!(faults("file.age", "string", "file.name"), @r#"
    error[A0112]: stage `birthday` writes column `file.age` as `string`; it is `integer`
     --> pipeline.toml:2:1
    2 | [stage.birthday]
      = help: `"file.age" = "integer"`

    warning[A0202]: the pipeline has no sink: nothing is kept
    "#);
    insta::assert_snapshot!(faults("file.age", "integer", "file.nam"), @r"
    error[A0104]: stage `birthday` reads column `file.nam`, which no earlier stage writes
     --> pipeline.toml:2:1
    2 | [stage.birthday]
      = help: did you mean `file.name`?
    ");
}
