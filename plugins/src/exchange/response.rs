//! The unchecked answer of a stage for the rows of one message.

use std::collections::BTreeMap;
use std::fmt;

use aurora_pipeline::{Entity, Value};
use serde::Deserialize;
use serde::de::{Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

/// Maximum number of items of a list in a value. Limits the memory that a short message can need after parsing.
const MAX_LIST_ITEMS: usize = 65_536;

/// The answer of a stage to one message. Rows are numbered from 0 within the message.
#[derive(Debug, Default)]
pub struct Response {
    /// Values of file columns.
    pub files: ColumnsResponse,
    /// Values of chunk columns.
    pub chunks: ColumnsResponse,
    /// Rows that the stage could not process.
    pub errors: Vec<RowNote>,
    /// Rows that the stage has dropped.
    pub drops: Vec<RowNote>,
}

/// Columns by short name. Each has one optional value per row.
#[derive(Debug, Default, Deserialize)]
pub struct ColumnsResponse {
    /// The columns.
    #[serde(default)]
    pub columns: BTreeMap<String, Vec<CellValue>>,
}

/// An error for a row, or the drop of a row.
#[derive(Debug, Deserialize)]
pub struct RowNote {
    /// `file` or `chunk`.
    #[serde(deserialize_with = "entity")]
    pub entity: Entity,
    /// Index of the row within the message.
    pub row: u32,
    /// The error, or the reason for the drop.
    #[serde(alias = "reason")]
    pub message: String,
}

fn entity<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Entity, D::Error> {
    match String::deserialize(deserializer)?.as_str() {
        "file" => Ok(Entity::File),
        "chunk" => Ok(Entity::Chunk),
        other => Err(D::Error::custom(format!("`{other}` is neither `file` nor `chunk`"))),
    }
}

/// An optional value.
#[derive(Debug, Default, PartialEq)]
pub struct CellValue(pub Option<Value>);

impl<'de> Deserialize<'de> for CellValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(CellVisitor)
    }
}

struct CellVisitor;

impl<'de> Visitor<'de> for CellVisitor {
    type Value = CellValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<CellValue, E> {
        Ok(CellValue(None))
    }

    fn visit_bool<E>(self, value: bool) -> Result<CellValue, E> {
        Ok(CellValue(Some(Value::Bool(value))))
    }

    fn visit_i64<E>(self, value: i64) -> Result<CellValue, E> {
        Ok(CellValue(Some(Value::Integer(value))))
    }

    fn visit_u64<E>(self, value: u64) -> Result<CellValue, E> {
        // Larger numbers do not fit into a column of integers, so the type check rejects them.
        let wide = || Value::Json(serde_json::Value::from(value));
        Ok(CellValue(Some(i64::try_from(value).map_or_else(|_| wide(), Value::Integer))))
    }

    fn visit_f64<E>(self, value: f64) -> Result<CellValue, E> {
        Ok(CellValue(Some(Value::Float(value))))
    }

    fn visit_str<E>(self, value: &str) -> Result<CellValue, E> {
        Ok(CellValue(Some(Value::String(value.to_owned()))))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<CellValue, A::Error> {
        let mut values = Vec::new();
        while let Some(CellValue(value)) = items.next_element()? {
            if values.len() == MAX_LIST_ITEMS {
                return Err(A::Error::custom(format!("a list of more than {MAX_LIST_ITEMS} items")));
            }
            values.push(value);
        }
        Ok(CellValue(Some(list(values))))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<CellValue, A::Error> {
        let mut map = serde_json::Map::new();
        while let Some((key, value)) = entries.next_entry::<String, serde_json::Value>()? {
            map.insert(key, value);
        }
        Ok(CellValue(Some(Value::Json(map.into()))))
    }
}

/// Converts a list of strings into [`Value::Strings`], a list of numbers into [`Value::Vector`], and any other list
/// into [`Value::Json`].
fn list(values: Vec<Option<Value>>) -> Value {
    let text = |value: &Option<Value>| matches!(value, Some(Value::String(_)));
    let number = |value: &Option<Value>| matches!(value, Some(Value::Integer(_) | Value::Float(_)));
    if values.iter().all(text) {
        let texts = values.into_iter().flatten().filter_map(|value| match value {
            Value::String(text) => Some(text),
            _ => None,
        });
        return Value::Strings(texts.collect());
    }
    if values.iter().all(number) {
        let numbers = values.into_iter().flatten().map(|value| match value {
            Value::Integer(number) => number as f32,
            Value::Float(number) => number as f32,
            _ => f32::NAN,
        });
        return Value::Vector(numbers.collect());
    }
    Value::Json(serde_json::Value::Array(values.into_iter().map(json).collect()))
}

fn json(value: Option<Value>) -> serde_json::Value {
    value.map_or(serde_json::Value::Null, |value| match value {
        Value::Json(value) => value,
        other => serde_json::to_value(other).unwrap_or_default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_values_become_values_of_the_corresponding_type() {
        let cell = |text: &str| serde_json::from_str::<CellValue>(text).expect("JSON").0;
        for (text, expected) in [
            ("null", None),
            ("true", Some(Value::Bool(true))),
            ("-3", Some(Value::Integer(-3))),
            ("2.0", Some(Value::Float(2.0))),
            ("\"a\"", Some(Value::String("a".to_owned()))),
            ("[]", Some(Value::Strings(vec![]))),
            ("[\"a\"]", Some(Value::Strings(vec!["a".to_owned()]))),
            ("[1, 0.5]", Some(Value::Vector(vec![1.0, 0.5]))),
            ("[1, null]", Some(Value::Json(serde_json::json!([1, null])))),
            ("{\"a\": [1]}", Some(Value::Json(serde_json::json!({"a": [1]})))),
            ("18446744073709551615", Some(Value::Json(serde_json::json!(18446744073709551615u64)))),
        ] {
            assert_eq!(cell(text), expected, "{text}");
        }
    }
}
