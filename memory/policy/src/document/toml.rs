//! Parses TOML into a tree.

use aurora_diagnostics::Diagnostics;
use toml::de::{DeTable, DeValue};

use crate::document::error::syntax_error;
use crate::document::tree::{Entry, Value};

pub(super) fn parse(name: &str, text: &str) -> Result<Vec<Entry>, Diagnostics> {
    match DeTable::parse(text) {
        Ok(table) => Ok(entries(table.get_ref())),
        Err(error) => Err(syntax_error(name, text, error.span().unwrap_or_default(), error.message())),
    }
}

/// Returns the entries in the order of the file; the TOML parser sorts them by name.
fn entries(table: &DeTable<'_>) -> Vec<Entry> {
    let mut entries: Vec<Entry> = table
        .iter()
        .map(|(key, value)| Entry {
            key: key.get_ref().to_string(),
            key_span: key.span(),
            value: value_of(value.get_ref()),
            value_span: value.span(),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

fn value_of(value: &DeValue<'_>) -> Value {
    let number = |value: Option<f64>| value.map_or(Value::Other, Value::Number);
    match value {
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Boolean(value) => Value::Boolean(*value),
        #[allow(clippy::cast_precision_loss, reason = "the numbers of this configuration are small")]
        DeValue::Integer(digits) => {
            number(i64::from_str_radix(digits.as_str(), digits.radix()).ok().map(|value| value as f64))
        }
        DeValue::Float(digits) => number(digits.as_str().parse().ok()),
        DeValue::Table(table) => Value::Table(entries(table)),
        DeValue::Array(_) => Value::Array,
        DeValue::Datetime(_) => Value::Other,
    }
}
