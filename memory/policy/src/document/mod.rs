//! A configuration text as a tree with the location of every key and value, for both TOML and JSON.

mod error;
mod json;
mod toml;
mod tree;

use std::ops::Range;

use aurora_diagnostics::{Diagnostics, Location};

pub(crate) use self::tree::{Entry, Value};

/// Maximum number of characters of a value shown in a message.
const MAX_SHOWN_CHARS: usize = 60;

/// A parsed text.
#[derive(Debug)]
pub(crate) struct Document<'t> {
    name: &'t str,
    text: &'t str,
    pub(crate) root: Vec<Entry>,
}

impl<'t> Document<'t> {
    /// Parses TOML.
    pub(crate) fn from_toml(name: &'t str, text: &'t str) -> Result<Self, Diagnostics> {
        Ok(Self { name, text, root: toml::parse(name, text)? })
    }

    /// Parses JSON with or without comments.
    pub(crate) fn from_json(name: &'t str, text: &'t str) -> Result<Self, Diagnostics> {
        Ok(Self { name, text, root: json::parse(name, text)? })
    }

    /// Returns the location of a key.
    pub(crate) fn key(&self, entry: &Entry) -> Location {
        Location::of_span(self.name, self.text, entry.key_span.clone())
    }

    /// Returns the location of a part of a string value, or of the whole value if escapes in the file hide the part.
    pub(crate) fn part_of_text(&self, entry: &Entry, content: &str, part: Range<usize>) -> Location {
        let whole = entry.value_span.clone();
        let span = match self.text[whole.clone()].find(content) {
            Some(offset) => whole.start + offset + part.start..whole.start + offset + part.end,
            None => whole,
        };
        Location::of_span(self.name, self.text, span)
    }

    /// Returns the location of the beginning of the document.
    pub(crate) fn start(&self) -> Location {
        Location::of_span(self.name, self.text, 0..0)
    }

    /// Formats a value for a message.
    pub(crate) fn display_value(&self, entry: &Entry) -> String {
        match entry.value {
            Value::Table(_) => "a table".to_owned(),
            Value::Array => "a list".to_owned(),
            _ => shorten(&self.text[entry.value_span.clone()]),
        }
    }
}

fn shorten(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(MAX_SHOWN_CHARS).collect();
    if short.len() < text.len() { short + "…" } else { short }
}
