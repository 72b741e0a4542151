//! A configuration text as a tree with the place of every key and value: the same for TOML and JSON.

mod error;
mod json;
mod toml;
mod tree;

use std::ops::Range;

use aurora_diagnostics::{Diagnostics, Location};

pub(crate) use self::tree::{Entry, Value};

/// Most characters of a value in a message.
const MOST_SHOWN: usize = 60;

/// A parsed text.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    name: &'t str,
    text: &'t str,
    pub(crate) root: Vec<Entry>,
}

impl<'t> Document<'t> {
    /// Parses TOML.
    pub(crate) fn of_toml(name: &'t str, text: &'t str) -> Result<Self, Diagnostics> {
        Ok(Self { name, text, root: toml::parse(name, text)? })
    }

    /// Parses JSON with or without comments.
    pub(crate) fn of_json(name: &'t str, text: &'t str) -> Result<Self, Diagnostics> {
        Ok(Self { name, text, root: json::parse(name, text)? })
    }

    /// The place of a key.
    pub(crate) fn key(&self, entry: &Entry) -> Location {
        Location::of_span(self.name, self.text, entry.key_span.clone())
    }

    /// The place of a part of a text, or of the whole text where escapes in the file hide the part.
    pub(crate) fn part_of_text(&self, entry: &Entry, content: &str, part: Range<usize>) -> Location {
        let whole = entry.value_span.clone();
        let span = match self.text[whole.clone()].find(content) {
            Some(offset) => whole.start + offset + part.start..whole.start + offset + part.end,
            None => whole,
        };
        Location::of_span(self.name, self.text, span)
    }

    /// The place of the beginning of the text.
    pub(crate) fn start(&self) -> Location {
        Location::of_span(self.name, self.text, 0..0)
    }

    /// The value as a message shows it.
    pub(crate) fn shown(&self, entry: &Entry) -> String {
        match entry.value {
            Value::Table(_) => "a table".to_owned(),
            Value::Array => "a list".to_owned(),
            _ => shortened(&self.text[entry.value_span.clone()]),
        }
    }
}

fn shortened(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(MOST_SHOWN).collect();
    if short.len() < text.len() { short + "…" } else { short }
}
