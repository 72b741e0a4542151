//! Custom stages in Rust, compiled into the program.

use aurora_pipeline::{
    Access, BatchView, ColumnSpec, ColumnUses, DynamicType, Fingerprint, Registry, StageContext, StageError, Stateless,
    Transform, Value, ValueRef,
};
use serde::Deserialize;

use crate::{digest, fresh_digest, repository, run, text, values};

pub(crate) fn register(registry: &mut Registry) {
    registry.register::<Stateless<Area>>();
    registry.register::<Stateless<Length>>();
}

/// A stage that writes the first directory of every file's path, after a prefix.
#[derive(Deserialize)]
struct Area {
    prefix: String,
}

impl Transform for Area {
    const TYPE: &'static str = "area";
    fn access(&self) -> Access {
        Access::transform()
            .reads([ColumnSpec::named("file.path")])
            .writes([ColumnSpec::dynamic("file.area", DynamicType::String)])
    }
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Self::TYPE, 1).with("prefix", &self.prefix)
    }
    fn process(&self, batch: &mut BatchView<'_>, _: &StageContext<'_>) -> Result<(), StageError> {
        let area = |path: Option<ValueRef<'_>>| match path {
            Some(ValueRef::String(path)) => {
                let (first, _) = path.split_once('/')?;
                Some(Value::String(format!("{}{first}", self.prefix)))
            }
            _ => None,
        };
        let areas = batch.values("file.path")?.iter().map(area).collect();
        Ok(batch.write_dynamic("file.area", areas)?)
    }
}

/// A stage that writes the number of bytes of every chunk's text, as a boost.
#[derive(Deserialize)]
struct Length {}

impl Transform for Length {
    const TYPE: &'static str = "length";
    fn access(&self) -> Access {
        let uses = ColumnUses { boost: Some(0.5), ..ColumnUses::FILTER };
        Access::transform().reads([ColumnSpec::named("chunk.text")]).writes([ColumnSpec::dynamic(
            "length",
            DynamicType::Integer,
        )
        .used(uses)])
    }
    fn fingerprint(&self) -> Fingerprint {
        Fingerprint::new(Self::TYPE, 1)
    }
    fn process(&self, batch: &mut BatchView<'_>, _: &StageContext<'_>) -> Result<(), StageError> {
        let length = |text: Option<ValueRef<'_>>| match text {
            Some(ValueRef::String(text)) => Some(Value::Integer(text.len() as i64)),
            _ => None,
        };
        let lengths = batch.values("chunk.text")?.iter().map(length).collect();
        Ok(batch.write_dynamic("length", lengths)?)
    }
}

#[test]
fn columns_of_files_and_chunks_are_stored_with_every_chunk() {
    let fixture = repository();
    fixture.write(".aurora/pipeline.toml", "extends = \"default\"\n[stage.area]\nprefix = \"\"\n[stage.length]\n");
    run(&fixture);
    let areas = values(&fixture, "area");
    assert_eq!(
        (areas.len(), &areas[0], &areas[11]),
        (12, &("pay_0".to_owned(), text("src")), &("web_5".to_owned(), text("web")))
    );
    assert!(values(&fixture, "length").iter().all(|(_, value)| value.is_some()));
    let columns = crate::snapshot(fixture.root()).manifest().columns.clone();
    let names: Vec<(&str, &str)> = columns.iter().map(|column| (column.name.as_str(), column.stage.as_str())).collect();
    assert_eq!(names, [("area", "area"), ("length", "length")]);
    assert_eq!(columns[1].boost, Some(0.5));
}

#[test]
fn a_changed_removed_or_added_stage_gives_the_index_of_a_fresh_run() {
    let fixture = repository();
    let pipelines = [
        "extends = \"default\"\n[stage.area]\nprefix = \"\"\n",
        "extends = \"default\"\n[stage.area]\nprefix = \"x-\"\n[stage.length]\n",
        "extends = \"default\"\n[stage.length]\n",
        "extends = \"default\"\n",
    ];
    for pipeline in pipelines {
        fixture.write(".aurora/pipeline.toml", pipeline);
        let summary = run(&fixture);
        assert_eq!(summary.files.refreshed + summary.files.indexed, 12, "{pipeline}");
        assert_eq!(summary.lines, if pipeline == pipelines[0] { 18 } else { 0 }, "nothing is parsed again: {pipeline}");
        let updated = digest(&fixture);
        assert_eq!(updated, fresh_digest(&fixture), "{pipeline}");
        assert!(run(&fixture).nothing_changed);
    }
}

#[test]
fn columns_with_ambiguous_names_are_refused() {
    let fixture = repository();
    fixture.write(
        ".aurora/pipeline.toml",
        "extends = \"default\"\n[stage.area]\nprefix = \"\"\n[stage.second]\nuse = \"process\"\ncommand = [\"true\"]\nwrites = { area = \"string\", domain = \"string\" }\n",
    );
    let error = aurora_stages::index::plan(&crate::options(fixture.root()))
        .map(drop)
        .expect_err("the pipeline has two columns `area`");
    insta::assert_snapshot!(crate::error_message(&error).replace(&fixture.root().display().to_string(), "ROOT"), @r"
    error[A0113]: stage `second` writes column `chunk.area`, and `area` writes one that searches know by the same name
     --> ROOT/.aurora/pipeline.toml:4:1
    4 | [stage.second]
      = help: give the column another name

    error[A0113]: stage `second` writes column `domain`, which is built-in metadata of documents
     --> ROOT/.aurora/pipeline.toml:4:1
    4 | [stage.second]
      = help: give the column another name
    ");
}
