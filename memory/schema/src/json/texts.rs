//! Checks every value of a document: keys must be unique, and strings must be bounded and contain no NUL.

use std::collections::HashMap;
use std::ops::Range;

use jsonc_parser::ast::{Object, ObjectPropName, StringLit, Value};

use super::place::{Place, span};
use crate::code;
use crate::limit::TEXT_BYTES;
use crate::report::Report;

/// Reports repeated keys, and strings that are too long or contain a NUL.
pub(super) fn check(report: &mut Report<'_>, root: &Object<'_>) {
    object(report, &mut Place::default(), root);
}

fn object(report: &mut Report<'_>, place: &mut Place, object: &Object<'_>) {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for property in &object.properties {
        if report.is_full() {
            return;
        }
        let name = property.name.as_str();
        let outer = place.enter(name);
        let at = match &property.name {
            ObjectPropName::String(name) => string(report, place, name),
            ObjectPropName::Word(word) => span(word.range),
        };
        if let Some(first) = seen.insert(name, at.start) {
            let help = format!("it is also set on line {}", report.line(first));
            report.error(code::DUPLICATE_KEY, at, format!("{place} is set twice"), Some(help));
        }
        value(report, place, &property.value);
        place.leave(&outer);
    }
}

fn value(report: &mut Report<'_>, place: &mut Place, value: &Value<'_>) {
    match value {
        Value::Object(inner) => object(report, place, inner),
        Value::Array(values) => {
            for (index, inner) in values.elements.iter().enumerate() {
                if report.is_full() {
                    return;
                }
                let outer = place.enter_index(index);
                self::value(report, place, inner);
                place.leave(&outer);
            }
        }
        Value::StringLit(text) => drop(string(report, place, text)),
        Value::NumberLit(_) | Value::BooleanLit(_) | Value::NullKeyword(_) => {}
    }
}

fn string(report: &mut Report<'_>, place: &Place, text: &StringLit<'_>) -> Range<usize> {
    let at = span(text.range);
    if text.value.len() > TEXT_BYTES {
        let message = format!("{place} has {} bytes; at most {TEXT_BYTES} are allowed", text.value.len());
        report.error(code::LIMIT, at.clone(), message, None);
    }
    if text.value.contains('\0') {
        report.error(
            code::INVALID_VALUE,
            at.clone(),
            format!("{place} must not contain NUL characters (`\\u0000`)"),
            None,
        );
    }
    at
}
