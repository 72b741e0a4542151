//! The fields of an entry, and the rules for the values of the fields.
//!
//! The files in `schemas/` define the same fields as JSON Schemas. A test compares the names of the fields.

use aurora_diagnostics::document::{Fault, Field, Group, Node, Rule, Shape};

use crate::kind::Kind;
use crate::{code, id, label, time};

/// A number from 0 to 1.
const SCORE: Shape = Shape::Number(0.0, 1.0);
/// A number that is at least 0.
const AMOUNT: Shape = Shape::Number(0.0, f64::MAX);
/// A line number.
const LINE: Shape = Shape::Integer(1, u32::MAX as u64);
/// A list of strings.
const TEXTS: Shape = Shape::List(&Shape::Text);
/// A tag, keyword, domain, role or relation; see [`crate::label`].
const LABEL: Shape = Shape::Custom(&Rule {
    expected: label::EXPECTED,
    check: |node| node.text().filter(|text| label::is_label(text)).map(drop).ok_or_else(Fault::default),
});
/// A list of labels.
const LABELS: Shape = Shape::ShortList(&LABEL);
/// A date or time; see [`crate::time`].
const TIME: Shape = Shape::Custom(&Rule {
    expected: time::EXPECTED,
    check: |node| match node.text() {
        Some(text) if time::unix_seconds(text).is_some() => Ok(()),
        text => Err(Fault { help: text.and_then(time::help), ..Fault::default() }),
    },
});
/// The target of a link, which is the id of an entry or chunk.
const TARGET: Shape = Shape::Custom(&Rule {
    expected: "an id such as `know:stripe-api`",
    check: |node| match node.text().ok_or_else(Fault::default).map(id::target_problem)? {
        None => Ok(()),
        message => Err(Fault { code: Some(code::INVALID_ID), message, help: None }),
    },
});
/// A list of the first and the last line.
const LINE_RANGE: Shape = Shape::Custom(&Rule {
    expected: "the first and the last line, two ascending integers ≥ 1",
    check: |node| {
        let lines: Option<Vec<u32>> = node.items().iter().map(Node::number).collect();
        let is_range = lines.is_some_and(|lines| matches!(lines[..], [first, last] if (1..=last).contains(&first)));
        if is_range { Ok(()) } else { Err(Fault::default()) }
    },
});

/// Fields that other tools store in entries, but that this program computes.
const COMPUTED: [&str; 7] = [
    "access_count",
    "activation",
    "base_level_activation",
    "created_at",
    "is_pattern",
    "last_accessed",
    "spreading_activation",
];

/// The valid values of `governance.lifespan_policy`.
pub(crate) const LIFESPAN_POLICIES: &[&str] = &["conditional", "time-based", "indefinite"];

/// Returns the fields of an entry of a kind.
pub(crate) fn entry_fields(kind: Kind) -> &'static Group {
    match kind {
        Kind::Reasoning => &REASONING,
        Kind::Knowledge => &KNOWLEDGE,
        Kind::Note => &NOTE,
        Kind::Turn => &TURN,
        Kind::Code => &CODE,
    }
}

static REASONING: Group = root(&entry(Field::required("content", Shape::Object(&REASONING_CONTENT))));
static KNOWLEDGE: Group = root(&entry(Field::required("content", Shape::Object(&KNOWLEDGE_CONTENT))));
static NOTE: Group = root(&entry(Field::required("content", Shape::Object(&NOTE_CONTENT))));
static TURN: Group = root(&entry(Field::required("content", Shape::Object(&TURN_CONTENT))));
// `content` is optional, because an entry that only adds metadata to a piece of code needs only the id of the code.
static CODE: Group = root(&entry(Field::optional("content", Shape::Object(&CODE_CONTENT))));

const fn root(fields: &'static [Field]) -> Group {
    Group { hint, ..Group::closed(fields) }
}

/// Returns a hint for an unknown field of an entry.
fn hint(name: &str) -> Option<String> {
    match name {
        "chunk_id" => Some("did you mean `id`?".to_owned()),
        name => COMPUTED.contains(&name).then(|| "leave it out: memory computes it".to_owned()),
    }
}

