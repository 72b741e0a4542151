//! TOML and JSON documents that record the location of every key and value, and readers that report all mistakes at
//! once.
//!
//! A [`Reader`] reads the values of a configuration one by one. [`check`] compares a JSON document that has a fixed
//! structure with a table of its [`Field`]s.

mod json;
mod key_path;
mod read;
mod report;
mod shape;
mod toml;

use std::borrow::Cow;
use std::ops::Range;

use crate::{Diagnostic, Diagnostics, Location, code};

pub use json::Form;
pub use read::Reader;
pub use report::Report;
pub use shape::{Fault, Field, Group, Rule, Shape, check, is_blank};

/// Maximum number of characters of a value shown in a message.
const MAX_SHOWN_CHARS: usize = 60;
/// Maximum length of a list of numbers whose items are shown in a message.
const MAX_SHOWN_NUMBERS: usize = 4;

/// A parsed text. Its root is a table.
#[derive(Debug)]
pub struct Document<'t> {
    name: &'t str,
    text: &'t str,
    /// The whole document.
    pub root: Node<'t>,
}

/// A value and its byte range.
#[derive(Debug)]
pub struct Node<'t> {
    /// Byte range of the value.
    pub span: Range<usize>,
    /// The value.
    pub value: Value<'t>,
}

/// A value.
#[derive(Debug)]
pub enum Value<'t> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Flag(bool),
    /// A number in decimal notation.
    Number(Cow<'t, str>),
    /// The content of a string.
    Text(Cow<'t, str>),
    /// A list.
    List(Vec<Node<'t>>),
    /// A table or object, with entries in the order of the text.
    Table(Vec<Entry<'t>>),
    /// A value of another type, such as a date.
    Other,
}

/// A key and its value.
#[derive(Debug)]
pub struct Entry<'t> {
    /// The key.
    pub key: Cow<'t, str>,
    /// Byte range of the key.
    pub key_span: Range<usize>,
    /// The value.
    pub node: Node<'t>,
}

impl<'t> Document<'t> {
    /// Returns the location of a byte range.
    pub fn location(&self, span: Range<usize>) -> Location {
        Location::from_span(self.name, self.text, span)
    }

    /// Returns the source text of a value.
    pub fn raw(&self, node: &Node<'_>) -> &'t str {
        &self.text[node.span.clone()]
    }

    /// Returns the location of the byte range `part` of a string. `content` is the value of the string `node`. If the
    /// source text of the string has escapes, returns the location of the whole string, because the offsets differ.
    pub fn part_of_text(&self, node: &Node<'_>, content: &str, part: Range<usize>) -> Location {
        let span = match self.raw(node).find(content).map(|offset| node.span.start + offset) {
            Some(start) => start + part.start..start + part.end,
            None => node.span.clone(),
        };
        self.location(span)
    }

    /// Formats a value for a message. Scalars and short lists of numbers are shown, and long scalars are shortened. For
    /// all other lists and for tables, only the type is shown.
    pub fn display_value(&self, node: &Node<'_>) -> String {
        match &node.value {
            Value::Text(text) => quoted(text),
            Value::Table(_) => "a table".to_owned(),
            Value::List(items) => {
                let is_short = (1..=MAX_SHOWN_NUMBERS).contains(&items.len());
                let numbers: Option<Vec<String>> = items
                    .iter()
                    .take(MAX_SHOWN_NUMBERS)
                    .map(|item| matches!(item.value, Value::Number(_)).then(|| cut(self.raw(item))))
                    .collect();
                numbers
                    .filter(|_| is_short)
                    .map_or_else(|| "a list".to_owned(), |numbers| format!("[{}]", numbers.join(", ")))
            }
            _ => cut(self.raw(node)),
        }
    }
}

impl<'t> Node<'t> {
    /// Returns the entries of a table, or an empty slice for any other value.
    pub fn entries(&self) -> &[Entry<'t>] {
        if let Value::Table(entries) = &self.value { entries } else { &[] }
    }

    /// Returns the items of a list, or an empty slice for any other value.
    pub fn items(&self) -> &[Node<'t>] {
        if let Value::List(items) = &self.value { items } else { &[] }
    }

    /// Returns the value of a key of a table, if the table has the key.
    pub fn get(&self, key: &str) -> Option<&Node<'t>> {
        self.entries().iter().find(|entry| entry.key == key).map(|entry| &entry.node)
    }

    /// Returns the content of a string, or `None` for any other value.
    pub fn text(&self) -> Option<&str> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// Parses a number as `T`. Returns `None` if the number does not fit or the value is not a number.
    pub fn number<T: std::str::FromStr>(&self) -> Option<T> {
        if let Value::Number(number) = &self.value { number.parse().ok() } else { None }
    }

    /// Whether the value is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self.value, Value::Null)
    }
}

/// Shortens a text and puts it in quotes. Control characters are escaped, because they could change how a terminal
/// displays the message.
pub fn quoted(text: &str) -> String {
    format!("{:?}", cut(text))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn syntax_error(name: &str, text: &str, span: Range<usize>, message: String) -> Diagnostics {
    let mut errors = Diagnostics::default();
    errors.push(Diagnostic::error(code::SYNTAX, Some(Location::from_span(name, text, span)), message));
    errors
}
