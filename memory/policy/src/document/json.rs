//! Parses JSON into a tree.

use std::ops::Range;

use aurora_diagnostics::Diagnostics;
use jsonc_parser::ast::{Object, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::{ParseOptions, parse_to_ast};

use crate::document::error::syntax_error;
use crate::document::tree::{Entry, Value};

/// JSON as people write it, with comments and trailing commas.
const OPTIONS: ParseOptions = ParseOptions {
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

pub(super) fn parse(name: &str, text: &str) -> Result<Vec<Entry>, Diagnostics> {
    let refused = |span: Range<usize>, message: &str| syntax_error(name, text, span, message);
    match parse_to_ast(text, &Default::default(), &OPTIONS) {
        Ok(parsed) => match parsed.value {
            Some(Ast::Object(object)) => Ok(entries(&object)),
            Some(other) => Err(refused(range(&other), "the file must hold a JSON object")),
            None => Err(refused(0..0, "the file holds no JSON object")),
        },
        Err(error) => {
            let span = error.range().start..error.range().end;
            Err(refused(span, &error.kind().to_string()))
        }
    }
}

fn entries(object: &Object<'_>) -> Vec<Entry> {
    object
        .properties
        .iter()
        .map(|property| Entry {
            key: property.name.as_str().to_owned(),
            key_span: range(&property.name),
            value: value_of(&property.value),
            value_span: range(&property.value),
        })
        .collect()
}

fn value_of(value: &Ast<'_>) -> Value {
    match value {
        Ast::Object(object) => Value::Table(entries(object)),
        Ast::StringLit(text) => Value::Text(text.value.to_string()),
        Ast::BooleanLit(literal) => Value::Boolean(literal.value),
        Ast::NumberLit(literal) => literal.value.parse().map_or(Value::Other, Value::Number),
        Ast::Array(_) => Value::Array,
        Ast::NullKeyword(_) => Value::Other,
    }
}

fn range(ranged: &impl Ranged) -> Range<usize> {
    ranged.start()..ranged.end()
}
