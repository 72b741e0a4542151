//! Parses JSON.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use jsonc_parser::common::Ranged as _;
use jsonc_parser::{CollectOptions, ParseOptions, ast, parse_to_ast};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::{Document, Entry, Node, Report, Value, syntax_error};
use crate::Diagnostics;

/// The error codes, limits and rules for one kind of JSON document.
pub struct Form {
    /// A noun for a document, such as `an entry`.
    pub noun: &'static str,
    /// Error code for a text that is not a JSON object.
    pub syntax: &'static str,
    /// Error code for an unknown field.
    pub unknown: &'static str,
    /// Error code for a value that has the wrong type or is out of range.
    pub invalid: &'static str,
    /// Error code for a missing field.
    pub missing: &'static str,
    /// Error code for a repeated key.
    pub duplicate: &'static str,
    /// Error code for an exceeded limit.
    pub limit: &'static str,
    /// Maximum nesting depth of lists and objects.
    pub max_depth: usize,
    /// Number of nesting levels that are parsed. Lists and objects at deeper levels become [`Value::Other`].
    pub levels: usize,
    /// Maximum length of a string in bytes.
    pub max_text_bytes: usize,
    /// Maximum number of values in a short list.
    pub max_list_values: usize,
    /// Whether a field whose value is `null` counts as missing.
    pub null_is_missing: bool,
    /// Whether the contents of lists and objects that no rule describes are also checked for long strings and repeated
    /// keys. If true, NUL characters in strings are also mistakes.
    pub limits_all_values: bool,
}

impl<'t> Document<'t> {
    /// Parses JSON with comments and trailing commas.
    ///
    /// # Errors
    /// Returns the first syntax error.
    pub fn from_json_with_comments(name: &'t str, text: &'t str) -> Result<Self, Diagnostics> {
        let root = parse_loose(text).map_err(|(span, message)| syntax_error(name, text, span, message))?;
        let root = root.unwrap_or(Node { span: 0..0, value: Value::Null });
        match root.value {
            Value::Table(_) => Ok(Self { name, text, root }),
            _ => Err(syntax_error(name, text, root.span, "the file must hold a JSON object".to_owned())),
        }
    }

    /// Parses strict JSON (RFC 8259), both as a document and as a `T`. If the text is not valid, is not an object or is
    /// nested too deeply, reports a mistake and returns `None`.
    pub fn from_json<T: Deserialize<'t>>(report: &mut Report<'t>, form: &Form) -> Option<(Self, T)> {
        let (name, text) = (report.name, report.text);
        if let Some(at) = find_deeper_than(text, form.max_depth) {
            let message = format!("lists and objects are nested more than {} levels deep", form.max_depth);
            report.error(form.limit, at..at + 1, message, None);
            return None;
        }
        let parsed = serde_json::from_str(text).map(|typed| (typed, strict_node(text, text.trim_ascii(), form.levels)));
        match parsed {
            Ok((typed, root)) if matches!(root.value, Value::Table(_)) => Some((Self { name, text, root }, typed)),
            Ok((_, root)) => {
                report.error(form.syntax, root.span, format!("{} must be a JSON object", form.noun), None);
                None
            }
            Err(error) => {
                let whole = error.to_string();
                let cause = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(cause, _)| cause);
                report.error(form.syntax, error_span(text, &error), format!("not JSON: {cause}"), None);
                None
            }
        }
    }
}

