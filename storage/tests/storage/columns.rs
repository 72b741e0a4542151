//! Custom columns: filters, verification, artefacts and incremental runs use their declarations.

use std::path::Path;

use aurora_storage::{
    Chunk, ChunkId, ColumnDeclaration, ColumnKind, Environment, Field, IndexWriter, Label, MetaValue, NewChunk,
    OpenMode, Snapshot, StorageError, WriterOptions,
};
use proptest::prelude::*;

use crate::artefacts::{artefact, import};
use crate::repository::{chunk, directory, file, open, piece, terms, update};

fn column(name: &str, kind: ColumnKind, filter: bool) -> ColumnDeclaration {
    ColumnDeclaration {
        name: name.to_owned(),
        stage: "stage".to_owned(),
        kind,
        filter,
        terms: None,
        embed: false,
        boost: None,
    }
}

/// Returns one filterable column of each type, and one column that is not filterable.
fn columns() -> Vec<ColumnDeclaration> {
    vec![
        column("churn", ColumnKind::Integer, true),
        column("generated", ColumnKind::Bool, true),
        column("owner", ColumnKind::String, true),
        column("risk", ColumnKind::Float, true),
        column("teams", ColumnKind::Strings, true),
        column("note", ColumnKind::String, false),
    ]
}

fn sorted(mut columns: Vec<ColumnDeclaration>) -> Vec<ColumnDeclaration> {
    columns.sort_by(|a, b| a.name.cmp(&b.name));
    columns
}

fn writer(environment: &Environment, columns: &[ColumnDeclaration]) -> IndexWriter {
    let options = WriterOptions { columns: sorted(columns.to_vec()), ..WriterOptions::default() };
    environment.writer(options).expect("there is no other writer")
}

type Metadata = Vec<(String, MetaValue)>;

fn chunks(path: &str, metadata: &[Metadata]) -> Vec<Chunk> {
    let each = metadata.iter().enumerate();
    each.map(|(index, metadata)| Chunk { metadata: metadata.clone(), ..chunk(path, index, &piece("load", &[])) })
        .collect()
}

fn replace(writer: &IndexWriter, path: &str, metadata: &[Metadata]) {
    let chunks = chunks(path, metadata);
    let new: Vec<NewChunk<'_>> = chunks.iter().map(NewChunk::from).collect();
    let ids = writer.replace_file(file(path, 5), &new).expect("the file can be replaced");
    for id in ids {
        writer.add_terms([(id, &terms(&piece("load", &[(Field::Body, "load")])))]).expect("the terms can be added");
    }
}

fn meta(pairs: &[(&str, MetaValue)]) -> Metadata {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect()
}

fn text(value: &str) -> MetaValue {
    MetaValue::String(value.to_owned())
}

fn one_of_each() -> Vec<Metadata> {
    let teams = MetaValue::Strings(vec!["a".to_owned(), "b".to_owned()]);
    vec![
        meta(&[("owner", text("payments")), ("churn", MetaValue::Integer(7)), ("note", text("hidden"))]),
        meta(&[("risk", MetaValue::Float(0.5)), ("generated", MetaValue::Bool(true)), ("teams", teams)]),
        meta(&[("undeclared", text("seen")), ("risk", MetaValue::Float(1e300))]),
    ]
}

/// The values by which chunks can be filtered, as `column=value`.
fn filters(snapshot: &Snapshot) -> Vec<String> {
    let keys = snapshot.meta_keys().expect("the index is valid");
    let of_key = |key: &String| {
        let values = snapshot.meta_values(key).map(|value| format!("{key}={}", value.expect("the index is valid").0));
        values.collect::<Vec<_>>()
    };
    keys.iter().flat_map(of_key).collect()
}

fn written(directory: &Path, columns: &[ColumnDeclaration]) -> Environment {
    let environment = open(directory);
    let writer = writer(&environment, columns);
    replace(&writer, "a.py", &one_of_each());
    writer.publish(update()).expect("the changes can be published");
    environment
}

#[test]
fn an_empty_list_is_not_a_value_of_a_column() {
    let directory = directory();
    let environment = open(directory.path());
    let writer = writer(&environment, &columns());
    let teams = |names: &[&str]| MetaValue::Strings(names.iter().map(|name| (*name).to_owned()).collect());
    replace(&writer, "a.py", &[meta(&[("teams", teams(&[]))]), meta(&[("teams", teams(&["a"]))]), meta(&[])]);
    writer.publish(update()).expect("the changes can be published");
    let found = environment
        .snapshot()
        .expect("the index can be opened")
        .chunks_with_column("teams")
        .expect("the index is valid");
    assert_eq!(found.iter().collect::<Vec<_>>(), [1]);
}

