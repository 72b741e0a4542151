//! The texts of an entry that its metadata is derived from.

use std::borrow::Cow;

use serde_json::Value;

use crate::entry::{Entry, strings};
use crate::kind::Kind;

/// Where a text stands in an entry, from the most telling place to the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Standing {
    Title,
    Topic,
    Body,
}

impl Standing {
    /// All of them, the most telling first.
    pub(super) const ALL: [Self; 3] = [Self::Title, Self::Topic, Self::Body];

    /// How often a word counts for every time that it occurs there.
    pub(super) fn weight(self) -> u64 {
        match self {
            Self::Title => 4,
            Self::Topic => 2,
            Self::Body => 1,
        }
    }
}

/// A text of an entry.
pub(super) struct Passage<'e> {
    pub(super) standing: Standing,
    pub(super) text: Cow<'e, str>,
}

/// The texts of an entry in a fixed order, whatever the order of the document's keys. Tools, sources and names of agents are not
/// among them: they say how an entry came about, not what it is about. Nor are signatures and texts of code, most of whose words
/// belong to the language.
pub(super) fn passages(entry: &Entry) -> Vec<Passage<'_>> {
    let mut texts = Texts { entry, found: Vec::new() };
    match entry.kind() {
        Kind::Reasoning => {
            texts.field(Standing::Title, "pattern");
            texts.field(Standing::Topic, "original_query");
            texts.of_objects("subgoals", "description");
        }
        Kind::Knowledge => {
            texts.field(Standing::Title, "title");
            texts.field(Standing::Topic, "topic");
            texts.field(Standing::Body, "summary");
            texts.of_objects("facts", "statement");
        }
        Kind::Note => {
            if let Some(title) = entry.given_title() {
                texts.add(Standing::Title, title);
            }
            texts.field(Standing::Body, "text");
        }
        Kind::Turn => texts.field(Standing::Body, "text"),
        Kind::Code => {
            texts.field(Standing::Title, "function");
            if let Some(file) = entry.text("content", "file") {
                texts.add(Standing::Topic, without_extension(file));
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
    fn add(&mut self, standing: Standing, text: impl Into<Cow<'e, str>>) {
        self.found.push(Passage { standing, text: text.into() });
    }

    fn field(&mut self, standing: Standing, name: &str) {
        if let Some(text) = self.entry.text("content", name) {
            self.add(standing, text);
        }
    }

    fn list(&mut self, name: &str) {
        for text in strings(self.entry.field("content", name)) {
            self.add(Standing::Body, text);
        }
    }

    fn of_objects(&mut self, name: &str, field: &str) {
        let objects = self.entry.field("content", name).and_then(Value::as_array).into_iter().flatten();
        for text in objects.filter_map(|object| object.get(field)?.as_str()) {
            self.add(Standing::Body, text);
        }
    }
}

fn without_extension(file: &str) -> &str {
    let name = file.rfind('/').map_or(0, |slash| slash + 1);
    file[name..].rfind('.').map_or(file, |dot| &file[..name + dot])
}
