//! Checks that the reference of the configuration and the JSON Schema are complete, and agree with the program.

mod markdown;
mod validate;

use std::collections::BTreeSet;
use std::path::Path;

use aurora_pipeline::{Key, PipelineSource, RunConfig, TableReference, ValueType, load, parse_bytes};
use aurora_query::Parameter;
use aurora_stages::limits::Limits;
use aurora_stages::pipelines::EMBEDDED;
use serde_json::Value;

/// Environment variable that makes the tests write the reference before they compare it.
const WRITE: &str = "AURORA_WRITE_REFERENCE";

#[test]
fn the_reference_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/configuration.md");
    let expected = markdown::reference();
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, &expected).expect("the file can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{} is out of date: run `{WRITE}=1 cargo test --test reference`", path.display());
}

#[test]
fn the_list_of_columns_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/columns.md");
    let expected = markdown::columns();
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, &expected).expect("the file can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{} is out of date: run `{WRITE}=1 cargo test --test reference`", path.display());
}

#[test]
fn the_schema_of_the_index_report_is_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference/index-report.schema.json");
    let schema = serde_json::to_string_pretty(&aurora_project::run_report::schema());
    let expected = schema.expect("the schema can be serialised") + "\n";
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, &expected).expect("the file can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(found == expected, "{} is out of date: run `{WRITE}=1 cargo test --test reference`", path.display());
}

#[test]
fn every_stage_key_is_described() {
    let registry = aurora::registry();
    let described: Vec<&str> = registry.reference().map(|table| table.name).collect();
    assert_eq!(described, registry.stage_types().collect::<Vec<_>>(), "stage types without a reference");
    for table in registry.reference().chain([&RunConfig::reference()]) {
        let keys: BTreeSet<&str> = table.keys.iter().map(|key| key.name).collect();
        let real: BTreeSet<&str> = table.defaults.keys().map(String::as_str).collect();
        assert_eq!(keys, real, "[{}]: other keys are described than exist", table.name);
        assert!(!table.summary.is_empty(), "[{}] has no summary", table.name);
        for key in table.keys {
            assert!(!key.meaning.is_empty(), "`{}` of [{}] has no meaning", key.name, table.name);
            let default = &table.defaults[key.name];
            let fits = if key.computed.is_empty() { fits(key, default) } else { default.is_null() };
            assert!(fits, "`{}` of [{}]: {default} is no {:?}", key.name, table.name, key.value);
        }
    }
}

fn fits(key: &Key, default: &Value) -> bool {
    match key.value {
        ValueType::Bool => default.is_boolean(),
        ValueType::Count { least, most } => {
            default.as_u64().is_some_and(|value| value >= least && most.is_none_or(|most| value <= most))
        }
        ValueType::Size => default.is_u64(),
        ValueType::String => default.is_string(),
        ValueType::Strings => default.is_array(),
        ValueType::Table => default.is_object(),
        ValueType::OneOf(words) => default.as_str().is_some_and(|word| words.contains(&word)),
    }
}

#[test]
fn every_search_key_and_every_limit_is_described() {
    for parameter in Parameter::all() {
        assert!(!parameter.meaning.is_empty(), "{} has no meaning", parameter.key);
    }
    for (key, default, _) in Limits::reference() {
        assert!(!key.meaning.is_empty() && default > 0, "{}", key.name);
    }
}

#[test]
fn the_default_pipeline_sets_documented_defaults() {
    let default = EMBEDDED.iter().find(|pipeline| pipeline.name == "default").expect("the pipeline is built in");
    let text: toml::Table = default.text.parse().expect("the text is TOML");
    let registry = aurora::registry();
    let stages = text["stage"].as_table().expect("the value is a table");
    let table = |name: &str| registry.reference().find(|table| table.name == name).expect("the stage is described");
    for (name, values) in stages {
        check_defaults(table(name), values.as_table().expect("the value is a table"));
    }
    check_defaults(&RunConfig::reference(), text["run"].as_table().expect("the value is a table"));
}

fn check_defaults(table: &TableReference, values: &toml::Table) {
    for (key, value) in values {
        let described = table.keys.iter().find(|described| described.name == key).expect("the key is described");
        let value = match (described.value, value.as_str()) {
            (ValueType::Size, Some(size)) => Value::from(parse_bytes(size).expect("the size is valid")),
            _ => serde_json::to_value(value).expect("the value can be serialised"),
        };
        assert_eq!(value, table.defaults[key], "`{key}` of [{}]", table.name);
    }
}

/// Pipelines that the program accepts, in addition to the built-in ones.
const VALID: &[&str] = &[
    "",
    "extends = \"lexical\"\n[run]\nmemory = \"1.5 GiB\"\njobs = 4\n",
    "extends = \"default\"\n[run]\nmemory = 1073741824\n[stage.embed]\nenabled = false\n",
    "extends = \"default\"\n[stage.git-signal]\ntier = \"file\"\nworkers = 2\n",
    "extends = \"default\"\n[stage.discover]\nskip_directories = [\"third_party\"]\nkeep_listings = false\n",
    "extends = \"default\"\n[stage.second-opinion]\nuse = \"parse\"\nenabled = false\nmax_seconds = 3\n",
    "extends = \"default\"\n[stage.parse]\nafter = [\"incremental-check\"]\n",
];

/// Pipelines that the program rejects because of a key or the type of a value.
const INVALID: &[&str] = &[
    "extends = \"defualt\"\n",
    "stages = 3\n",
    "[run]\nmemroy = \"1GiB\"\n",
    "[run]\nmemory = \"lots\"\n",
    "[run]\njobs = 0\n",
    "[run]\njobs = 257\n",
    "[stage.parze]\n",
    "[stage.mine]\nuse = \"parze\"\n",
    "[stage.mine]\nuse = \"parse\"\nmax_chunks = 3\n",
    "[stage.parse]\nuse = \"chunk\"\nmax_seconds = 3\n",
    "[stage.parse]\nmax_seconds = \"3\"\n",
    "[stage.parse]\nmax_seconds = -1\n",
    "[stage.discover]\nskip_directories = \"third_party\"\n",
    "[stage.git-signal]\ntier = \"word\"\n",
    "[stage.embed]\nmodel = 3\n",
    "[stage.embed]\nenabled = \"no\"\n",
    "[stage.bm25]\nk1 = 1.2\n",
];

#[test]
fn the_schema_agrees_with_the_engine() {
    let registry = aurora::registry();
    let schema = registry.schema(&EMBEDDED.iter().map(|pipeline| pipeline.name).collect::<Vec<_>>());
    let valid = |text: &str| {
        let table: toml::Table = text.parse().expect("the text is TOML");
        validate::check(&schema, &serde_json::to_value(table).expect("the value can be serialised"))
    };
    for text in EMBEDDED.iter().map(|pipeline| &pipeline.text).chain(VALID) {
        assert_eq!(valid(text), Ok(()), "{text}");
    }
    for text in VALID.iter().filter(|text| !text.is_empty()) {
        let loaded = load(&[PipelineSource { name: "valid.toml", text }], &registry, EMBEDDED);
        assert!(loaded.is_ok(), "{text}: {:?}", loaded.err());
    }
    for text in INVALID {
        assert!(valid(text).is_err(), "{text}");
        let extended =
            if text.contains("extends") { (*text).to_owned() } else { format!("extends = \"default\"\n{text}") };
        let loaded = load(&[PipelineSource { name: "wrong.toml", text: &extended }], &registry, EMBEDDED);
        assert!(loaded.is_err(), "{text}");
    }
}