#[test]
fn chunks_can_be_filtered_by_filterable_columns() {
    let directory = directory();
    let environment = written(directory.path(), &columns());
    let snapshot = environment.snapshot().expect("the index can be opened");
    assert_eq!(snapshot.manifest().columns, sorted(columns()));
    let expected = [
        "churn=7",
        "generated=true",
        "owner=payments",
        "risk=0.5",
        "risk=1e300",
        "teams=a",
        "teams=b",
        "undeclared=seen",
    ];
    assert_eq!(filters(&snapshot), expected);
    assert_eq!(
        snapshot.meta_keys().expect("the index is valid"),
        ["churn", "generated", "owner", "risk", "teams", "undeclared"]
    );
    let values: Vec<_> = snapshot.meta_values("teams").map(|value| value.expect("the index is valid")).collect();
    let both = snapshot.label(Label::Meta { key: "teams", value: "a" }).expect("the index is valid");
    assert_eq!(values, [("a".to_owned(), both.clone()), ("b".to_owned(), both)]);
    assert_eq!(snapshot.meta_values("team").count(), 0);
    assert!(snapshot.verify().is_ok(), "{:?}", snapshot.verify().problems);
    let chunk = snapshot.whole_chunk(ChunkId(0)).expect("the index is valid").expect("the chunk exists");
    let mut expected = one_of_each().swap_remove(0);
    expected.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(chunk.metadata, expected);
}

#[test]
fn changed_declarations_alone_cause_a_publication() {
    let directory = directory();
    let environment = written(directory.path(), &columns());
    let publish = |columns: &[ColumnDeclaration]| writer(&environment, columns).publish(update());
    assert_eq!(publish(&columns()).expect("the changes can be published").generation, 1);
    let mut changed = columns();
    changed[0].boost = Some(0.5);
    assert_eq!(publish(&changed).expect("the changes can be published").generation, 2);
    changed[0].filter = false;
    assert_eq!(publish(&changed).expect("the changes can be published").generation, 3);
    let snapshot = environment.snapshot().expect("the index can be opened");
    assert!(snapshot.verify().is_ok() && !filters(&snapshot).contains(&"churn=7".to_owned()));
    // The terms of the unchanged chunks would have to change.
    changed[2].terms = Some(1);
    assert!(matches!(publish(&changed), Err(StorageError::Refused(_))));
    let invalid = WriterOptions { columns: vec![column("A b", ColumnKind::Bool, true)], ..WriterOptions::default() };
    assert!(matches!(environment.writer(invalid), Err(StorageError::Refused(_))));
}

#[test]
fn a_changed_value_leaves_all_other_rows_unchanged() {
    let directory = directory();
    let environment = written(directory.path(), &columns());
    let set = |columns: &[ColumnDeclaration], values: &[Metadata]| {
        let writer = writer(&environment, columns);
        for (id, values) in (0..).zip(values) {
            writer.set_values(ChunkId(id), values).expect("the chunk exists");
        }
        writer.publish(update()).expect("the changes can be published")
    };
    let before = environment.snapshot().expect("the index can be opened");
    let mut values = one_of_each();
    assert_eq!(set(&columns(), &values).generation, 1);
    values[0][0].1 = text("platform");
    values[1].remove(0);
    let published = set(&columns(), &values);
    let snapshot = environment.snapshot().expect("the index can be opened");
    assert_eq!((published.generation, published.next_chunk_id), (2, before.manifest().next_chunk_id));
    assert_eq!(published.segments, before.manifest().segments);
    assert!(snapshot.verify().is_ok(), "{:?}", snapshot.verify().problems);
    assert_eq!(before.custom_value(ChunkId(0), "owner").expect("the index is valid"), Some(text("payments")));
    assert_eq!(snapshot.custom_value(ChunkId(0), "owner").expect("the index is valid"), Some(text("platform")));
    assert_eq!(snapshot.custom_value(ChunkId(1), "risk").expect("the index is valid"), None);
    assert!(!filters(&snapshot).contains(&"owner=payments".to_owned()));

    let again = crate::repository::directory();
    let fresh = open(again.path());
    let writer_of_fresh = writer(&fresh, &columns());
    replace(&writer_of_fresh, "a.py", &values);
    writer_of_fresh.publish(update()).expect("the changes can be published");
    let digest = |environment: &Environment| {
        environment.snapshot().expect("the index can be opened").digest().expect("the index is valid")
    };
    assert_eq!(digest(&environment), digest(&fresh));

    // A column that is removed loses its values, even if it is declared again later.
    let kept: Vec<_> = columns().into_iter().filter(|column| column.name != "owner").collect();
    assert_eq!(set(&kept, &[]).generation, 3);
    assert!(environment.snapshot().expect("the index can be opened").verify().is_ok());
    set(&columns(), &[]);
    let snapshot = environment.snapshot().expect("the index can be opened");
    assert_eq!(snapshot.custom_value(ChunkId(0), "owner").expect("the index is valid"), None);
}