const fn entry(content: Field) -> [Field; 6] {
    [
        Field::optional("id", Shape::Text),
        Field::optional("type", Shape::Text),
        content,
        Field::optional("metadata", Shape::Object(&METADATA)),
        Field::optional("governance", Shape::Object(&GOVERNANCE)),
        Field::optional("conversation_log_reference", Shape::Object(&LOG_REFERENCE)),
    ]
}

static REASONING_CONTENT: Group = Group::open(&[
    Field::optional("pattern", Shape::Filled),
    Field::optional("original_query", Shape::Text),
    Field::optional("complexity", Shape::Text),
    Field::optional("subgoals", Shape::List(&Shape::Object(&SUBGOAL))),
    Field::optional("tools_used", Shape::List(&Shape::Object(&TOOL_USE))),
    Field::optional("tool_sequence", TEXTS),
    Field::required("success_score", SCORE),
    Field::optional("verification_option", Shape::Text),
]);

static SUBGOAL: Group = Group::open(&[
    Field::optional("id", Shape::Text),
    Field::optional("description", Shape::Text),
    Field::optional("agent", Shape::Text),
]);

static TOOL_USE: Group = Group::open(&[
    Field::optional("subgoal", Shape::Text),
    Field::optional("agent", Shape::Text),
    Field::optional("tools", TEXTS),
]);

static KNOWLEDGE_CONTENT: Group = Group::open(&[
    Field::optional("title", Shape::Filled),
    Field::optional("topic", Shape::Filled),
    Field::optional("summary", Shape::Filled),
    Field::optional("facts", Shape::List(&Shape::Object(&FACT))),
    Field::optional("sources", TEXTS),
    Field::optional("confidence", SCORE),
]);

static FACT: Group = Group::open(&[Field::optional("id", Shape::Text), Field::required("statement", Shape::Filled)]);

static NOTE_CONTENT: Group =
    Group::open(&[Field::optional("title", Shape::Filled), Field::required("text", Shape::Filled)]);

static TURN_CONTENT: Group = Group::open(&[Field::optional("role", LABEL), Field::required("text", Shape::Filled)]);

static CODE_CONTENT: Group = Group::open(&[
    Field::optional("file", Shape::Filled),
    Field::optional("function", Shape::Text),
    Field::optional("line_start", LINE),
    Field::optional("line_end", LINE),
    Field::optional("signature", Shape::Text),
    Field::optional("text", Shape::Text),
    Field::optional("dependencies", TEXTS),
    Field::optional("imports", TEXTS),
    Field::optional("calls", TEXTS),
]);

static METADATA: Group = Group::open(&[
    Field::optional("timestamp", TIME),
    Field::optional("created", TIME),
    Field::optional("acquired", TIME),
    Field::optional("last_modified", TIME),
    Field::optional("semantic_role", LABEL),
    Field::optional("keywords", LABELS),
    Field::optional("domain", LABEL),
    Field::optional("derived", TEXTS),
    Field::optional("links", Shape::ShortList(&Shape::Object(&LINK))),
    Field::optional("session", LABEL),
    Field::optional("language", LABEL),
    Field::optional("git_hash", Shape::Text),
    Field::optional("validated", Shape::Flag),
    Field::optional("usage_count", Shape::Integer(0, u64::MAX)),
    Field::optional("execution_time_ms", AMOUNT),
    Field::optional("total_cost_usd", AMOUNT),
]);

static LINK: Group = Group::closed(&[
    Field::required("to", TARGET),
    Field::optional("relation", LABEL),
    Field::optional("weight", SCORE),
]);

// Unknown fields are errors, because a misspelled rule or policy would otherwise have no effect without a message.
static GOVERNANCE: Group = Group::closed(&[
    Field::optional("compliance_tags", LABELS),
    Field::optional("lifespan_policy", Shape::OneOf(LIFESPAN_POLICIES)),
    Field::optional("retention_rules", Shape::ShortList(&Shape::Object(&RETENTION_RULE))),
]);

static RETENTION_RULE: Group =
    Group::closed(&[Field::required("if", Shape::Filled), Field::required("then", Shape::Filled)]);

static LOG_REFERENCE: Group = Group::open(&[
    Field::optional("date", TIME),
    Field::optional("file", Shape::Filled),
    Field::optional("section", Shape::Text),
    Field::optional("line_range", LINE_RANGE),
]);
