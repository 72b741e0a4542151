//! Selects the texts of an entry from which its metadata is derived.

use std::borrow::Cow;

use serde_json::Value;

use crate::entry::{Entry, strings};
use crate::kind::Kind;

/// The prominence of a text in an entry, from the most to the least prominent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Prominence {
    Title,
    Topic,
    Body,
}

impl Prominence {
    /// All values, from the most to the least prominent.
    pub(super) const ALL: [Self; 3] = [Self::Title, Self::Topic, Self::Body];

    /// Returns the weight of one occurrence of a word in a text of this prominence.
    pub(super) fn weight(self) -> u64 {
        match self {
            Self::Title => 4,
            Self::Topic => 2,
            Self::Body => 1,
        }
    }
}

/// A text of an entry, with its prominence.
pub(super) struct Passage<'e> {
    pub(super) prominence: Prominence,
    pub(super) text: Cow<'e, str>,
}

/// Returns the texts of an entry in a fixed order, which does not depend on the order of the document's keys.
///
/// Omits tools, sources and names of agents, because they describe the origin of the entry, not its subject. Omits the
/// signature and the text of code, because most of their words belong to the programming language.
pub(super) fn passages(entry: &Entry) -> Vec<Passage<'_>> {
    let mut texts = Texts { entry, found: Vec::new() };
    match entry.kind() {
        Kind::Reasoning => {
            texts.field(Prominence::Title, "pattern");
            texts.field(Prominence::Topic, "original_query");
            texts.objects("subgoals", "description");
        }
        Kind::Knowledge => {
            texts.field(Prominence::Title, "title");
            texts.field(Prominence::Topic, "topic");
            texts.field(Prominence::Body, "summary");
            texts.objects("facts", "statement");
        }
        Kind::Note => {
            if let Some(title) = entry.title_for_id() {
                texts.add(Prominence::Title, title);
            }
            texts.field(Prominence::Body, "text");
        }
        Kind::Turn => texts.field(Prominence::Body, "text"),
        Kind::Code => {
            texts.field(Prominence::Title, "function");
            if let Some(file) = entry.text("content", "file") {
                texts.add(Prominence::Topic, without_extension(file));
            }
            texts.list("calls");
        }
    }
    texts.found
}

struct Texts<'e> {
    entry: &'e Entry,
    found: Vec<Passage<'e>>,
}

impl<'e> Texts<'e> {
    fn add(&mut self, prominence: Prominence, text: impl Into<Cow<'e, str>>) {
        self.found.push(Passage { prominence, text: text.into() });
    }

    fn field(&mut self, prominence: Prominence, name: &str) {
        if let Some(text) = self.entry.text("content", name) {
            self.add(prominence, text);
        }
    }

    fn list(&mut self, name: &str) {
        for text in strings(self.entry.field("content", name)) {
            self.add(Prominence::Body, text);
        }
    }

    fn objects(&mut self, name: &str, field: &str) {
        let objects = self.entry.field("content", name).and_then(Value::as_array).into_iter().flatten();
        for text in objects.filter_map(|object| object.get(field)?.as_str()) {
            self.add(Prominence::Body, text);
        }
    }
}

fn without_extension(file: &str) -> &str {
    let name = file.rfind('/').map_or(0, |slash| slash + 1);
    file[name..].rfind('.').map_or(file, |dot| &file[..name + dot])
}
