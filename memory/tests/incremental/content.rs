//! The content that the tests write to a memory.

use aurora_memory::{Placement, Scope};
use aurora_memory_policy::check_rule;
use aurora_memory_schema::{Draft, Kind, read_json};
use serde_json::{Value, json};

/// The kinds of entries that the tests add.
pub(crate) const KINDS: [Kind; 3] = [Kind::Reasoning, Kind::Knowledge, Kind::Note];
/// Number of names that [`id`] accepts for each kind.
pub(crate) const NAMES: usize = 4;
/// Number of different documents for each kind.
pub(crate) const CONTENTS: usize = 12;
/// Number of placements that [`placement`] accepts.
pub(crate) const PLACEMENTS: usize = 6;

pub(crate) const SESSIONS: &[&str] = &["s1", "s2", "work:7"];
pub(crate) const TAGS: &[&str] = &["security", "tested", "to be checked", "api"];
pub(crate) const TEXTS: &[&str] = &[
    "How are expired tokens refreshed by the gateway?",
    "The gateway refreshes a token five minutes before it expires.",
    "Rotate the signing keys of the login service every week.",
    "Deploys of the billing service stop on Friday",
    "retry_with_backoff gives up after eight attempts",
    "Zugangsschlüssel werden jede Woche erneuert 🔑",
];

/// Returns the id of an entry. `name` is an index below [`NAMES`].
pub(crate) fn id(kind: Kind, name: usize) -> String {
    format!("{}{}", kind.prefix(), ["tokens", "deploys", "Rate limits", "schlüssel"][name])
}

/// Target of the links that lead to a chunk of code instead of an entry.
pub(crate) const CODE: &str = "code:src/gateway.py:refresh";

/// Returns a document without an id.
pub(crate) fn document(kind: Kind, content: usize) -> Value {
    let (one, other) = (TEXTS[content % TEXTS.len()], TEXTS[(content * 5 + 1) % TEXTS.len()]);
    // An entry with the score 0.3 is not stored, because the score is too low.
    let score = [0.92, 0.8, 0.65, 0.5, 0.3][content % 5];
    let content_of = match kind {
        Kind::Reasoning => json!({
            "pattern": format!("pattern {}", content % 4), "original_query": one, "success_score": score,
            "subgoals": [{ "id": "SG1", "description": other, "agent": "coder" }], "tool_sequence": ["read", "edit"],
        }),
        Kind::Knowledge => json!({
            "topic": format!("Topic {}", content % 4), "summary": one, "confidence": score,
            "facts": [{ "statement": other }], "sources": ["https://example.org"],
        }),
        _ if content == 5 => json!({ "title": "A long note", "text": format!("{one}\n{}", long(other)) }),
        _ if content == 6 => json!({ "text": format!("{one}\npassword = \"hT7#kQ92!mZx0pLw\"\n{other}") }),
        _ => json!({ "text": format!("{one}\n\n{other}") }),
    };
    let mut document = json!({ "content": content_of });
    match content {
        1 => document["metadata"] = json!({ "timestamp": "2095-03-01T10:00:00Z", "domain": "security" }),
        2 => document["governance"] = json!({ "compliance_tags": ["api", "tested"], "lifespan_policy": "indefinite" }),
        3 => {
            let rules = json!([{ "if": "access_count > 3", "then": "retain_for_30_days" },
                { "if": "contains_tag('security')", "then": "escalation_candidate" }]);
            document["governance"] = json!({ "retention_rules": rules, "lifespan_policy": "conditional" });
        }
        4 => {
            document["metadata"] = json!({ "created": "2096-06-01", "semantic_role": "login-handler",
            "links": [{ "to": CODE, "relation": "uses", "weight": 0.5 }] })
        }
        7 => document["governance"] = json!({ "lifespan_policy": "time-based", "compliance_tags": ["security"] }),
        8 => document["conversation_log_reference"] = json!({ "file": "a-2095-01-01.md", "section": "Phase 1" }),
        _ => {}
    }
    document
}

/// Returns a text that is long enough for several chunks.
fn long(text: &str) -> String {
    (0..1_200).map(|line| format!("{text} in line {line}\n")).collect()
}

/// Returns a placement that a project's memory or the user's memory accepts.
pub(crate) fn placement(is_project: bool, number: usize) -> Placement {
    let session = |number: usize| Some(SESSIONS[number].to_owned());
    let (scope, session) = match (is_project, number) {
        (true, 0..=3) => (Scope::Project, None),
        (true, _) => (Scope::Project, session(number % SESSIONS.len())),
        (false, 0 | 1) => (Scope::User, None),
        (false, 2) => (Scope::Global, None),
        (false, 3) => (Scope::Session, session(0)),
        (false, 4) => (Scope::Session, session(1)),
        // The user's memory accepts entries with scope `project` if they have a session.
        (false, _) => (Scope::Project, session(2)),
    };
    Placement { scope, session }
}

/// Returns the draft of a document, with or without an id.
pub(crate) fn draft(kind: Kind, document: &Value, id: Option<&str>) -> Draft {
    let mut document = document.clone();
    if let Some(id) = id {
        document["id"] = id.into();
    }
    let text = document.to_string();
    read_json(kind, "a document", &text, check_rule).unwrap_or_else(|mistakes| panic!("{mistakes}\n{text}"))
}
