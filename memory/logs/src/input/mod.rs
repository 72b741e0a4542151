//! Reads interactions from JSON. All mistakes are reported at once, each with its line and its JSON path.

use aurora_diagnostics::document::{Document, Fault, Field, Form, Group, Node, Report, Rule, Shape, Value, check};
use aurora_diagnostics::{Diagnostics, code};
use serde::de::IgnoredAny;

use crate::heading::{TITLE_RULE, is_title};
use crate::interaction::{Interaction, JsonText, Phase, Sections};
use crate::query_id::QueryId;
use crate::rfc_3339::rfc_3339;

/// Limits and error codes for the JSON of an interaction.
const FORM: Form = Form {
    noun: "an interaction",
    syntax: code::SYNTAX,
    unknown: code::UNKNOWN_KEY,
    invalid: code::INVALID_VALUE,
    missing: code::MISSING_KEY,
    duplicate: code::INVALID_VALUE,
    limit: code::INVALID_VALUE,
    max_depth: 128,
    // Three levels are parsed: the root, the lists and the summary in it, and the objects in the lists. The output of a
    // phase is not parsed.
    levels: 3,
    max_text_bytes: usize::MAX,
    max_list_values: usize::MAX,
    null_is_missing: true,
    limits_all_values: false,
};

static INTERACTION: Group = Group::closed(&[
    Field::required("query", Shape::Filled),
    Field::optional("id", ID),
    Field::optional("timestamp", TIME),
    Field::required("phases", PHASES),
    Field::optional("interactions", EXCHANGES),
    Field::optional("response", Shape::Text),
    Field::optional("summary", Shape::Object(&SUMMARY)),
]);

static ADDITION: Group = Group::closed(&[
    Field::optional("phases", PHASES),
    Field::optional("interactions", EXCHANGES),
    Field::optional("response", Shape::Text),
    Field::optional("summary", Shape::Object(&SUMMARY)),
]);

const PHASES: Shape = Shape::List(&Shape::Object(&PHASE));
static PHASE: Group = Group::closed(&[
    Field::optional("number", Shape::Integer(1, 999)),
    Field::required("name", NAME),
    Field::optional("text", Shape::Text),
    Field::required("output", Shape::Any),
]);

const EXCHANGES: Shape = Shape::List(&Shape::Object(&EXCHANGE));
static EXCHANGE: Group = Group {
    rule: |exchange| {
        let has = |key| exchange.get(key).is_some_and(|value| !value.is_null());
        let is_exchange = has("agent") && has("user") || (has("question") || has("user")) && has("answer");
        (!is_exchange).then(|| "must have `agent` and `user`, or `question` and `answer`".to_owned())
    },
    ..Group::open(&[
        Field::optional("agent", Shape::Text),
        Field::optional("user", Shape::Text),
        Field::optional("question", Shape::Text),
        Field::optional("answer", Shape::Text),
    ])
};

const AMOUNT: Shape = Shape::Number(0.0, f64::MAX);
static SUMMARY: Group = Group::open(&[
    Field::optional("duration_ms", AMOUNT),
    Field::optional("cost_usd", AMOUNT),
    Field::optional("verification_score", Shape::Number(0.0, 1.0)),
    Field::optional("complexity", Shape::Text),
    Field::optional("tokens", TOKENS),
]);

const ID: Shape = Shape::Custom(&Rule {
    expected: "a string",
    check: |node| match QueryId::parse(node.text().ok_or_else(Fault::default)?) {
        Ok(_) => Ok(()),
        Err(error) => Err(Fault { message: Some(error.to_string()), ..Fault::default() }),
    },
});
const TIME: Shape = Shape::Custom(&Rule {
    expected: "a time with an offset as in RFC 3339, from 1970 to 9999, such as 2025-12-13T14:32:15Z",
    check: |node| node.text().and_then(rfc_3339).map(drop).ok_or_else(Fault::default),
});
/// The name of a phase. If it is written as a heading and read back, it must be unchanged.
const NAME: Shape = Shape::Custom(&Rule {
    expected: TITLE_RULE,
    check: |node| node.text().filter(|name| is_title(name.trim())).map(drop).ok_or_else(Fault::default),
});
const TOKENS: Shape = Shape::Custom(&Rule {
    expected: "a number ≥ 0, or an object",
    check: |node| match node.value {
        Value::Table(_) => Ok(()),
        _ => node.number().filter(|tokens: &f64| *tokens >= 0.0).map(drop).ok_or_else(Fault::default),
    },
});

