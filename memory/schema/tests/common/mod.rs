//! Functions that several tests use.
#![allow(dead_code, reason = "every test compiles this module and uses only a part of it")]

use std::sync::LazyLock;

use aurora_memory_schema::{Draft, Kind, read_json, schema};
use jsonschema::Validator;
use serde_json::Value;

/// A check of retention rules that accepts every rule.
pub(crate) fn no_rules(_: &str, _: &str) -> Result<(), String> {
    Ok(())
}

/// Reads a valid document.
pub(crate) fn read(kind: Kind, text: &str) -> Draft {
    read_json(kind, "a.json", text, no_rules).unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}"))
}

static VALIDATORS: LazyLock<Vec<Validator>> = LazyLock::new(|| {
    let schemas =
        Kind::ALL.iter().map(|kind| serde_json::from_str::<Value>(schema(*kind)).expect("the schema is JSON"));
    schemas.map(|schema| jsonschema::draft202012::new(&schema).expect("a valid schema")).collect()
});

/// Returns `true` if the schema of a kind accepts a document.
pub(crate) fn schema_accepts(kind: Kind, document: &Value) -> bool {
    VALIDATORS[kind as usize].is_valid(document)
}

/// The result of validating an invalid document with its schema.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Schema {
    /// The schema rejects the document.
    Rejects,
    /// The schema accepts the document, because a schema cannot express the broken rule.
    CannotExpress,
}

/// Returns the messages for invalid documents. Also checks that the schema of each kind accepts or rejects the document
/// as expected.
pub(crate) fn mistakes(documents: &[(Kind, Schema, &str)]) -> String {
    let shown = documents.iter().map(|(kind, schema, text)| match read_json(*kind, "a.json", text, no_rules) {
        Ok(draft) => panic!("{text} was read as {draft:?}"),
        Err(mistakes) => {
            if let Ok(document) = serde_json::from_str(text) {
                assert_eq!(schema_accepts(*kind, &document), *schema == Schema::CannotExpress, "{text}");
            }
            mistakes.to_string()
        }
    });
    shown.collect::<Vec<_>>().join("\n\n")
}

/// An entry of every kind, with most of its fields.
pub(crate) const EXAMPLES: [(Kind, &str); 5] = [
    (
        Kind::Reasoning,
        r#"{
  "id": "reas:rate-limit-7",
  "type": "reasoning",
  "content": {
    "pattern": "throttling-setup",
    "original_query": "Limit how often a client may call the endpoint",
    "complexity": "medium",
    "subgoals": [
      {"id": "SG1", "description": "Compare token bucket with sliding window", "agent": "researcher"},
      {"id": "SG2", "description": "Answer clients with 429 and a header", "agent": "coder"}
    ],
    "tools_used": [{"subgoal": "SG1", "agent": "researcher", "tools": ["websearch", "read"]}],
    "tool_sequence": ["websearch", "edit"],
    "success_score": 0.92,
    "verification_option": "tests"
  },
  "metadata": {
    "timestamp": "2025-11-03T09:00:00Z",
    "execution_time_ms": 15420,
    "total_cost_usd": 0.0234,
    "semantic_role": "throttling-decomposition-pattern",
    "keywords": ["throttling", "bucket", "client", "header", "window"],
    "domain": "api",
    "links": [{"to": "know:http-429", "relation": "uses", "weight": 0.5}]
  },
  "governance": {
    "compliance_tags": ["tested"],
    "lifespan_policy": "conditional",
    "retention_rules": [{"if": "success_score >= 0.8", "then": "retain_for_365_days"}]
  },
  "conversation_log_reference": {
    "date": "2025-11-03",
    "file": "throttling-client-2025-11-03.md",
    "section": "Phase 3: DECOMPOSE",
    "line_range": [12, 40]
  }
}"#,
    ),
    (
        Kind::Knowledge,
        r#"{
  "id": "know:http-429",
  "type": "knowledge",
  "content": {
    "topic": "Status 429 and its headers",
    "summary": "What clients expect when they are throttled",
    "facts": [
      {"id": "F1", "statement": "Retry-After is in seconds, or a date"},
      {"statement": "The X-RateLimit headers are no standard"}
    ],
    "sources": ["https://www.rfc-editor.org/rfc/rfc6585"],
    "confidence": 0.85
  },
  "metadata": {"acquired": "2025-11-03T10:00:00+01:00", "validated": true, "source_count": 1},
  "governance": {"compliance_tags": ["validated"], "lifespan_policy": "time-based", "retention_rules": []}
}"#,
    ),
    (
        Kind::Note,
        r##"{"id": "note:deploys", "type": "note",
  "content": {"title": "Deploys", "text": "# Deploys\n\nNever on a Friday."},
  "metadata": {"created": "2025-11-03", "domain": "infrastructure"}}"##,
    ),
    (
        Kind::Turn,
        r#"{"id": "turn:s1-4", "type": "turn", "content": {"role": "user", "text": "Why does the deploy hang?"},
  "metadata": {"session": "s1", "timestamp": "2025-11-03T09:00:05Z"}}"#,
    ),
    (
        Kind::Code,
        r#"{
  "id": "code:src/limit.py:allow",
  "type": "code",
  "content": {
    "file": "src/limit.py",
    "function": "allow",
    "line_start": 3,
    "line_end": 9,
    "signature": "def allow(client: str) -> bool",
    "dependencies": ["code:src/limit.py:Bucket"],
    "imports": ["time"],
    "calls": ["refill"],
    "ast_summary": {"complexity": "low", "branches": 1}
  },
  "metadata": {"language": "python", "last_modified": "2025-11-02T08:00:00Z", "git_hash": "0123abc"},
  "governance": {"lifespan_policy": "indefinite"}
}"#,
    ),
];
