//! Checks that every field is known and that its value follows the rule in the table of fields.

use std::ops::Range;

use jsonc_parser::ast::{Array, Object, Value};
use jsonc_parser::common::Ranged as _;

use super::place::{Place, span};
use crate::blank::is_blank;
use crate::field::{Field, Group, Shape, entry_fields};
use crate::kind::Kind;
use crate::limit::{LABEL_BYTES, LIST_VALUES};
use crate::report::Report;
use crate::{code, id, label, show, time};

/// Fields that the program computes, but that other tools store in entries.
const COMPUTED: [&str; 7] = [
    "access_count",
    "activation",
    "base_level_activation",
    "created_at",
    "is_pattern",
    "last_accessed",
    "spreading_activation",
];

/// Reports unknown fields, missing fields, and wrong values.
pub(super) fn check(report: &mut Report<'_>, kind: Kind, root: &Object<'_>) {
    let mut shapes = Shapes { report, kind, place: Place::default() };
    shapes.object(root, entry_fields(kind));
}

struct Shapes<'r, 't> {
    report: &'r mut Report<'t>,
    kind: Kind,
    place: Place,
}

impl Shapes<'_, '_> {
    fn object(&mut self, object: &Object<'_>, group: &Group) {
        for property in &object.properties {
            if self.report.is_full() {
                return;
            }
            let name = property.name.as_str();
            match group.field(name) {
                Some(field) => {
                    let outer = self.place.enter(name);
                    self.value(&property.value, field.shape);
                    self.place.leave(&outer);
                }
                None if group.is_closed => {
                    let message = format!("{} is not a field {}", self.place.field_path(name), self.owner());
                    let help = self.help_for_unknown(name, group);
                    self.report.error(code::UNKNOWN_FIELD, span(property.name.range()), message, Some(help));
                }
                None => {}
            }
        }
        for field in group.fields.iter().filter(|field| field.is_required) {
            if !object.properties.iter().any(|property| property.name.as_str() == field.name) {
                self.missing(object, field);
            }
        }
    }

    fn missing(&mut self, object: &Object<'_>, field: &Field) {
        let message =
            format!("{} is missing; it must be {}", self.place.field_path(field.name), self.expected(field.shape));
        // Marks only the opening bracket, because the whole object would be too long.
        let start = object.range.start;
        self.report.error(code::MISSING_FIELD, start..start + 1, message, None);
    }

    /// Describes the current object, as in `is not a field of …`.
    fn owner(&self) -> String {
        if self.place.is_root() { "of an entry".to_owned() } else { format!("of {}", self.place) }
    }

    fn help_for_unknown(&self, name: &str, group: &Group) -> String {
        if self.place.is_root() {
            if COMPUTED.contains(&name) {
                return "leave it out: memory computes it".to_owned();
            }
            if name == "chunk_id" {
                return "did you mean `id`?".to_owned();
            }
            let has_it = |field: &&Field| matches!(field.shape, Shape::Object(inner) if inner.field(name).is_some());
            if let Some(field) = group.fields.iter().find(has_it) {
                return format!("it belongs in `{}`", field.name);
            }
        }
        let names: Vec<String> = group.names().map(|name| format!("`{name}`")).collect();
        // Comparing names takes time proportional to their length.
        let suggestion =
            if name.len() > LABEL_BYTES { None } else { aurora_suggest::did_you_mean(name, group.names()) };
        suggestion.unwrap_or_else(|| format!("the fields are {}", names.join(", ")))
    }

    fn value(&mut self, value: &Value<'_>, shape: Shape) {
        match (shape, value) {
            (Shape::Id, Value::StringLit(text)) => self.id(&text.value, span(text.range)),
            (Shape::Target, Value::StringLit(text)) => {
                if let Some(problem) = id::target_problem(&text.value) {
                    self.error(code::INVALID_ID, span(text.range), &problem, None);
                }
            }
            (Shape::KindName, Value::StringLit(text)) if text.value == self.kind.name() => {}
            (Shape::Text, Value::StringLit(_)) | (Shape::Flag, Value::BooleanLit(_)) => {}
            (Shape::Filled, Value::StringLit(text)) if !is_blank(&text.value) => {}
            (Shape::Label, Value::StringLit(text)) if label::is_label(&text.value) => {}
            (Shape::OneOf(names), Value::StringLit(text)) if names.contains(&text.value.as_ref()) => {}
            (Shape::Time, Value::StringLit(text)) if time::unix_seconds(&text.value).is_some() => {}
            (Shape::Score, Value::NumberLit(number)) if is_within(number.value, 1.0) => {}
            (Shape::Amount, Value::NumberLit(number)) if is_within(number.value, f64::MAX) => {}
            (Shape::Count, Value::NumberLit(number)) if number.value.parse::<u64>().is_ok() => {}
            (Shape::Line, value) if line(value).is_some() => {}
            (Shape::LineRange, Value::Array(values)) if is_line_range(values) => {}
            (Shape::Texts, Value::Array(values)) => self.list(values, Shape::Text),
            (Shape::Labels, Value::Array(values)) => self.short_list(values, Shape::Label),
            (Shape::Objects(group), Value::Array(values)) => self.list(values, Shape::Object(group)),
            (Shape::FewObjects(group), Value::Array(values)) => self.short_list(values, Shape::Object(group)),
            (Shape::Object(group), Value::Object(object)) => self.object(object, group),
            (shape, value) => {
                let problem = format!("must be {}, not {}", self.expected(shape), show::value(value));
                self.error(code::INVALID_VALUE, span(value.range()), &problem, help(shape, value));
            }
        }
    }

