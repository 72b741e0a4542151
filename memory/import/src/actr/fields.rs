//! Fields of a JSON object whose values have to fit the schema of entries.

use aurora_memory_schema::limit;
use serde_json::{Map, Value};

use super::times;

/// What the value of a field must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// A text. A number becomes one.
    Text,
    /// A text that is not blank. A blank one is left out.
    Filled,
    /// A text that can be a tag or a domain.
    Label,
    /// A list of texts.
    Texts,
    /// A list of labels.
    Labels,
    /// The number of a line.
    Line,
    /// A number that is not negative.
    Amount,
    /// An integer that is not negative.
    Count,
    /// `true` or `false`.
    Flag,
    /// A time.
    Time,
}

/// The fields of an object on their way into another one.
pub(super) struct Fields {
    /// What the object is called in messages.
    name: &'static str,
    from: Map<String, Value>,
    to: Map<String, Value>,
    /// What is left out, each in a sentence.
    pub(super) lost: Vec<String>,
}

impl Fields {
    pub(super) fn new(name: &'static str, from: Map<String, Value>) -> Self {
        Self { name, from, to: Map::new(), lost: Vec::new() }
    }

    /// Takes the value of a field out of the object; `null` is none.
    pub(super) fn take(&mut self, field: &str) -> Option<Value> {
        self.from.remove(field).filter(|value| !value.is_null())
    }

    /// The same of a text that is not blank.
    pub(super) fn take_text(&mut self, field: &str) -> Option<String> {
        match self.take(field)? {
            Value::String(text) => Some(text).filter(|text| !text.trim().is_empty()),
            _ => {
                self.lose(field);
                None
            }
        }
    }

    /// Gives a field that is missing a value. The value still has to fit.
    pub(super) fn default(&mut self, field: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value
            && !self.to.contains_key(field)
            && self.from.get(field).is_none_or(Value::is_null)
        {
            self.from.insert(field.to_owned(), value.into());
        }
    }

    /// Sets a field.
    pub(super) fn set(&mut self, field: &str, value: impl Into<Value>) {
        self.to.insert(field.to_owned(), value.into());
    }

    /// Keeps a field whose value fits a shape, and leaves out one that does not.
    pub(super) fn keep(&mut self, field: &str, shape: Shape) {
        let Some(value) = self.take(field) else { return };
        match fitted(value, shape) {
            Fitted::Whole(value) => self.set(field, value),
            Fitted::Nothing => {}
            Fitted::Part(value) => {
                self.set(field, value);
                self.lose(field);
            }
            Fitted::Wrong => self.lose(field),
        }
    }

    /// Says that a value, or a part of it, is left out.
    pub(super) fn lose(&mut self, field: &str) {
        self.lost.push(format!("`{}.{field}` does not fit, and is left out in whole or in part", self.name));
    }

    /// The object with all other fields, as they are.
    pub(super) fn finish(self) -> (Map<String, Value>, Vec<String>) {
        let Self { from, mut to, lost, .. } = self;
        for (field, value) in from {
            if !value.is_null() && !to.contains_key(&field) {
                to.insert(field, value);
            }
        }
        (to, lost)
    }
}

/// What remains of a value.
enum Fitted {
    Whole(Value),
    Part(Value),
    /// It says nothing.
    Nothing,
    Wrong,
}

