//! The texts of an entry that searches use and display.

use std::fmt::Write as _;

use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

use crate::entry::Entry;
use crate::kind::Kind;

/// The searchable texts of an entry.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Searchable {
    /// The title, as one line.
    pub title: String,
    /// The text to index. It consists of labelled lines (`Pattern: …`), or is the unchanged text of a note or turn.
    pub text: String,
    /// A short description. It is the query of reasoning or the summary of knowledge, and empty for other kinds.
    pub doc: String,
    /// Names that are searched verbatim, without duplicates. The first names are the keywords. The tools of reasoning,
    /// or the calls, imports and dependencies of code, follow.
    pub terms: Vec<String>,
}

/// Returns the texts of an entry that searches use and display.
pub fn searchable(entry: &Entry) -> Searchable {
    let text = match entry.kind() {
        Kind::Reasoning => reasoning(entry),
        Kind::Knowledge => knowledge(entry),
        Kind::Note | Kind::Turn => entry.text("content", "text").unwrap_or_default().to_owned(),
        Kind::Code => code(entry),
    };
    let doc = match entry.kind() {
        Kind::Reasoning => entry.text("content", "original_query"),
        Kind::Knowledge => entry.text("content", "summary"),
        Kind::Note | Kind::Turn | Kind::Code => None,
    };
    let doc = doc.unwrap_or_default().to_owned();
    Searchable { title: entry.title(), text, doc, terms: terms(entry) }
}

/// Returns the text of an entry in a form that is equal for texts that differ only in case, white space or the encoding
/// of characters.
pub fn normalized_text(entry: &Entry) -> String {
    normalized(&searchable(entry).text)
}

/// Returns a text in lower case, in the Unicode normalisation form KC, with one space between words.
pub fn normalized(text: &str) -> String {
    let text: String = match text.is_ascii() {
        true => text.to_ascii_lowercase(),
        false => text.nfkc().flat_map(char::to_lowercase).collect(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn reasoning(entry: &Entry) -> String {
    let mut lines = Lines::default();
    lines.field(entry, "Pattern", "pattern");
    lines.field(entry, "Query", "original_query");
    lines.metadata(entry);
    for subgoal in objects(entry, "subgoals") {
        let text = |field| subgoal.get(field).and_then(Value::as_str).unwrap_or_default();
        let agent = Some(text("agent")).filter(|agent| !agent.is_empty()).map(|agent| format!(" ({agent})"));
        let label = Some(text("id")).filter(|id| !id.is_empty()).unwrap_or("Subgoal");
        lines.add(label, &format!("{}{}", text("description"), agent.unwrap_or_default()));
    }
    lines.add("Tools", &entry.tools().join(", "));
    lines.text()
}

fn knowledge(entry: &Entry) -> String {
    let mut lines = Lines::default();
    lines.field(entry, "Title", "title");
    lines.field(entry, "Topic", "topic");
    lines.field(entry, "Summary", "summary");
    lines.metadata(entry);
    for fact in objects(entry, "facts") {
        let text = |field| fact.get(field).and_then(Value::as_str).unwrap_or_default();
        lines.add(Some(text("id")).filter(|id| !id.is_empty()).unwrap_or("Fact"), text("statement"));
    }
    lines.add("Sources", &entry.texts("content", "sources").join(", "));
    lines.text()
}

fn code(entry: &Entry) -> String {
    let mut lines = Lines::default();
    lines.field(entry, "File", "file");
    lines.field(entry, "Function", "function");
    lines.field(entry, "Signature", "signature");
    lines.metadata(entry);
    lines.add("Calls", &entry.texts("content", "calls").join(", "));
    let text = entry.text("content", "text").unwrap_or_default();
    [lines.text().as_str(), text].iter().filter(|part| !part.is_empty()).copied().collect::<Vec<_>>().join("\n")
}

fn objects<'e>(entry: &'e Entry, field: &str) -> impl Iterator<Item = &'e Value> {
    entry.field("content", field).and_then(Value::as_array).into_iter().flatten()
}

impl Entry {
    /// Returns the tools of reasoning, in the order of their first use and without duplicates.
    pub fn tools(&self) -> Vec<&str> {
        let in_subgoals = objects(self, "tools_used").flat_map(|used| crate::entry::strings(used.get("tools")));
        unique(self.texts("content", "tool_sequence").into_iter().chain(in_subgoals))
    }
}

fn terms(entry: &Entry) -> Vec<String> {
    let names = match entry.kind() {
        Kind::Reasoning => entry.tools(),
        Kind::Code => {
            ["calls", "imports", "dependencies"].iter().flat_map(|field| entry.texts("content", field)).collect()
        }
        Kind::Knowledge | Kind::Note | Kind::Turn => Vec::new(),
    };
    unique(entry.keywords().into_iter().chain(names)).into_iter().map(str::to_owned).collect()
}

fn unique<'e>(names: impl Iterator<Item = &'e str>) -> Vec<&'e str> {
    let mut seen = std::collections::HashSet::new();
    names.filter(|name| !name.trim().is_empty() && seen.insert(*name)).collect()
}

/// A builder of labelled lines. It omits empty values.
#[derive(Default)]
struct Lines(String);

impl Lines {
    fn add(&mut self, label: &str, value: &str) {
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        if !value.is_empty() {
            // Writing to a string does not fail.
            let _ = writeln!(self.0, "{label}: {value}");
        }
    }

    fn field(&mut self, entry: &Entry, label: &str, name: &str) {
        self.add(label, entry.text("content", name).unwrap_or_default());
    }

    fn metadata(&mut self, entry: &Entry) {
        self.add("Role", entry.semantic_role().unwrap_or_default());
        self.add("Domain", entry.domain().unwrap_or_default());
        self.add("Keywords", &entry.keywords().join(", "));
    }

    fn text(mut self) -> String {
        self.0.truncate(self.0.trim_end().len());
        self.0
    }
}
