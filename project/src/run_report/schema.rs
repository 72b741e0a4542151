//! The JSON Schema of `report.json`.

use serde_json::{Map, Value, json};
use utoipa::{PartialSchema as _, ToSchema as _};

use super::report::IndexReport;

/// Returns the JSON Schema (draft 2020-12) of `report.json`, derived from the types of the report.
pub fn schema() -> Value {
    let mut found = Vec::new();
    IndexReport::schemas(&mut found);
    let mut definitions: Map<String, Value> =
        found.into_iter().filter_map(|(name, schema)| Some((name, serde_json::to_value(schema).ok()?))).collect();
    let root = serde_json::to_value(IndexReport::schema()).unwrap_or_default();
    definitions.insert("IndexReport".to_owned(), root);
    let mut definitions = Value::Object(definitions);
    adapt(&mut definitions);
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Report of an index run",
        "$ref": "#/$defs/IndexReport",
        "$defs": definitions,
    })
}

/// Replaces what OpenAPI defines in addition to JSON Schema: the place of references, and the formats of numbers.
fn adapt(value: &mut Value) {
    match value {
        Value::Object(object) => {
            if object.get("type").is_some_and(|kind| *kind == "integer" || *kind == "number" || kind.is_array()) {
                object.remove("format");
            }
            if let Some(Value::String(target)) = object.get_mut("$ref") {
                *target = target.replace("#/components/schemas/", "#/$defs/");
            }
            object.values_mut().for_each(adapt);
        }
        Value::Array(values) => values.iter_mut().for_each(adapt),
        _ => {}
    }
}
