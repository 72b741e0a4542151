//! Reads the values of a configuration one by one and reports mistakes at the location of the key.

use std::ops::RangeInclusive;

use aurora_suggest::did_you_mean;

use super::{Document, Entry, Value};
use crate::{Diagnostic, Diagnostics, code};

/// Reads values of a document. If a value has the wrong type, a getter reports a mistake and returns `None`.
pub struct Reader<'d, 't> {
    /// The document.
    pub document: &'d Document<'t>,
    /// The mistakes found so far.
    pub mistakes: Diagnostics,
}

impl<'d, 't> Reader<'d, 't> {
    /// Creates a reader of a document.
    pub fn new(document: &'d Document<'t>) -> Self {
        Self { document, mistakes: Diagnostics::default() }
    }

    /// Returns the first entry with a key, if any. Reports each repetition of the key, because JSON allows repeated
    /// keys.
    pub fn entry(&mut self, entries: &'d [Entry<'t>], key: &str) -> Option<&'d Entry<'t>> {
        let mut found = entries.iter().filter(|entry| entry.key == key);
        let first = found.next();
        for second in found {
            self.refuse(second, format!("`{key}` is set more than once"), Some("keep one".to_owned()));
        }
        first
    }

    /// Returns the entries of a table. `key` is the full key of `entry`, for messages.
    pub fn table(&mut self, entry: &'d Entry<'t>, key: &str) -> Option<&'d [Entry<'t>]> {
        match &entry.node.value {
            Value::Table(entries) => Some(entries),
            _ => self.wrong(entry, key, "must be a table", None),
        }
    }

    /// Returns a Boolean value.
    pub fn flag(&mut self, entry: &'d Entry<'t>, key: &str) -> Option<bool> {
        match entry.node.value {
            Value::Flag(flag) => Some(flag),
            _ => self.wrong(entry, key, "must be true or false", None),
        }
    }

    /// Returns a number in `range`. `rule` describes the valid values in the message.
    pub fn number(&mut self, entry: &'d Entry<'t>, key: &str, range: RangeInclusive<f64>, rule: &str) -> Option<f64> {
        let number = entry.node.number().filter(|number| range.contains(number));
        number.or_else(|| self.wrong(entry, key, rule, None))
    }

    /// Returns a string. `rule` describes the valid values in the message.
    pub fn text(&mut self, entry: &'d Entry<'t>, key: &str, rule: &str) -> Option<&'d str> {
        entry.node.text().or_else(|| self.wrong(entry, key, rule, None))
    }

    /// Returns the result of `parse` for a string. If `parse` returns `None`, reports a mistake with the help text that
    /// `suggest` returns for the string.
    pub fn parsed<T>(
        &mut self,
        entry: &'d Entry<'t>,
        key: &str,
        rule: &str,
        parse: impl Fn(&str) -> Option<T>,
        suggest: impl Fn(&str) -> Option<String>,
    ) -> Option<T> {
        let text = self.text(entry, key, rule)?;
        parse(text).or_else(|| self.wrong(entry, key, rule, suggest(text)))
    }

    /// Reports a value that breaks a rule, such as `must be a table`.
    pub fn wrong<T>(&mut self, entry: &Entry<'t>, key: &str, rule: &str, help: Option<String>) -> Option<T> {
        self.refuse(entry, format!("`{key}` {rule}, not {}", self.document.display_value(&entry.node)), help);
        None
    }

    /// Reports an invalid entry.
    pub fn refuse(&mut self, entry: &Entry<'t>, message: String, help: Option<String>) {
        self.error(code::INVALID_VALUE, entry, message, help);
    }

    /// Reports an unknown key. If `help` is `None`, the help text suggests the most similar of the `known` keys or
    /// lists all of them.
    pub fn unknown(&mut self, entry: &Entry<'t>, key: &str, known: &[&str], help: Option<String>) {
        let help = help.or_else(|| did_you_mean(&entry.key, known.iter().copied()));
        let help = help.unwrap_or_else(|| format!("the keys here are {}", known.join(", ")));
        self.error(code::UNKNOWN_KEY, entry, format!("unknown key `{key}`"), Some(help));
    }

    /// Reports a mistake at a key.
    pub fn error(&mut self, code: &'static str, entry: &Entry<'t>, message: String, help: Option<String>) {
        let location = Some(self.document.location(entry.key_span.clone()));
        self.mistakes.push(Diagnostic::error(code, location, message).with_help(help));
    }
}
