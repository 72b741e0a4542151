//! Parses TOML.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Document, Entry, Node, Value, syntax_error};
use crate::Diagnostics;

impl<'t> Document<'t> {
    /// Parses TOML.
    ///
    /// # Errors
    /// Returns the first syntax error.
    pub fn from_toml(name: &'t str, text: &'t str) -> Result<Self, Diagnostics> {
        let root = parse(text).map_err(|(span, message)| syntax_error(name, text, span, message))?;
        Ok(Self { name, text, root })
    }
}

fn parse(text: &str) -> Result<Node<'_>, (Range<usize>, String)> {
    match DeTable::parse(text) {
        Ok(table) => Ok(Node { span: table.span(), value: Value::Table(entries(table.into_inner())) }),
        Err(error) => Err((error.span().unwrap_or_default(), error.message().to_owned())),
    }
}

/// Returns the entries in the order of the file. The TOML parser returns them sorted by name.
fn entries(table: DeTable<'_>) -> Vec<Entry<'_>> {
    let entries = table.into_iter();
    let mut entries: Vec<_> =
        entries.map(|(key, value)| Entry { key_span: key.span(), key: key.into_inner(), node: node(value) }).collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

fn node(value: Spanned<DeValue<'_>>) -> Node<'_> {
    let span = value.span();
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text),
        DeValue::Boolean(flag) => Value::Flag(flag),
        DeValue::Integer(number) => {
            let decimal = i64::from_str_radix(number.as_str(), number.radix()).map(|number| number.to_string());
            Value::Number(decimal.unwrap_or_else(|_| number.as_str().to_owned()).into())
        }
        DeValue::Float(number) => Value::Number(number.as_str().to_owned().into()),
        DeValue::Table(table) => Value::Table(entries(table)),
        DeValue::Array(items) => Value::List(items.into_iter().map(node).collect()),
        DeValue::Datetime(_) => Value::Other,
    };
    Node { span, value }
}
