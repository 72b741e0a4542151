//! Parses a text into a JSON object and the locations of its values.

use std::ops::Range;

use jsonc_parser::ast::{self, Object};
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use crate::code;
use crate::limit::{DEPTH, DOCUMENT_BYTES};
use crate::report::Report;

const BYTE_ORDER_MARK: char = '\u{feff}';

const NO_OBJECT: &str = "an entry must be a JSON object";

/// Strict JSON as specified in RFC 8259.
const STRICT: ParseOptions = ParseOptions {
    allow_comments: false,
    allow_loose_object_property_names: false,
    allow_trailing_commas: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parses a text into the values of its object and a syntax tree with locations. Reports a text that is not a JSON object and
/// returns `None`.
pub(super) fn parse<'t>(report: &mut Report<'_>, text: &'t str) -> Option<(Map<String, Value>, Object<'t>)> {
    if text.len() > DOCUMENT_BYTES {
        let message = format!("the document has {} bytes; at most {DOCUMENT_BYTES} are allowed", text.len());
        report.error(code::LIMIT, 0..0, message, None);
        return None;
    }
    if text.starts_with(BYTE_ORDER_MARK) {
        let help = "save the file as UTF-8 without a byte order mark".to_owned();
        report.error(code::SYNTAX, 0..0, "not JSON: the text begins with a byte order mark", Some(help));
        return None;
    }
    // `serde_json` comes first, because it limits the nesting, which `jsonc_parser` does not. It also rejects lone surrogates and
    // numbers beyond 64 bits.
    let document = match serde_json::from_str(text) {
        Ok(Value::Object(document)) => document,
        Ok(_) => {
            let start = text.len() - text.trim_start().len();
            report.error(code::SYNTAX, start..text.trim_end().len(), NO_OBJECT, None);
            return None;
        }
        Err(error) => {
            syntax_error(report, text, &error);
            return None;
        }
    };
    match parse_to_ast(text, &CollectOptions::default(), &STRICT) {
        Ok(parsed) => match parsed.value {
            Some(ast::Value::Object(root)) => Some((document, root)),
            _ => {
                report.error(code::SYNTAX, 0..text.len(), NO_OBJECT, None);
                None
            }
        },
        Err(error) => {
            let range = error.range();
            report.error(code::SYNTAX, range.start..range.end, format!("not JSON: {}", error.kind()), None);
            None
        }
    }
}

fn syntax_error(report: &mut Report<'_>, text: &str, error: &serde_json::Error) {
    let place = error_span(text, error);
    let whole = error.to_string();
    let cause = whole.rsplit_once(" at line ").map_or(whole.as_str(), |(cause, _)| cause);
    if cause.starts_with("recursion limit") {
        report.error(code::LIMIT, place, format!("lists and objects are nested more than {DEPTH} levels deep"), None);
    } else {
        report.error(code::SYNTAX, place, format!("not JSON: {cause}"), None);
    }
}

/// Returns the range of the invalid byte. Lines and columns count from 1, and columns are bytes.
fn error_span(text: &str, error: &serde_json::Error) -> Range<usize> {
    let place = if error.is_eof() {
        text.trim_end().len()
    } else {
        let lines = text.split_inclusive('\n').take(error.line().saturating_sub(1));
        (lines.map(str::len).sum::<usize>() + error.column()).saturating_sub(1)
    };
    place..place + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TOKENS: [&str; 26] = [
        "{",
        "}",
        "[",
        "]",
        ":",
        ",",
        "\"a\"",
        "\"b\"",
        "\"a\":",
        "\"b\":[",
        "\"c\":{",
        " ",
        "\n",
        "\t",
        "1",
        "-0",
        "1e9",
        "-0.5E-3",
        "true",
        "false",
        "null",
        "\"\\n\\t\\/\\\\\"",
        "\"\\u00e9\"",
        "\"\\ud83d\\ude00 é\"",
        "\"\\ud800\"",
        "\u{a0}",
    ];

    /// Converts the syntax tree of `jsonc_parser` to a `serde_json` value.
    fn value_of(value: &ast::Value<'_>) -> Value {
        match value {
            ast::Value::StringLit(text) => text.value.as_ref().into(),
            ast::Value::NumberLit(number) => serde_json::from_str(number.value).expect("a number"),
            ast::Value::BooleanLit(boolean) => boolean.value.into(),
            ast::Value::NullKeyword(_) => Value::Null,
            ast::Value::Array(values) => values.elements.iter().map(value_of).collect(),
            ast::Value::Object(object) => Value::Object(fields_of(object)),
        }
    }

    fn fields_of(object: &Object<'_>) -> Map<String, Value> {
        object.properties.iter().map(|field| (field.name.as_str().to_owned(), value_of(&field.value))).collect()
    }

    proptest! {
        #[test]
        fn both_parsers_agree(tokens in proptest::collection::vec(proptest::sample::select(TOKENS.to_vec()), 0..12)) {
            let text = format!("{{\"x\":{}}}", tokens.concat());
            let mut report = Report::new("f", &text);
            let parsed = parse(&mut report, &text);
            prop_assert_eq!(parsed.is_some(), serde_json::from_str::<Value>(&text).is_ok(), "{}", text);
            if let Some((document, root)) = parsed {
                prop_assert_eq!(&fields_of(&root), &document, "{}", text);
            }
        }

        #[test]
        fn both_parsers_agree_on_any_string(text in "\\PC{0,20}|[\u{0}-\u{7f}]{0,20}") {
            let text = serde_json::json!({ &text: [&text, {"b": &text}] }).to_string();
            let (document, root) = parse(&mut Report::new("f", &text), &text).expect("JSON");
            prop_assert_eq!(fields_of(&root), document);
        }
    }
}