#[test]
fn invalid_values_are_refused() {
    let directory = directory();
    let with_terms: Vec<_> = columns()
        .into_iter()
        .map(|column| ColumnDeclaration { terms: (column.name == "owner").then_some(1), ..column })
        .collect();
    let environment = written(directory.path(), &with_terms);
    let writer = writer(&environment, &with_terms);
    let refused = |id, values: &[(&str, MetaValue)]| {
        matches!(writer.set_values(ChunkId(id), &meta(values)), Err(StorageError::Refused(_)))
    };
    assert!(refused(3, &[]));
    assert!(refused(1, &[("risk", text("high"))]));
    assert!(refused(0, &[("owner", text("platform"))]));
    assert!(!refused(0, &[("owner", text("payments")), ("churn", MetaValue::Integer(8))]));
}

#[test]
fn an_artefact_includes_the_declarations() {
    let (here, there) = (directory(), directory());
    let environment = written(here.path(), &columns());
    let bytes = artefact(&environment);
    import(there.path(), &bytes).expect("the artefact can be imported");
    let imported = Environment::open(there.path(), OpenMode::Existing).expect("the index can be opened");
    let (old, new) = (
        environment.snapshot().expect("the index can be opened"),
        imported.snapshot().expect("the index can be opened"),
    );
    assert_eq!(new.manifest().columns, old.manifest().columns);
    assert_eq!(
        (filters(&new), new.digest().expect("the index is valid")),
        (filters(&old), old.digest().expect("the index is valid"))
    );
    assert!(artefact(&imported) == bytes);
}

fn any_value() -> impl Strategy<Value = (String, MetaValue)> {
    let word = || prop::sample::select(vec!["a", "b", "payments", ""]).prop_map(str::to_owned);
    prop_oneof![
        word().prop_map(|text| ("owner".to_owned(), MetaValue::String(text))),
        word().prop_map(|text| ("note".to_owned(), MetaValue::String(text))),
        word().prop_map(|text| ("undeclared".to_owned(), MetaValue::String(text))),
        (-3i64..3).prop_map(|number| ("churn".to_owned(), MetaValue::Integer(number))),
        any::<f64>().prop_map(|number| ("risk".to_owned(), MetaValue::Float(number))),
        any::<bool>().prop_map(|flag| ("generated".to_owned(), MetaValue::Bool(flag))),
        prop::collection::vec(word(), 0..3).prop_map(|texts| ("teams".to_owned(), MetaValue::Strings(texts))),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, ..ProptestConfig::default() })]

    #[test]
    fn an_incremental_index_equals_a_fresh_one_after_metadata_has_changed(
        runs in prop::collection::vec(prop::collection::vec((0..4u8, prop::collection::vec(
            prop::collection::btree_map("[a-z]", any_value(), 0..4).prop_map(|values| values.into_values().collect::<Metadata>()), 0..4)), 0..4), 1..5),
    ) {
        let (kept, fresh) = (directory(), directory());
        let environment = open(kept.path());
        let mut tree = std::collections::BTreeMap::new();
        for run in runs {
            let writer = writer(&environment, &columns());
            for (number, metadata) in run {
                let path = format!("{number}.py");
                replace(&writer, &path, &metadata);
                tree.insert(path, metadata);
            }
            writer.publish(update()).expect("the changes can be published");
        }
        let again = open(fresh.path());
        let writer = writer(&again, &columns());
        for (path, metadata) in &tree {
            replace(&writer, path, metadata);
        }
        writer.publish(update()).expect("the changes can be published");
        let (kept, fresh) = (environment.snapshot().expect("the index can be opened"), again.snapshot().expect("the index can be opened"));
        prop_assert!(kept.verify().is_ok(), "{:?}", kept.verify().problems);
        prop_assert_eq!(filters(&kept), filters(&fresh));
        prop_assert_eq!(kept.digest().expect("the index is valid"), fresh.digest().expect("the index is valid"));
    }
}
