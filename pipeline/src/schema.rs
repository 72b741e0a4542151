//! A JSON Schema (draft 2020-12) of the pipeline file, for editors that check and complete TOML.

use serde_json::{Map, Value, json};

use crate::config::RunConfig;
use crate::reference::{Key, TableReference, ValueType};
use crate::registry::Registry;
use crate::resolved_stage::STAGE_KEYS;

/// Pattern of a size: a number with an optional unit, such as `KiB` or `MB`.
const SIZE_PATTERN: &str = r"^\s*[0-9]+(\.[0-9]+)?\s*([KkMmGgTt]([Ii]?[Bb])?|[Bb])?\s*$";

impl Registry {
    /// Returns a JSON Schema (draft 2020-12) for pipelines with the registered stage types. `builtins` contains the
    /// names of the pipelines that can be used in `extends`.
    ///
    /// The schema covers keys and types of values. Only [`load`](crate::load) finds errors that involve several stages,
    /// such as a column that no stage writes.
    pub fn schema(&self, builtins: &[&str]) -> Value {
        let types: Vec<&str> = self.stage_types().collect();
        let mut definitions = Map::new();
        let mut stages = Map::new();
        let mut selected = Vec::new();
        for &name in &types {
            let reference = format!("#/$defs/{name}");
            definitions.insert(name.to_owned(), self.stage(name));
            // If a table has the key `use`, its other keys depend on the type that `use` names and not on the name of
            // the table.
            let used = json!({ "required": ["use"] });
            stages.insert(
                name.to_owned(),
                json!({ "if": used, "then": { "$ref": "#/$defs/any-stage" }, "else": { "$ref": reference } }),
            );
            selected
                .push(json!({ "if": { "properties": { "use": { "const": name } } }, "then": { "$ref": reference } }));
        }
        definitions.insert(
            "any-stage".to_owned(),
            json!({
                "type": "object",
                "required": ["use"],
                "properties": { "use": { "enum": types } },
                "allOf": selected,
            }),
        );
        json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Aurora pipeline",
            "type": "object",
            "properties": {
                "extends": {
                    "description": "The pipeline that this one changes.",
                    "enum": builtins,
                },
                "run": object(RunConfig::reference().summary, keys_of(&RunConfig::reference())),
                "stage": {
                    "description": "The stages, by name. A name that is not a stage type needs `use`.",
                    "type": "object",
                    "properties": stages,
                    "additionalProperties": { "$ref": "#/$defs/any-stage" },
                },
            },
            "additionalProperties": false,
            "$defs": definitions,
        })
    }

    /// Returns the schema of the table of a stage type, with the keys of the type and the keys that all stages have.
    fn stage(&self, name: &str) -> Value {
        let Some(known) = self.get(name) else { return json!(true) };
        let mut keys = match (&known.reference, known.keys) {
            (Some(reference), _) => keys_of(reference),
            (None, Some(names)) => names.iter().map(|&name| (name.to_owned(), json!(true))).collect(),
            (None, None) => return json!({ "type": "object" }),
        };
        keys.extend(STAGE_KEYS.iter().map(|key| (key.name.to_owned(), value(key, None))));
        object(known.reference.as_ref().map_or("", |reference| reference.summary), keys)
    }
}

fn object(description: &str, properties: Map<String, Value>) -> Value {
    json!({
        "description": description,
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

fn keys_of(table: &TableReference) -> Map<String, Value> {
    table.keys.iter().map(|key| (key.name.to_owned(), value(key, table.default_of(key)))).collect()
}

fn value(key: &Key, default: Option<&Value>) -> Value {
    let mut schema = match key.value {
        ValueType::Bool => json!({ "type": "boolean" }),
        ValueType::Count { least, most: None } => json!({ "type": "integer", "minimum": least }),
        ValueType::Count { least, most: Some(most) } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        ValueType::Size => json!({
            "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "string", "pattern": SIZE_PATTERN }],
        }),
        ValueType::String => json!({ "type": "string" }),
        ValueType::Strings => json!({ "type": "array", "items": { "type": "string" } }),
        ValueType::Table => json!({ "type": "object" }),
        ValueType::OneOf(words) => json!({ "enum": words }),
    };
    let unit = if key.unit.is_empty() { String::new() } else { format!(" Unit: {}.", key.unit) };
    schema["description"] = json!(format!("{}{unit}", key.meaning));
    if let Some(default) = default {
        schema["default"] = default.clone();
    }
    schema
}
