//! Compares a JSON document with a table of its fields.

use std::collections::HashMap;
use std::ops::Range;

use aurora_suggest::did_you_mean;

use super::key_path::KeyPath;
use super::{Document, Entry, Form, Node, Report, Value, quoted};

/// Maximum length in bytes of a name for which a similar name is suggested. The comparison of longer names would take
/// too long.
const MAX_COMPARED_BYTES: usize = 128;

/// A field of an object.
#[derive(Clone, Copy)]
pub struct Field {
    /// Name of the field.
    pub name: &'static str,
    /// Rule for the value of the field.
    pub shape: Shape,
    /// Whether the object must have the field.
    pub is_required: bool,
}

/// The rule for a value.
#[derive(Clone, Copy)]
pub enum Shape {
    /// Any value.
    Any,
    /// A string.
    Text,
    /// A string that is not blank.
    Filled,
    /// One of the given strings.
    OneOf(&'static [&'static str]),
    /// A number from the first value to the second, inclusive.
    Number(f64, f64),
    /// An integer from the first value to the second, inclusive.
    Integer(u64, u64),
    /// `true` or `false`.
    Flag,
    /// A value that passes a custom check.
    Custom(&'static Rule),
    /// A list of values.
    List(&'static Shape),
    /// A list of at most [`Form::max_list_values`] values.
    ShortList(&'static Shape),
    /// An object.
    Object(&'static Group),
}

/// A custom check of a value.
pub struct Rule {
    /// A description of valid values, such as `a date`.
    pub expected: &'static str,
    /// Checks a value.
    pub check: fn(&Node<'_>) -> Result<(), Fault>,
}

/// The reason why a value fails a [`Rule`].
#[derive(Default)]
pub struct Fault {
    /// The error code; `None` for [`Form::invalid`].
    pub code: Option<&'static str>,
    /// The message after the path; `None` for `must be …, not …`.
    pub message: Option<String>,
    /// The help text.
    pub help: Option<String>,
}

/// The fields of an object, and rules for the object as a whole.
pub struct Group {
    /// The fields.
    pub fields: &'static [Field],
    /// Whether fields that are not listed are mistakes.
    pub is_closed: bool,
    /// Returns a hint for an unknown field.
    pub hint: fn(&str) -> Option<String>,
    /// Returns the rule that the object as a whole breaks, if any, such as `must have a name`.
    pub rule: fn(&Node<'_>) -> Option<String>,
}

impl Field {
    /// Creates an optional field.
    pub const fn optional(name: &'static str, shape: Shape) -> Self {
        Self { name, shape, is_required: false }
    }

    /// Creates a required field.
    pub const fn required(name: &'static str, shape: Shape) -> Self {
        Self { name, shape, is_required: true }
    }
}

impl Group {
    /// Creates a group that also allows fields that are not listed.
    pub const fn open(fields: &'static [Field]) -> Self {
        Self { fields, is_closed: false, hint: |_| None, rule: |_| None }
    }

    /// Creates a group that allows only the listed fields.
    pub const fn closed(fields: &'static [Field]) -> Self {
        Self { is_closed: true, ..Self::open(fields) }
    }

    /// Returns the field with this name.
    fn field(&self, name: &str) -> Option<&'static Field> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the names of all fields.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.fields.iter().map(|field| field.name)
    }
}

/// Reports unknown, missing and repeated fields, invalid values, and values that exceed the limits of the form.
pub fn check<'t>(report: &mut Report<'t>, form: &Form, document: &Document<'t>, group: &'static Group) {
    Checker { report, form, document, path: KeyPath::default() }.object(&document.root, Some(group));
}

struct Checker<'r, 't> {
    report: &'r mut Report<'t>,
    form: &'r Form,
    document: &'r Document<'t>,
    path: KeyPath,
}

impl Checker<'_, '_> {
    /// Checks the entries of an object. If `group` is `None`, checks only the limits and reports repeated keys.
    fn object(&mut self, object: &Node<'_>, group: Option<&Group>) {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for entry in object.entries() {
            if self.report.is_full() {
                return;
            }
            let outer = self.path.enter(&entry.key);
            self.limits(&entry.key, &entry.key_span);
            if let Some(first) = seen.insert(&entry.key, entry.key_span.start) {
                let help = format!("it is also set on line {}", self.report.line(first));
                self.error(self.form.duplicate, &entry.key_span, "is set twice", Some(help));
            }
            match group.map(|group| (group, group.field(&entry.key))) {
                Some((_, Some(field))) if !self.is_missing(entry, field) => self.value(&entry.node, field.shape),
                Some((group, None)) if group.is_closed => {
                    self.path.leave(outer);
                    let (owner, help) = (self.owner(), unknown_help(&entry.key, group, self.path.is_root()));
                    self.path.enter(&entry.key);
                    self.error(self.form.unknown, &entry.key_span, &format!("is not a field {owner}"), Some(help));
                }
                Some((_, Some(_))) => {}
                _ => self.any(&entry.node),
            }
            self.path.leave(outer);
        }
        let Some(group) = group else { return };
        // The reported location is the opening bracket, because the whole object could be very long.
        let at = object.span.start..object.span.start + 1;
        for field in group.fields.iter().filter(|field| field.is_required) {
            if !object.entries().iter().any(|entry| entry.key == field.name && !self.is_missing(entry, field)) {
                let outer = self.path.enter(field.name);
                self.error(self.form.missing, &at, &format!("is missing; it must be {}", expected(field.shape)), None);
                self.path.leave(outer);
            }
        }
        if let Some(rule) = (group.rule)(object) {
            self.error(self.form.missing, &at, &rule, None);
        }
    }

    fn is_missing(&self, entry: &Entry<'_>, field: &Field) -> bool {
        self.form.null_is_missing && entry.node.is_null() && !matches!(field.shape, Shape::Any)
    }

    /// Describes the current object, as in `is not a field of …`.
    fn owner(&self) -> String {
        if self.path.is_root() { format!("of {}", self.form.noun) } else { format!("of {}", self.path) }
    }

    fn value(&mut self, node: &Node<'_>, shape: Shape) {
        if let Value::Text(text) = &node.value {
            self.limits(text, &node.span);
        }
        let is_right = match (shape, &node.value) {
            (Shape::Any, _) => return self.any(node),
            (Shape::Object(group), Value::Table(_)) => return self.object(node, Some(group)),
            (Shape::List(shape), Value::List(items)) => return self.list(items, Some(*shape)),
            (Shape::ShortList(shape), Value::List(items)) => return self.short_list(node, items, *shape),
            (Shape::Custom(rule), _) => return self.custom(node, rule),
            (Shape::Text, Value::Text(_)) | (Shape::Flag, Value::Flag(_)) => true,
            (Shape::Filled, Value::Text(text)) => !is_blank(text),
            (Shape::OneOf(names), Value::Text(text)) => names.contains(&text.as_ref()),
            (Shape::Number(min, max), _) => node.number().is_some_and(|number: f64| (min..=max).contains(&number)),
            (Shape::Integer(min, max), _) => node.number().is_some_and(|number: u64| (min..=max).contains(&number)),
            _ => false,
        };
        if !is_right {
            self.wrong(node, &expected(shape), help(shape, node));
        }
    }

    /// Checks the limits of a value that has no rule.
    fn any(&mut self, node: &Node<'_>) {
        match &node.value {
            Value::Text(text) => self.limits(text, &node.span),
            Value::List(items) if self.form.limits_all_values => self.list(items, None),
            Value::Table(_) if self.form.limits_all_values => self.object(node, None),
            _ => {}
        }
    }

    fn short_list(&mut self, list: &Node<'_>, items: &[Node<'_>], shape: Shape) {
        let max = self.form.max_list_values;
        if items.len() > max {
            let at = list.span.start..list.span.start + 1;
            self.error(self.form.limit, &at, &format!("has {} values; at most {max} are allowed", items.len()), None);
        } else {
            self.list(items, Some(shape));
        }
    }

    fn list(&mut self, items: &[Node<'_>], shape: Option<Shape>) {
        for (index, item) in items.iter().enumerate() {
            if self.report.is_full() {
                return;
            }
            let outer = self.path.enter_index(index);
            match shape {
                Some(shape) => self.value(item, shape),
                None => self.any(item),
            }
            self.path.leave(outer);
        }
    }

    fn custom(&mut self, node: &Node<'_>, rule: &Rule) {
        match (rule.check)(node) {
            Ok(()) => {}
            Err(Fault { code, message: Some(message), help }) => {
                self.error(code.unwrap_or(self.form.invalid), &node.span, &message, help);
            }
            Err(Fault { help, .. }) => self.wrong(node, rule.expected, help.or_else(|| null_help(node))),
        }
    }

    fn limits(&mut self, text: &str, at: &Range<usize>) {
        let max = self.form.max_text_bytes;
        if text.len() > max {
            self.error(self.form.limit, at, &format!("has {} bytes; at most {max} are allowed", text.len()), None);
        }
        if self.form.limits_all_values && text.contains('\0') {
            self.error(self.form.invalid, at, "must not contain NUL characters (`\\u0000`)", None);
        }
    }

    fn wrong(&mut self, node: &Node<'_>, expected: &str, help: Option<String>) {
        let shown = match node.value {
            Value::Table(_) => "an object".to_owned(),
            _ => self.document.display_value(node),
        };
        self.error(self.form.invalid, &node.span, &format!("must be {expected}, not {shown}"), help);
    }

    fn error(&mut self, code: &'static str, at: &Range<usize>, problem: &str, help: Option<String>) {
        self.report.error(code, at.clone(), format!("{} {problem}", self.path), help);
    }
}

fn unknown_help(name: &str, group: &Group, is_root: bool) -> String {
    let has_it = |field: &&Field| matches!(field.shape, Shape::Object(inner) if inner.field(name).is_some());
    let owner =
        group.fields.iter().filter(|_| is_root).find(has_it).map(|field| format!("it belongs in `{}`", field.name));
    let hint = (group.hint)(name).or(owner);
    let hint = hint.or_else(|| did_you_mean(name, group.names()).filter(|_| name.len() <= MAX_COMPARED_BYTES));
    let names: Vec<String> = group.names().map(|name| format!("`{name}`")).collect();
    hint.unwrap_or_else(|| format!("the fields are {}", names.join(", ")))
}

/// Describes the valid values of a shape, for a message such as `must be …`.
fn expected(shape: Shape) -> String {
    match shape {
        Shape::Any => "any value, such as null".to_owned(),
        Shape::Text => "a string".to_owned(),
        Shape::Filled => "a string that is not blank".to_owned(),
        Shape::OneOf(names) => {
            format!("one of {}", names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", "))
        }
        Shape::Number(min, f64::MAX) => format!("a number ≥ {min}"),
        Shape::Number(min, max) => format!("a number from {min} to {max}"),
        Shape::Integer(min, max) if max >= u64::from(u32::MAX) => format!("an integer ≥ {min}"),
        Shape::Integer(min, max) => format!("an integer from {min} to {max}"),
        Shape::Flag => "true or false".to_owned(),
        Shape::Custom(rule) => rule.expected.to_owned(),
        Shape::List(Shape::Object(_)) | Shape::ShortList(Shape::Object(_)) => "a list of objects".to_owned(),
        Shape::List(_) | Shape::ShortList(_) => "a list of strings".to_owned(),
        Shape::Object(_) => "an object".to_owned(),
    }
}

/// Returns a hint for correcting a value that does not match its shape.
fn help(shape: Shape, node: &Node<'_>) -> Option<String> {
    match (shape, node.text()) {
        (Shape::OneOf(names), Some(text)) if text.len() <= MAX_COMPARED_BYTES => {
            did_you_mean(text, names.iter().copied())
        }
        (Shape::Number(..) | Shape::Integer(..), Some(text)) => {
            text.parse::<f64>().is_ok().then(|| "remove the quotes".to_owned())
        }
        (Shape::List(_) | Shape::ShortList(_), Some(_)) => Some("put brackets around it".to_owned()),
        _ => null_help(node),
    }
}

fn null_help(node: &Node<'_>) -> Option<String> {
    node.is_null().then(|| "leave the field out".to_owned())
}

/// Whether a text has only white space. The byte order mark counts as white space, as in JSON Schema but not in
/// Unicode.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c == '\u{feff}')
}