    fn id(&mut self, id: &str, at: Range<usize>) {
        if let Some(problem) = id::new_problem(self.kind, id) {
            self.error(code::INVALID_ID, at, &problem.message, problem.help);
        }
    }

    fn short_list(&mut self, values: &Array<'_>, shape: Shape) {
        let count = values.elements.len();
        if count > LIST_VALUES {
            let start = values.range.start;
            self.error(
                code::LIMIT,
                start..start + 1,
                &format!("has {count} values; at most {LIST_VALUES} are allowed"),
                None,
            );
        } else {
            self.list(values, shape);
        }
    }

    fn list(&mut self, values: &Array<'_>, shape: Shape) {
        for (index, value) in values.elements.iter().enumerate() {
            if self.report.is_full() {
                return;
            }
            let outer = self.place.enter_index(index);
            self.value(value, shape);
            self.place.leave(&outer);
        }
    }

    fn error(&mut self, code: &'static str, at: Range<usize>, problem: &str, help: Option<String>) {
        self.report.error(code, at, format!("{} {problem}", self.place), help);
    }

    /// Returns the rule for a value, as in `must be …`.
    fn expected(&self, shape: Shape) -> String {
        match shape {
            Shape::Id => format!("an id that begins with `{}`", self.kind.prefix()),
            Shape::Target => "an id such as `know:stripe-api`".to_owned(),
            Shape::KindName => format!("\"{}\"", self.kind),
            Shape::Text => "a string".to_owned(),
            Shape::Filled => "a string that is not blank".to_owned(),
            Shape::Label => label::EXPECTED.to_owned(),
            Shape::OneOf(names) => {
                let names: Vec<String> = names.iter().map(|name| show::quoted(name)).collect();
                format!("one of {}", names.join(", "))
            }
            Shape::Score => "a number from 0 to 1".to_owned(),
            Shape::Amount => "a number ≥ 0".to_owned(),
            Shape::Count => "an integer ≥ 0".to_owned(),
            Shape::Line => "a line number, an integer ≥ 1".to_owned(),
            Shape::LineRange => "the first and the last line, two ascending integers ≥ 1".to_owned(),
            Shape::Flag => "true or false".to_owned(),
            Shape::Time => time::EXPECTED.to_owned(),
            Shape::Texts | Shape::Labels => "a list of strings".to_owned(),
            Shape::Objects(_) | Shape::FewObjects(_) => "a list of objects".to_owned(),
            Shape::Object(_) => "an object".to_owned(),
        }
    }
}

/// Returns a hint for fixing a value of the wrong shape.
fn help(shape: Shape, value: &Value<'_>) -> Option<String> {
    match (shape, value) {
        (_, Value::NullKeyword(_)) => Some("leave the field out".to_owned()),
        (Shape::Time, Value::StringLit(text)) => time::help(&text.value),
        (Shape::OneOf(names), Value::StringLit(text)) if text.value.len() <= LABEL_BYTES => {
            aurora_suggest::did_you_mean(&text.value, names.iter().copied())
        }
        (Shape::Score | Shape::Amount | Shape::Count | Shape::Line, Value::StringLit(text)) => {
            text.value.parse::<f64>().is_ok().then(|| "remove the quotes".to_owned())
        }
        (Shape::Texts | Shape::Labels, Value::StringLit(_)) => Some("put brackets around it".to_owned()),
        _ => None,
    }
}

fn is_within(number: &str, max: f64) -> bool {
    number.parse().is_ok_and(|number: f64| (0.0..=max).contains(&number))
}

fn is_line_range(values: &Array<'_>) -> bool {
    match values.elements.as_slice() {
        [first, last] => line(first).zip(line(last)).is_some_and(|(first, last)| first <= last),
        _ => false,
    }
}

fn line(value: &Value<'_>) -> Option<u32> {
    match value {
        Value::NumberLit(number) => number.value.parse().ok().filter(|line| *line >= 1),
        _ => None,
    }
}
