//! Tests of valid documents. They can be read, their schemas accept them, and they round-trip.

mod common;

use aurora_memory_schema::{Entry, Kind, read_json};
use common::{EXAMPLES, no_rules, read, schema_accepts};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

#[test]
fn the_examples_are_valid() {
    for (kind, text) in EXAMPLES {
        let draft = read(kind, text);
        let given: Value = serde_json::from_str(text).unwrap();
        assert!(schema_accepts(kind, &given), "{kind}");
        assert!(schema_accepts(kind, &json!(draft.entry())), "{kind}");
        for section in ["id", "type", "content", "governance", "conversation_log_reference"] {
            assert_eq!(draft.entry().document().get(section), given.get(section), "{kind} {section}");
        }
    }
}

#[test]
fn accessors_return_the_fields_of_the_document() {
    let draft = read(Kind::Reasoning, EXAMPLES[0].1);
    let entry = draft.entry();
    assert_eq!(
        (entry.id(), entry.kind(), entry.title().as_str()),
        ("reas:rate-limit-7", Kind::Reasoning, "throttling-setup")
    );
    assert_eq!((entry.score(), entry.is_pattern(), entry.created()), (Some(0.92), true, Some(1_762_160_400)));
    assert_eq!((entry.domain(), entry.semantic_role()), (Some("api"), Some("throttling-decomposition-pattern")));
    assert_eq!(entry.keywords(), ["throttling", "bucket", "client", "header", "window"]);
    assert_eq!((entry.tags(), entry.lifespan_policy()), (vec!["tested"], Some("conditional")));
    assert!(entry.derived().is_empty());
    let shown = json!([entry.links(), entry.retention_rules(), entry.log_reference()]);
    assert_eq!(
        shown,
        json!([
            [{"to": "know:http-429", "relation": "uses", "weight": 0.5}],
            [["success_score >= 0.8", "retain_for_365_days"]],
            {
                "date": "2025-11-03",
                "file": "throttling-client-2025-11-03.md",
                "section": "Phase 3: DECOMPOSE",
                "line_range": [12, 40]
            }
        ])
    );
}

#[test]
fn titles_and_ids_are_derived_from_the_naming_fields() {
    let check = |kind: Kind, document: Value, id: &str, title: &str| {
        let draft = read(kind, &document.to_string());
        assert_eq!((draft.entry().id(), draft.entry().title().as_str()), (id, title));
    };
    let pattern = json!({"content": {"pattern": "OAuth setup", "success_score": 0.9}});
    check(Kind::Reasoning, pattern, "reas:oauth-setup", "OAuth setup");
    let query = json!({"id": "reas:x", "content": {"original_query": "Build\nit", "success_score": 0.9}});
    check(Kind::Reasoning, query, "reas:x", "Build");
    check(Kind::Reasoning, json!({"id": "reas:x:v3", "content": {"success_score": 0.9}}), "reas:x:v3", "x:v3");
    check(Kind::Knowledge, json!({"content": {"topic": "Stripe API", "title": "Charges"}}), "know:charges", "Charges");
    let facts = json!({"id": "know:f", "content": {"facts": [{"statement": "Keys rotate daily"}]}});
    check(Kind::Knowledge, facts, "know:f", "Keys rotate daily");
    check(Kind::Note, json!({"content": {"text": "text\n# Keys\n"}}), "note:keys", "Keys");
    check(Kind::Note, json!({"content": {"text": "first\nsecond"}}), "note:first", "first");
    check(Kind::Turn, json!({"content": {"text": "yes"}}), "turn:entry-09783a1ec942", "yes");
    let code = json!({"content": {"file": "src/auth.py", "function": "login"}});
    check(Kind::Code, code, "code:src/auth.py:login", "login");
    check(Kind::Code, json!({"id": "code:a.py:f", "governance": {"compliance_tags": ["x"]}}), "code:a.py:f", "a.py:f");
}

