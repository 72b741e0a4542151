//! Keys and values of a pipeline file with their locations, and functions that read a value of a certain type.

use std::ops::RangeInclusive;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::byte_size::parse_bytes;
use crate::source_map::{SourceMap, Span};
use aurora_diagnostics::{Diagnostic, Diagnostics, code};

/// A key with its value and location.
#[derive(Clone)]
pub(crate) struct ConfigEntry<'a> {
    pub(crate) key: String,
    pub(crate) key_span: Span,
    pub(crate) value: Spanned<DeValue<'a>>,
}

/// The entries of a table in file order, with spans as offsets in the source map.
pub(crate) fn entries(table: DeTable<'_>, base: usize) -> Vec<ConfigEntry<'_>> {
    let mut entries: Vec<ConfigEntry<'_>> = table
        .into_iter()
        .map(|(key, value)| ConfigEntry {
            key_span: shifted(&key.span(), base),
            key: key.into_inner().into_owned(),
            value: moved(value, base),
        })
        .collect();
    entries.sort_by_key(|entry| entry.key_span.start);
    entries
}

fn moved(value: Spanned<DeValue<'_>>, base: usize) -> Spanned<DeValue<'_>> {
    let span = shifted(&value.span(), base);
    let value = match value.into_inner() {
        DeValue::Table(table) => {
            let entries = table.into_iter();
            let entries = entries
                .map(|(key, value)| (Spanned::new(shifted(&key.span(), base), key.into_inner()), moved(value, base)));
            DeValue::Table(entries.collect())
        }
        DeValue::Array(array) => DeValue::Array(array.into_iter().map(|value| moved(value, base)).collect()),
        scalar => scalar,
    };
    Spanned::new(span, value)
}

pub(crate) fn shifted(span: &Span, base: usize) -> Span {
    span.start + base..span.end + base
}

pub(crate) fn string(sources: &SourceMap, entry: &ConfigEntry<'_>, found: &mut Diagnostics) -> Option<String> {
    match entry.value.get_ref() {
        DeValue::String(text) => Some(text.to_string()),
        _ => refuse(sources, entry, "a string", found),
    }
}

pub(crate) fn boolean(sources: &SourceMap, entry: &ConfigEntry<'_>, found: &mut Diagnostics) -> Option<bool> {
    match entry.value.get_ref() {
        DeValue::Boolean(value) => Some(*value),
        _ => refuse(sources, entry, "true or false", found),
    }
}

/// Reads a whole number in `range`.
pub(crate) fn count(
    sources: &SourceMap,
    entry: &ConfigEntry<'_>,
    range: RangeInclusive<usize>,
    found: &mut Diagnostics,
) -> Option<usize> {
    match integer(entry.value.get_ref()).and_then(|value| usize::try_from(value).ok()) {
        Some(value) if range.contains(&value) => Some(value),
        _ => refuse(sources, entry, &format!("a whole number from {} to {}", range.start(), range.end()), found),
    }
}

/// Reads a number from 0 to 100.
pub(crate) fn percentage(sources: &SourceMap, entry: &ConfigEntry<'_>, found: &mut Diagnostics) -> Option<f64> {
    let number = match entry.value.get_ref() {
        DeValue::Float(number) => number.as_str().parse().ok(),
        value => integer(value).map(|whole| whole as f64),
    };
    match number {
        Some(percent) if (0.0..=100.0).contains(&percent) => Some(percent),
        _ => refuse(sources, entry, "a number from 0 to 100", found),
    }
}

/// Reads a list of strings, each with its span.
pub(crate) fn strings(
    sources: &SourceMap,
    entry: &ConfigEntry<'_>,
    found: &mut Diagnostics,
) -> Option<Vec<(String, Span)>> {
    let texts = match entry.value.get_ref() {
        DeValue::Array(items) => items
            .iter()
            .map(|item| match item.get_ref() {
                DeValue::String(text) => Some((text.to_string(), item.span())),
                _ => None,
            })
            .collect(),
        _ => None,
    };
    texts.or_else(|| refuse(sources, entry, "a list of strings", found))
}

pub(crate) fn table<'a>(
    sources: &SourceMap,
    entry: ConfigEntry<'a>,
    found: &mut Diagnostics,
) -> Option<Vec<ConfigEntry<'a>>> {
    if !matches!(entry.value.get_ref(), DeValue::Table(_)) {
        return refuse(sources, &entry, "a table", found);
    }
    match entry.value.into_inner() {
        DeValue::Table(table) => Some(entries(table, 0)),
        _ => None,
    }
}

pub(crate) fn integer(value: &DeValue<'_>) -> Option<u64> {
    match value {
        DeValue::Integer(integer) => u64::from_str_radix(integer.as_str(), integer.radix()).ok(),
        _ => None,
    }
}

fn refuse<T>(sources: &SourceMap, entry: &ConfigEntry<'_>, expected: &str, found: &mut Diagnostics) -> Option<T> {
    let location = sources.locate(&entry.value.span());
    let message = format!("`{}` must be {expected}, not {}", entry.key, described(entry.value.get_ref()));
    found.push(Diagnostic::error(code::INVALID_VALUE, location, message));
    None
}

fn described(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the string \"{text}\""),
        DeValue::Integer(integer) => integer.to_string(),
        DeValue::Float(float) => float.to_string(),
        DeValue::Boolean(value) => value.to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

pub(crate) fn bytes(sources: &SourceMap, entry: &ConfigEntry<'_>, found: &mut Diagnostics) -> Option<u64> {
    let value = match entry.value.get_ref() {
        DeValue::String(text) => parse_bytes(text),
        other => integer(other),
    };
    match value {
        Some(value) if value > 0 => Some(value),
        _ => refuse(sources, entry, "a size such as \"512MiB\"", found),
    }
}
