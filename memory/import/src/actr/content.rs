//! The parts of a chunk, as the sections of an entry.

use std::path::Path;

use aurora_memory_schema::Kind;
use serde_json::{Map, Value, json};

use super::fields::{Fields, Shape, text_of};
use super::ids::Ids;

/// What the sections of an entry depend on.
#[derive(Clone, Copy)]
pub(super) struct Context<'c> {
    pub(super) ids: &'c Ids,
    /// See [`super::options::ActrOptions`].
    pub(super) root: Option<&'c Path>,
}

/// The sections of an entry.
#[derive(Default)]
pub(super) struct Sections {
    pub(super) content: Map<String, Value>,
    pub(super) metadata: Map<String, Value>,
    /// `conversation_log_reference`.
    pub(super) reference: Map<String, Value>,
    /// The id of the chunk that this one is a part of.
    pub(super) parent: Option<String>,
    /// What is left out, each in a sentence.
    pub(super) lost: Vec<String>,
}

/// The sections of an entry of a kind.
pub(super) fn sections(
    kind: Kind,
    content: Map<String, Value>,
    metadata: Map<String, Value>,
    cx: Context<'_>,
) -> Sections {
    let mut sections = Sections::default();
    let mut fields = Fields::new("content", content);
    match kind {
        Kind::Code => code(&mut fields, cx),
        Kind::Reasoning => reasoning(&mut fields),
        Kind::Knowledge | Kind::Note | Kind::Turn => sections.parent = knowledge(&mut fields, cx),
    }
    let (content, mut lost) = fields.finish();
    let mut fields = Fields::new("metadata", metadata);
    if let Some(file) = self::metadata(&mut fields) {
        sections.reference.insert("file".to_owned(), file.into());
    }
    let (metadata, more) = fields.finish();
    lost.extend(more);
    Sections { content, metadata, lost, ..sections }
}

fn code(fields: &mut Fields, cx: Context<'_>) {
    if let Some(file) = fields.take_text("file") {
        fields.set("file", relative(file, cx.root));
    }
    if let Some(text) = fields.take_text("docstring") {
        fields.set("text", text);
    }
    for (field, shape) in [
        ("function", Shape::Filled),
        ("line_start", Shape::Line),
        ("line_end", Shape::Line),
        ("signature", Shape::Filled),
        ("text", Shape::Filled),
        ("imports", Shape::Texts),
        ("calls", Shape::Texts),
    ] {
        fields.keep(field, shape);
    }
    match fields.take("dependencies") {
        Some(Value::Array(chunks)) if chunks.is_empty() => {}
        Some(Value::Array(chunks)) => {
            let known = |chunk: &Value| Some(cx.ids.get(chunk.as_str()?)?.to_owned().into());
            let dependencies = chunks.into_iter().map(|chunk| known(&chunk).unwrap_or(chunk));
            let (texts, others): (Vec<Value>, Vec<Value>) = dependencies.partition(Value::is_string);
            fields.set("dependencies", texts);
            if !others.is_empty() {
                fields.lose("dependencies");
            }
        }
        Some(_) => fields.lose("dependencies"),
        None => {}
    }
}

fn reasoning(fields: &mut Fields) {
    for (field, shape) in [
        ("pattern", Shape::Filled),
        ("original_query", Shape::Filled),
        ("complexity", Shape::Filled),
        ("verification_option", Shape::Filled),
    ] {
        fields.keep(field, shape);
    }
    objects(fields, "subgoals", |item| match item {
        Value::String(text) => Some(json!({ "description": text })),
        Value::Object(subgoal) => Some(with_texts(subgoal, &["id", "description", "agent"])),
        _ => None,
    });
    tools_used(fields);
    tool_sequence(fields);
}

/// Names of tools are those of one use; objects stay.
fn tools_used(fields: &mut Fields) {
    let items = match fields.take("tools_used") {
        Some(Value::Array(items)) => items,
        Some(_) => return fields.lose("tools_used"),
        None => return,
    };
    let (names, others): (Vec<Value>, Vec<Value>) = items.into_iter().partition(Value::is_string);
    let mut uses = Vec::new();
    if !names.is_empty() {
        uses.push(json!({ "tools": names }));
    }
    for other in others {
        match other {
            Value::Object(used) if used.get("tools").is_none_or(is_texts) => {
                uses.push(with_texts(used, &["subgoal", "agent"]));
            }
            _ => fields.lose("tools_used"),
        }
    }
    if !uses.is_empty() {
        fields.set("tools_used", uses);
    }
}

