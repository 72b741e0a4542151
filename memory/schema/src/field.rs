//! The fields of an entry and the rules for their values.
//!
//! The files in `schemas/` define the same fields as JSON Schemas; a test compares the names.

use crate::kind::Kind;

/// A field of an object.
#[derive(Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) shape: Shape,
    pub(crate) is_required: bool,
}

/// The rule for a value.
#[derive(Clone, Copy)]
pub(crate) enum Shape {
    /// The id of the entry.
    Id,
    /// The id of an entry or chunk that a link leads to.
    Target,
    /// The name of the entry's kind.
    KindName,
    /// A string.
    Text,
    /// A string that is not blank.
    Filled,
    /// A tag, keyword, domain, role or relation; see [`crate::label`].
    Label,
    /// One of these strings.
    OneOf(&'static [&'static str]),
    /// A number from 0 to 1.
    Score,
    /// A number ≥ 0.
    Amount,
    /// An integer ≥ 0.
    Count,
    /// A line number: an integer ≥ 1.
    Line,
    /// First and last line.
    LineRange,
    /// `true` or `false`.
    Flag,
    /// A date or time; see [`crate::time`].
    Time,
    /// A list of strings.
    Texts,
    /// A list of at most 256 labels.
    Labels,
    /// A list of objects.
    Objects(&'static Group),
    /// A list of at most 256 objects.
    FewObjects(&'static Group),
    /// An object.
    Object(&'static Group),
}

/// The fields of an object.
pub(crate) struct Group {
    pub(crate) fields: &'static [Field],
    /// Whether other fields are mistakes. In an open group they are kept unchanged.
    pub(crate) is_closed: bool,
}

impl Group {
    /// Returns the field with this name.
    pub(crate) fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the names of all fields.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|field| field.name)
    }
}

/// The values of `governance.lifespan_policy`.
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

static REASONING: Group = closed(&entry(required("content", Shape::Object(&REASONING_CONTENT))));
static KNOWLEDGE: Group = closed(&entry(required("content", Shape::Object(&KNOWLEDGE_CONTENT))));
static NOTE: Group = closed(&entry(required("content", Shape::Object(&NOTE_CONTENT))));
static TURN: Group = closed(&entry(required("content", Shape::Object(&TURN_CONTENT))));
// `content` is optional, because a note about a piece of code needs only the id of the code.
static CODE: Group = closed(&entry(optional("content", Shape::Object(&CODE_CONTENT))));

const fn entry(content: Field) -> [Field; 6] {
    [
        optional("id", Shape::Id),
        optional("type", Shape::KindName),
        content,
        optional("metadata", Shape::Object(&METADATA)),
        optional("governance", Shape::Object(&GOVERNANCE)),
        optional("conversation_log_reference", Shape::Object(&LOG_REFERENCE)),
    ]
}

static REASONING_CONTENT: Group = open(&[
    optional("pattern", Shape::Filled),
    optional("original_query", Shape::Text),
    optional("complexity", Shape::Text),
    optional("subgoals", Shape::Objects(&SUBGOAL)),
    optional("tools_used", Shape::Objects(&TOOL_USE)),
    optional("tool_sequence", Shape::Texts),
    required("success_score", Shape::Score),
    optional("verification_option", Shape::Text),
]);

static SUBGOAL: Group =
    open(&[optional("id", Shape::Text), optional("description", Shape::Text), optional("agent", Shape::Text)]);

static TOOL_USE: Group =
    open(&[optional("subgoal", Shape::Text), optional("agent", Shape::Text), optional("tools", Shape::Texts)]);

static KNOWLEDGE_CONTENT: Group = open(&[
    optional("title", Shape::Filled),
    optional("topic", Shape::Filled),
    optional("summary", Shape::Filled),
    optional("facts", Shape::Objects(&FACT)),
    optional("sources", Shape::Texts),
    optional("confidence", Shape::Score),
]);

static FACT: Group = open(&[optional("id", Shape::Text), required("statement", Shape::Filled)]);

static NOTE_CONTENT: Group = open(&[optional("title", Shape::Filled), required("text", Shape::Filled)]);

static TURN_CONTENT: Group = open(&[optional("role", Shape::Label), required("text", Shape::Filled)]);

static CODE_CONTENT: Group = open(&[
    optional("file", Shape::Filled),
    optional("function", Shape::Text),
    optional("line_start", Shape::Line),
    optional("line_end", Shape::Line),
    optional("signature", Shape::Text),
    optional("text", Shape::Text),
    optional("dependencies", Shape::Texts),
    optional("imports", Shape::Texts),
    optional("calls", Shape::Texts),
]);

static METADATA: Group = open(&[
    optional("timestamp", Shape::Time),
    optional("created", Shape::Time),
    optional("acquired", Shape::Time),
    optional("last_modified", Shape::Time),
    optional("semantic_role", Shape::Label),
    optional("keywords", Shape::Labels),
    optional("domain", Shape::Label),
    optional("derived", Shape::Texts),
    optional("links", Shape::FewObjects(&LINK)),
    optional("session", Shape::Label),
    optional("language", Shape::Label),
    optional("git_hash", Shape::Text),
    optional("validated", Shape::Flag),
    optional("usage_count", Shape::Count),
    optional("execution_time_ms", Shape::Amount),
    optional("total_cost_usd", Shape::Amount),
]);

static LINK: Group =
    closed(&[required("to", Shape::Target), optional("relation", Shape::Label), optional("weight", Shape::Score)]);

// Closed, because a mistyped rule or policy would silently have no effect.
static GOVERNANCE: Group = closed(&[
    optional("compliance_tags", Shape::Labels),
    optional("lifespan_policy", Shape::OneOf(LIFESPAN_POLICIES)),
    optional("retention_rules", Shape::FewObjects(&RETENTION_RULE)),
]);

static RETENTION_RULE: Group = closed(&[required("if", Shape::Filled), required("then", Shape::Filled)]);

static LOG_REFERENCE: Group = open(&[
    optional("date", Shape::Time),
    optional("file", Shape::Filled),
    optional("section", Shape::Text),
    optional("line_range", Shape::LineRange),
]);

const fn optional(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, is_required: false }
}

const fn required(name: &'static str, shape: Shape) -> Field {
    Field { name, shape, is_required: true }
}

const fn open(fields: &'static [Field]) -> Group {
    Group { fields, is_closed: false }
}

const fn closed(fields: &'static [Field]) -> Group {
    Group { fields, is_closed: true }
}