/// Reads an interaction from JSON:
///
/// ```json
/// {"query": "…", "id": "…", "timestamp": "2025-12-13T14:32:15Z",
///  "phases": [{"number": 1, "name": "ASSESS", "text": "…", "output": {}}],
///  "interactions": [{"agent": "…", "user": "…"}, {"question": "…", "answer": "…"}],
///  "response": "…", "summary": {"duration_ms": 12785, "complexity": "complex", "verification_score": 0.93}}
/// ```
///
/// The fields `query` and `phases` are required, and each phase requires `name` and `output`. A field whose value is
/// `null` counts as missing, except for `output`. Messages contain the parameter `name` as the name of the text.
///
/// # Errors
/// Returns all mistakes, in the order of their position in the text.
pub fn interaction(name: &str, text: &[u8]) -> Result<Interaction, Diagnostics> {
    read(name, text, &INTERACTION, |document| {
        let text = |key| document.root.get(key).and_then(Node::text);
        Interaction {
            query: text("query").unwrap_or_default().to_owned(),
            id: text("id").and_then(|id| QueryId::parse(id).ok()),
            time: text("timestamp").and_then(rfc_3339),
            sections: sections(document),
        }
    })
}

/// Reads sections to append to a log. The format is the format of [`interaction`] without `query`, `id` and
/// `timestamp`. All fields are optional, but at least one section is required.
///
/// # Errors
/// Returns all mistakes, in the order of their position in the text.
pub fn additions(name: &str, text: &[u8]) -> Result<Sections, Diagnostics> {
    let sections = read(name, text, &ADDITION, sections)?;
    if sections.is_empty() {
        let mut report = Report::new(name, "");
        let names: Vec<String> = ADDITION.names().map(|name| format!("`{name}`")).collect();
        let message = format!("the JSON adds nothing: give at least one of {}", names.join(", "));
        report.error(code::MISSING_KEY, 0..0, message, None);
        report.finish()?;
    }
    Ok(sections)
}

fn read<T>(
    name: &str,
    bytes: &[u8],
    group: &'static Group,
    convert: impl FnOnce(&Document<'_>) -> T,
) -> Result<T, Diagnostics> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let (text, is_utf8) = match std::str::from_utf8(bytes) {
        Ok(text) => (text, true),
        Err(error) => (std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(), false),
    };
    let mut report = Report::new(name, text);
    let mut document = None;
    if !is_utf8 {
        report.error(code::SYNTAX, text.len()..text.len(), "the text is not UTF-8", None);
    } else if let Some((found, IgnoredAny)) = Document::from_json(&mut report, &FORM) {
        check(&mut report, &FORM, &found, group);
        document = Some(found);
    }
    report.finish()?;
    document.map(|document| convert(&document)).ok_or_else(Diagnostics::default)
}

fn sections(document: &Document<'_>) -> Sections {
    let root = &document.root;
    let json = |node: &Node<'_>| JsonText::new(document.raw(node));
    let phase = |phase: &Node<'_>| Phase {
        number: phase.get("number").and_then(Node::number),
        name: phase.get("name").and_then(Node::text).unwrap_or_default().trim().to_owned(),
        text: phase.get("text").and_then(Node::text).map(str::to_owned),
        output: phase.get("output").map_or_else(|| JsonText::new("null"), json),
    };
    let figures = root.get("summary").map_or(&[][..], Node::entries).iter().filter(|entry| !entry.node.is_null());
    Sections {
        phases: root.get("phases").map_or(&[][..], Node::items).iter().map(phase).collect(),
        exchanges: root.get("interactions").filter(|list| !list.items().is_empty()).map(json),
        response: root.get("response").and_then(Node::text).map(str::to_owned),
        summary: figures.map(|entry| (entry.key.to_string(), json(&entry.node))).collect(),
    }
}

#[cfg(test)]
mod tests;
