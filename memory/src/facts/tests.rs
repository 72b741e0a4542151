//! Checks that an entry's document and its chunks yield the same facts for policies.

use aurora_memory_policy::check_rule;
use aurora_memory_schema::read_json;
use aurora_storage::{
    ChunkId, Environment, FileOutcome, FileRecord, FileStamp, ManifestUpdate, NewChunk, OpenMode, Snapshot, Unfinished,
    WriterOptions,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::index::{IndexedEntry, chunks_of, indexed_path};
use crate::store::Change;

const NOW: i64 = 1_800_000_000;

/// Sets a field in a section of a document if `value` is `Some`.
fn set_field(object: &mut Value, section: &str, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        object[section][name] = value.into();
    }
}

fn any_rule() -> impl Strategy<Value = Value> {
    let condition = prop::sample::select(vec![
        "score >= 0.8",
        "is_pattern == true AND\n  access_count > 3",
        "contains_tag('security') OR domain == 'api'",
        "id == 'note:a'",
    ]);
    let action = prop::sample::select(vec!["retain_for_30_days", "retain_indefinitely", "escalation_candidate"]);
    (condition, action).prop_map(|(condition, action)| json!({ "if": condition, "then": action }))
}

fn any_label() -> impl Strategy<Value = String> {
    prop_oneof![Just("security".to_owned()), Just("api".to_owned()), "[a-z' 🔑é\"]{1,12}"]
        .prop_filter("a label is not blank", |label| !label.trim().is_empty())
}

/// Generates a valid entry with a text of one or more chunks.
fn any_entry() -> impl Strategy<Value = Entry> {
    let labels = || prop::option::of(prop::collection::vec(any_label(), 0..4));
    let lifespan = prop::sample::select(vec!["conditional", "time-based", "indefinite"]);
    let metadata = (prop::option::of(any_label()), prop::option::of(any_label()), labels(), any::<bool>());
    let governance = (labels(), prop::option::of(lifespan), prop::option::of(prop::collection::vec(any_rule(), 0..4)));
    let kind = prop::sample::select(Kind::ALL.to_vec());
    (kind, prop::option::of(0.0..=1.0_f64), metadata, governance, prop_oneof![9 => Just(1), 1 => Just(8_000)]).prop_map(
        |(kind, score, (domain, role, keywords, is_dated), (tags, lifespan, rules), lines)| {
            let mut document = json!({ "id": format!("{}a", kind.prefix()), "content": {} });
            let text = "a line of the text\n".repeat(lines);
            match kind {
                Kind::Reasoning => set_field(&mut document, "content", "success_score", Some(score.unwrap_or(0.7))),
                Kind::Knowledge => {
                    set_field(&mut document, "content", "confidence", score);
                    set_field(&mut document, "content", "topic", Some(text));
                }
                Kind::Note | Kind::Turn | Kind::Code => set_field(&mut document, "content", "text", Some(text)),
            }
            set_field(&mut document, "metadata", "domain", domain);
            set_field(&mut document, "metadata", "semantic_role", role);
            set_field(&mut document, "metadata", "keywords", keywords);
            set_field(&mut document, "metadata", "timestamp", is_dated.then_some("2026-02-01T10:00:00Z"));
            set_field(&mut document, "governance", "compliance_tags", tags);
            set_field(&mut document, "governance", "lifespan_policy", lifespan);
            set_field(&mut document, "governance", "retention_rules", rules);
            let draft = read_json(kind, "a document", &document.to_string(), check_rule);
            draft.unwrap_or_else(|mistakes| panic!("{mistakes}\n{document}")).entry().clone()
        },
    )
}

fn any_access() -> impl Strategy<Value = Option<AccessRecord>> {
    let access = (0..20_u64, NOW - 400 * 86_400..NOW + 10);
    prop::option::of(access.prop_map(|(count, last)| AccessRecord { count, last, ..AccessRecord::default() }))
}

fn any_version() -> impl Strategy<Value = Version> {
    let age = 0..400_i64 * 86_400;
    (prop::sample::select(Scope::ALL.to_vec()), age.clone(), age).prop_map(|(scope, created, edited)| Version {
        number: 1,
        before: 0,
        change: Change::Add,
        time: NOW - edited,
        created: NOW - created.max(edited),
        edited: NOW - edited,
        scope,
        session: (scope == Scope::Session).then(|| "s1".to_owned()),
        document: None,
    })
}

/// Creates an index with the chunks of one entry.
fn index(entry: &Entry, version: &Version) -> Snapshot {
    let version = Version { document: Some(entry.document().clone()), ..version.clone() };
    let indexed = IndexedEntry::new(entry.id(), version).expect("the version has a document");
    let chunks = chunks_of(indexed, &indexed_path(entry.id()), true).expect("the document is a valid entry");
    let directory = tempfile::TempDir::new_in("/dev/shm").or_else(|_| tempfile::TempDir::new()).expect("a directory");
    let environment = Environment::open(directory.path(), OpenMode::Create).expect("the directory is empty");
    let writer = environment.writer(WriterOptions::default()).expect("no other writer is open");
    let file = FileRecord {
        path: indexed_path(entry.id()),
        size: 0,
        stamp: FileStamp::default(),
        blob: Vec::new(),
        hash: [0; 32],
        language: "markdown".to_owned(),
        outcome: FileOutcome::Indexed,
        history_key: Vec::new(),
        chunks: Vec::new(),
        lines: 0,
        warnings: Vec::new(),
        unfinished: Vec::new(),
    };
    let chunks: Vec<_> = chunks.into_iter().map(|chunk| (chunk, None)).collect();
    writer.replace_file(file, &chunks.iter().map(NewChunk::from).collect::<Vec<_>>()).expect("the chunks are valid");
    let update = ManifestUpdate {
        model: None,
        head_commit: None,
        root: String::new(),
        fingerprints: Vec::new(),
        unfinished: Unfinished::default(),
        complete: true,
        now: NOW,
        summary: Value::Null,
    };
    writer.publish(update).expect("the index can be published");
    environment.snapshot().expect("a generation is published")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_document_and_its_chunks_yield_the_same_facts(
        entry in any_entry(), version in any_version(), access in any_access(),
    ) {
        let of_entry = EntryFacts::from_entry(&entry, &version, access.as_ref(), NOW);
        let snapshot = index(&entry, &version);
        prop_assert!(!snapshot.live().is_empty());
        for id in snapshot.live().iter().map(ChunkId) {
            let chunk = snapshot.chunk(id).expect("the index is valid").expect("the chunk is live");
            let of_chunk = EntryFacts::from_chunk(chunk, access.as_ref(), NOW);
            prop_assert_eq!(&of_chunk, &of_entry);
            prop_assert_eq!(of_chunk.decision(&Policies::built_in()), of_entry.decision(&Policies::built_in()));
        }
    }
}