fn fitted(value: Value, shape: Shape) -> Fitted {
    let whole = |is_fitting: bool, value: Value| if is_fitting { Fitted::Whole(value) } else { Fitted::Wrong };
    match (shape, value) {
        (Shape::Filled | Shape::Label, Value::String(text)) if text.trim().is_empty() => Fitted::Nothing,
        (Shape::Text | Shape::Filled, value) => text_of(value).map_or(Fitted::Wrong, Fitted::Whole),
        (Shape::Label, Value::String(text)) => whole(is_label(&text), text.into()),
        (Shape::Texts, Value::Array(values)) => list(values, usize::MAX, text_of),
        (Shape::Labels, Value::Array(values)) => list(values, limit::LIST_VALUES, |value| match value {
            Value::String(text) => is_label(&text).then_some(Value::String(text)),
            _ => None,
        }),
        (Shape::Line, value) => {
            let is_line = value.as_u64().is_some_and(|line| (1..=u64::from(u32::MAX)).contains(&line));
            whole(is_line, value)
        }
        (Shape::Amount, value) => whole(value.as_f64().is_some_and(|amount| amount >= 0.0), value),
        (Shape::Count, value) => whole(value.is_u64(), value),
        (Shape::Flag, value) => whole(value.is_boolean(), value),
        (Shape::Time, Value::String(text)) => {
            let time = times::seconds(&text).and_then(times::rfc3339);
            time.map_or(Fitted::Wrong, |time| Fitted::Whole(time.into()))
        }
        (Shape::Label | Shape::Texts | Shape::Labels | Shape::Time, _) => Fitted::Wrong,
    }
}

/// A text, or a number as one.
pub(super) fn text_of(value: Value) -> Option<Value> {
    match value {
        Value::String(_) => Some(value),
        Value::Number(number) => Some(number.to_string().into()),
        _ => None,
    }
}

fn list(values: Vec<Value>, most: usize, fit: impl Fn(Value) -> Option<Value>) -> Fitted {
    let count = values.len();
    let kept: Vec<Value> = values.into_iter().filter_map(fit).take(most).collect();
    match kept.len() {
        0 if count == 0 => Fitted::Nothing,
        kept_count if kept_count == count => Fitted::Whole(kept.into()),
        0 => Fitted::Wrong,
        _ => Fitted::Part(kept.into()),
    }
}

fn is_label(text: &str) -> bool {
    aurora_memory_schema::label_problem(text).is_none()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_fit_or_are_left_out() {
        let check = |shape: Shape, value: Value, expected: Option<Value>, is_lost: bool| {
            let shown = format!("{shape:?} {value}");
            let mut fields = Fields::new("content", Map::from_iter([("a".to_owned(), value)]));
            fields.keep("a", shape);
            let (to, lost) = fields.finish();
            assert_eq!((to.get("a").cloned(), !lost.is_empty()), (expected, is_lost), "{shown}");
        };
        check(Shape::Text, json!("x"), Some(json!("x")), false);
        check(Shape::Text, json!(5), Some(json!("5")), false);
        check(Shape::Text, json!([]), None, true);
        check(Shape::Filled, json!(" "), None, false);
        check(Shape::Filled, json!(null), None, false);
        check(Shape::Label, json!("a\tb"), None, true);
        check(Shape::Texts, json!(["a", 1, {}]), Some(json!(["a", "1"])), true);
        check(Shape::Texts, json!("a"), None, true);
        check(Shape::Texts, json!([]), None, false);
        check(Shape::Labels, json!([{}]), None, true);
        check(Shape::Labels, json!(vec!["a"; 300]), Some(json!(vec!["a"; 256])), true);
        check(Shape::Line, json!(0), None, true);
        check(Shape::Line, json!(1), Some(json!(1)), false);
        check(Shape::Line, json!(1.5), None, true);
        check(Shape::Amount, json!(-0.1), None, true);
        check(Shape::Amount, json!(0.1), Some(json!(0.1)), false);
        check(Shape::Count, json!(2), Some(json!(2)), false);
        check(Shape::Flag, json!("true"), None, true);
        check(Shape::Time, json!("2026-10-13 13:35:06"), Some(json!("2026-10-13T13:35:06Z")), false);
        check(Shape::Time, json!("soon"), None, true);
    }

    #[test]
    fn other_fields_stay() {
        let mut fields =
            Fields::new("content", Map::from_iter([("b".to_owned(), json!([1])), ("c".to_owned(), json!(null))]));
        fields.set("a", "x");
        assert_eq!(fields.finish().0, *json!({"a": "x", "b": [1]}).as_object().expect("an object"));
    }
}