#[test]
fn scores_determine_which_entries_are_stored() {
    let outcome = |kind: Kind, content: Value| {
        let draft = read(kind, &json!({ "content": content }).to_string());
        assert_eq!(draft.clone().into_entry().is_ok(), draft.outcome().stored);
        serde_json::to_string(&draft.outcome()).unwrap()
    };
    let shown = [
        outcome(Kind::Reasoning, json!({"pattern": "a", "success_score": 0.45})),
        outcome(Kind::Reasoning, json!({"pattern": "a", "success_score": 0.5})),
        outcome(Kind::Reasoning, json!({"pattern": "a", "success_score": 1})),
        outcome(Kind::Knowledge, json!({"topic": "a", "confidence": 0.2})),
        outcome(Kind::Knowledge, json!({"topic": "a"})),
        outcome(Kind::Note, json!({"text": "a"})),
    ];
    insta::assert_snapshot!(shown.join("\n"), @r#"
    {"id":"reas:a","stored":false,"is_pattern":false,"reason":"The score 0.45 is below 0.5, so the entry is not stored."}
    {"id":"reas:a","stored":true,"is_pattern":false,"reason":"The score 0.5 is at least 0.5 and below 0.8, so the entry is stored, but not as a pattern."}
    {"id":"reas:a","stored":true,"is_pattern":true,"reason":"The score 1 is at least 0.8, so the entry is stored as a pattern."}
    {"id":"know:a","stored":false,"is_pattern":false,"reason":"The score 0.2 is below 0.5, so the entry is not stored."}
    {"id":"know:a","stored":true,"is_pattern":false,"reason":"The entry has no score, so it is stored, but not as a pattern."}
    {"id":"note:a","stored":true,"is_pattern":false,"reason":"The entry has no score, so it is stored, but not as a pattern."}
    "#);
}

#[test]
fn unknown_fields_of_content_and_metadata_are_preserved() {
    let text = r#"{"content": {"text": "a", "mood": {"x": [1, 2.5, null]}}, "metadata": {"origin": "chat"}}"#;
    let entry = read(Kind::Note, text).into_entry().unwrap();
    assert_eq!(entry.document()["content"]["mood"], json!({"x": [1, 2.5, null]}));
    assert_eq!(entry.document()["metadata"]["origin"], "chat");
}

#[test]
fn stored_entries_round_trip_or_are_rejected_with_a_reason() {
    let check = |text: &str, expected: &str| assert_eq!(Entry::from_stored(text).unwrap_err().to_string(), expected);
    check("[]", "the stored entry is not a JSON object: invalid type: sequence, expected a map at line 1 column 0");
    check(r#"{"id": "note:a"}"#, "the stored entry has no known `type`");
    check(
        r#"{"id": "know:a", "type": "note"}"#,
        "the `id` of the stored entry must be a valid id that begins with `note:`",
    );
    let mut entry = Entry::from_stored(r#"{"id": "note:a", "type": "note"}"#).unwrap();
    assert_eq!(
        entry.set_id("know:b").unwrap_err().to_string(),
        "the id must begin with `note:`, and \"know:b\" does not"
    );
    entry.set_id("note:b").unwrap();
    assert_eq!((entry.id(), &entry.document()["id"]), ("note:b", &json!("note:b")));
}

/// Generates a string of words, punctuation, and letters of several scripts.
fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9_ .,'#é日本トの\n-]{0,60}"
}

fn non_empty_text() -> impl Strategy<Value = String> {
    text().prop_map(|text| format!("a{text}"))
}

fn label() -> impl Strategy<Value = String> {
    "[a-zé0-9-]{1,40}"
}

fn time() -> impl Strategy<Value = String> {
    (1970..2100, 1..=12, 1..=28, select(vec!["", "T00:00:00Z", "t23:59:60.123z", " 12:30:00-03:30"]))
        .prop_map(|(year, month, day, rest)| format!("{year:04}-{month:02}-{day:02}{rest}"))
}

/// Generates an object with a subset of the fields.
fn some_of(fields: Vec<(&'static str, BoxedStrategy<Value>)>) -> impl Strategy<Value = Map<String, Value>> {
    let optional: Vec<_> = fields.into_iter().map(|(name, value)| (Just(name), proptest::option::of(value))).collect();
    optional.prop_map(|fields| fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect())
}

fn json_values<T: Into<Value> + std::fmt::Debug + 'static>(
    values: impl Strategy<Value = T> + 'static,
) -> BoxedStrategy<Value> {
    values.prop_map(Into::into).boxed()
}

fn list(values: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    json_values(proptest::collection::vec(values, 0..4))
}

fn object(fields: Vec<(&'static str, BoxedStrategy<Value>)>) -> BoxedStrategy<Value> {
    json_values(some_of(fields))
}

fn with(fields: BoxedStrategy<Value>, name: &'static str, value: BoxedStrategy<Value>) -> BoxedStrategy<Value> {
    let both = (fields, value).prop_map(move |(mut fields, value)| {
        fields[name] = value;
        fields
    });
    both.boxed()
}

fn content(kind: Kind) -> BoxedStrategy<Value> {
    let text = || json_values(text());
    let score = json_values(0.0..=1.0_f64);
    match kind {
        Kind::Reasoning => {
            let subgoals = list(object(vec![("id", text()), ("description", text()), ("agent", text())]));
            let tools = list(object(vec![("subgoal", text()), ("tools", list(text()))]));
            let fields = object(vec![
                ("original_query", text()),
                ("complexity", text()),
                ("subgoals", subgoals),
                ("tools_used", tools),
                ("tool_sequence", list(text())),
            ]);
            with(with(fields, "success_score", score), "pattern", json_values(non_empty_text()))
        }
        Kind::Knowledge => {
            let facts = list(with(object(vec![("id", text())]), "statement", json_values(non_empty_text())));
            let fields = object(vec![
                ("summary", json_values(non_empty_text())),
                ("facts", facts),
                ("sources", list(text())),
                ("confidence", score),
            ]);
            with(fields, "topic", json_values(non_empty_text()))
        }
        Kind::Note => with(
            object(vec![("title", json_values(non_empty_text())), ("mood", text())]),
            "text",
            json_values(non_empty_text()),
        ),
        Kind::Turn => with(object(vec![("role", json_values(label()))]), "text", json_values(non_empty_text())),
        Kind::Code => {
            let fields = vec![
                ("function", text()),
                ("line_start", json_values(1..50)),
                ("line_end", json_values(50..99)),
                ("calls", list(text())),
            ];
            with(object(fields), "file", json_values(non_empty_text()))
        }
    }
}

fn document(kind: Kind) -> impl Strategy<Value = Value> {
    let link = with(
        object(vec![("relation", json_values(label())), ("weight", json_values(0.0..=1.0_f64))]),
        "to",
        json_values("[a-z]{1,5}:[a-z]{1,9}"),
    );
    let metadata = object(vec![
        ("created", json_values(time())),
        ("timestamp", json_values(time())),
        ("keywords", list(json_values(label()))),
        ("semantic_role", json_values(label())),
        ("domain", json_values(label())),
        ("links", list(link)),
        ("execution_time_ms", json_values(0.0..1e9_f64)),
        ("usage_count", json_values(0_u32..)),
        ("origin", list(json_values(text()))),
    ]);
    let rule = with(with(object(vec![]), "if", json_values(non_empty_text())), "then", json_values(non_empty_text()));
    let governance = object(vec![
        ("compliance_tags", list(json_values(label()))),
        ("lifespan_policy", json_values(select(vec!["conditional", "time-based", "indefinite"]))),
        ("retention_rules", list(rule)),
    ]);
    let lines = json_values((1_u32..50, 50_u32..99).prop_map(|(first, last)| vec![first, last]));
    let log =
        object(vec![("date", json_values(time())), ("file", json_values(non_empty_text())), ("line_range", lines)]);
    let prefix = kind.prefix();
    let fields = vec![
        ("id", json_values("[a-z0-9:é /-]{0,30}".prop_map(move |name| format!("{prefix}x{name}")))),
        ("type", json_values(Just(kind.name()))),
        ("metadata", metadata),
        ("governance", governance),
        ("conversation_log_reference", log),
    ];
    with(object(fields), "content", content(kind))
}

fn kind_and_document() -> impl Strategy<Value = (Kind, Value)> {
    select(Kind::ALL.to_vec()).prop_flat_map(|kind| (Just(kind), document(kind)))
}

/// Replaces the value at `index`, counted in the depth-first order of the document.
fn replace_value(document: &mut Value, index: usize, value: Value) {
    let mut left = index;
    let mut value = Some(value);
    visit(document, &mut |at| {
        if left == 0
            && let Some(value) = value.take()
        {
            *at = value;
        }
        left = left.saturating_sub(1);
    });
}

fn visit(value: &mut Value, visitor: &mut impl FnMut(&mut Value)) {
    visitor(value);
    match value {
        Value::Object(fields) => fields.values_mut().for_each(|value| visit(value, visitor)),
        Value::Array(values) => values.iter_mut().for_each(|value| visit(value, visitor)),
        _ => {}
    }
}

fn anything() -> impl Strategy<Value = Value> {
    let edges = vec![
        json!(null),
        json!(-1),
        json!(2),
        json!(0.5),
        json!(""),
        json!(" \u{feff}"),
        json!([]),
        json!({}),
        json!("\u{85}"),
    ];
    prop_oneof![
        select(edges),
        json_values(".{0,9}"),
        json_values(proptest::num::f64::NORMAL),
        list(json_values(".{0,3}")),
        Just(json!({"to": "a:b"}))
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn valid_documents_are_read_and_accepted_by_their_schemas((kind, document) in kind_and_document()) {
        prop_assert!(schema_accepts(kind, &document), "{document}");
        let read = read_json(kind, "a.json", &document.to_string(), no_rules);
        prop_assert!(read.is_ok(), "{}\n{document}", read.unwrap_err());
    }

    #[test]
    fn entries_round_trip((kind, document) in kind_and_document()) {
        let draft = read(kind, &document.to_string());
        let written = serde_json::to_string(draft.entry()).unwrap();
        let again = read(kind, &written);
        prop_assert_eq!(again.entry(), draft.entry());
        prop_assert_eq!(&Entry::from_stored(&written).unwrap(), draft.entry());
        prop_assert!(schema_accepts(kind, &json!(draft.entry())), "{}", written);
        prop_assert_eq!(read(kind, &document.to_string()), draft);
    }

    #[test]
    fn schemas_accept_every_document_that_is_read((kind, document) in kind_and_document(), index in 0..60_usize, value in anything()) {
        let mut document = document;
        replace_value(&mut document, index, value);
        if let Ok(draft) = read_json(kind, "a.json", &document.to_string(), no_rules) {
            prop_assert!(schema_accepts(kind, &document), "{document}");
            prop_assert!(schema_accepts(kind, &json!(draft.entry())), "{document}");
        }
    }
}