/// A sequence of calls becomes one of names; the calls stay beside it.
fn tool_sequence(fields: &mut Fields) {
    let items = match fields.take("tool_sequence") {
        Some(Value::Array(items)) if items.is_empty() => return,
        Some(Value::Array(items)) => items,
        Some(_) => return fields.lose("tool_sequence"),
        None => return,
    };
    let name = |item: &Value| {
        let named = ["tool", "name", "tool_name"].iter().find_map(|field| item.get(field)?.as_str());
        item.as_str().or(named).map(Value::from)
    };
    let names: Vec<Value> = items.iter().filter_map(name).collect();
    if names.len() < items.len() || !items.iter().all(Value::is_string) {
        fields.set("tool_calls", items);
    }
    fields.set("tool_sequence", names);
}

/// A section of a document, or facts; returns the id of the chunk that it is a part of.
fn knowledge(fields: &mut Fields, cx: Context<'_>) -> Option<String> {
    for (field, shape) in
        [("title", Shape::Filled), ("topic", Shape::Filled), ("summary", Shape::Filled), ("sources", Shape::Texts)]
    {
        fields.keep(field, shape);
    }
    let docstring = fields.take_text("docstring");
    if docstring.is_some() {
        // A section in the shape of a piece of code: these say nothing of it.
        for field in ["signature", "dependencies", "ast_summary", "line_start", "line_end"] {
            fields.take(field);
        }
    }
    let path = fields.take("section_path").filter(is_texts);
    let path = path.as_ref().and_then(Value::as_array).map(|parts| {
        let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
        parts.join(" > ")
    });
    let name = fields.take_text("name").or(fields.take_text("function"));
    let topic = path.filter(|path| !path.trim().is_empty()).or(name);
    let summary = fields.take_text("text").or(docstring);
    let source = fields.take_text("file_path").or(fields.take_text("file")).map(|file| relative(file, cx.root));
    fields.default("topic", topic);
    fields.default("summary", summary);
    fields.default("sources", source.map(|source| vec![source]));
    objects(fields, "facts", |item| match item {
        Value::String(text) => Some(json!({ "statement": text })),
        Value::Object(fact) => Some(with_texts(fact, &["id", "statement"])),
        _ => None,
    });
    fields.take_text("parent_chunk_id")
}

/// Fits the fields of `metadata`; returns the file of the conversation's log.
fn metadata(fields: &mut Fields) -> Option<String> {
    if let Some(created) = fields.take("created_at") {
        fields.default("created", Some(created));
    }
    if let Some(updated) = fields.take("updated_at") {
        fields.default("last_modified", Some(updated));
    }
    for (field, shape) in [
        ("created", Shape::Time),
        ("timestamp", Shape::Time),
        ("acquired", Shape::Time),
        ("last_modified", Shape::Time),
        ("semantic_role", Shape::Label),
        ("keywords", Shape::Labels),
        ("domain", Shape::Label),
        ("derived", Shape::Texts),
        ("session", Shape::Label),
        ("language", Shape::Label),
        ("git_hash", Shape::Text),
        ("validated", Shape::Flag),
        ("usage_count", Shape::Count),
        ("execution_time_ms", Shape::Amount),
        ("total_cost_usd", Shape::Amount),
    ] {
        fields.keep(field, shape);
    }
    if fields.take("links").is_some() {
        fields.lose("links");
    }
    fields.take_text("log_file")
}

/// Keeps a list of objects.
fn objects(fields: &mut Fields, field: &str, fit: impl Fn(Value) -> Option<Value>) {
    match fields.take(field) {
        Some(Value::Array(items)) if items.is_empty() => {}
        Some(Value::Array(items)) => {
            let count = items.len();
            let kept: Vec<Value> = items.into_iter().filter_map(fit).collect();
            if kept.len() < count {
                fields.lose(field);
            }
            fields.set(field, kept);
        }
        Some(_) => fields.lose(field),
        None => {}
    }
}

/// An object in which some fields are texts, or missing.
fn with_texts(mut object: Map<String, Value>, names: &[&str]) -> Value {
    for name in names {
        if let Some(text) = object.remove(*name).and_then(text_of) {
            object.insert((*name).to_owned(), text);
        }
    }
    Value::Object(object)
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|values| values.iter().all(Value::is_string))
}

/// A path that is relative to the root, if it lies below.
fn relative(file: String, root: Option<&Path>) -> String {
    let below = root.and_then(|root| Path::new(&file).strip_prefix(root).ok()?.to_str());
    match below {
        Some(path) if !path.is_empty() => path.replace('\\', "/"),
        _ => file,
    }
}