/// Converts `raw`, a value within the valid JSON text `whole`, into a node. Lists and objects that are nested more than
/// `levels` deep, and strings with an unpaired surrogate escape, become [`Value::Other`].
fn strict_node<'t>(whole: &str, raw: &'t str, levels: usize) -> Node<'t> {
    let span = |raw: &str| {
        let start = raw.as_ptr() as usize - whole.as_ptr() as usize;
        start..start + raw.len()
    };
    let inner = |value: &'t RawValue| strict_node(whole, value.get(), levels - 1);
    let value = match raw.as_bytes().first() {
        Some(b'{' | b'[') if levels == 0 => Value::Other,
        Some(b'{') => {
            let members = serde_json::from_str(raw).map_or_else(|_| Vec::new(), |Members(members)| members);
            let entry = |(key, value): (&'t RawValue, &'t RawValue)| Entry {
                key: string(key.get()).unwrap_or_else(|| key.get().into()),
                key_span: span(key.get()),
                node: inner(value),
            };
            Value::Table(members.into_iter().map(entry).collect())
        }
        Some(b'[') => {
            let items: Vec<&'t RawValue> = serde_json::from_str(raw).unwrap_or_default();
            Value::List(items.into_iter().map(inner).collect())
        }
        Some(b'"') => string(raw).map_or(Value::Other, Value::Text),
        Some(b't' | b'f') => Value::Flag(raw == "true"),
        Some(b'n') => Value::Null,
        _ => Value::Number(raw.into()),
    };
    Node { span: span(raw), value }
}

fn string(raw: &str) -> Option<Cow<'_, str>> {
    match raw.get(1..raw.len() - 1).filter(|content| !content.contains('\\')) {
        Some(content) => Some(content.into()),
        None => serde_json::from_str(raw).ok().map(Cow::Owned),
    }
}

/// The keys and values of an object, including repeated keys.
struct Members<'t>(Vec<(&'t RawValue, &'t RawValue)>);

impl<'de: 't, 't> Deserialize<'de> for Members<'t> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<(&'de RawValue, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                std::iter::from_fn(|| map.next_entry().transpose()).collect()
            }
        }

        deserializer.deserialize_map(Collect).map(Self)
    }
}

/// Parses JSON with comments and trailing commas. Returns `None` for a text without a value.
fn parse_loose(text: &str) -> Result<Option<Node<'_>>, (Range<usize>, String)> {
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    match parse_to_ast(text, &CollectOptions::default(), &options) {
        Ok(parsed) => Ok(parsed.value.map(loose_node)),
        Err(error) => Err((error.range().start..error.range().end, error.kind().to_string())),
    }
}

fn loose_node(value: ast::Value<'_>) -> Node<'_> {
    let span = value.start()..value.end();
    let value = match value {
        ast::Value::Object(object) => Value::Table(object.properties.into_iter().map(loose_entry).collect()),
        ast::Value::Array(values) => Value::List(values.elements.into_iter().map(loose_node).collect()),
        ast::Value::StringLit(text) => Value::Text(text.value),
        ast::Value::BooleanLit(flag) => Value::Flag(flag.value),
        ast::Value::NumberLit(number) => Value::Number(number.value.into()),
        ast::Value::NullKeyword(_) => Value::Null,
    };
    Node { span, value }
}

fn loose_entry(property: ast::ObjectProp<'_>) -> Entry<'_> {
    Entry {
        key: property.name.as_str().to_owned().into(),
        key_span: property.name.start()..property.name.end(),
        node: loose_node(property.value),
    }
}

/// Returns the range of the byte at which parsing failed. In `error`, lines and columns are counted from 1, and columns
/// are bytes.
fn error_span(text: &str, error: &serde_json::Error) -> Range<usize> {
    let at = if error.is_eof() {
        text.trim_end().len()
    } else {
        let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
        (lines.map(str::len).sum::<usize>() + error.column()).saturating_sub(1)
    };
    at..at + 1
}

/// Returns the offset of the first bracket that is nested more than `limit` levels deep, if any.
fn find_deeper_than(text: &str, limit: usize) -> Option<usize> {
    let (mut depth, mut is_string, mut is_escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = is_string,
            b'"' => is_string = !is_string,
            b'{' | b'[' if !is_string => {
                depth += 1;
                if depth > limit {
                    return Some(at);
                }
            }
            b'}' | b']' if !is_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}
