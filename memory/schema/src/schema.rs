//! The JSON Schema of each kind of entry.

use crate::kind::Kind;

/// Returns the JSON Schema (draft 2020-12) of a kind as JSON.
///
/// [`crate::read_json`] rejects every document that the schema rejects. It also checks rules that a schema cannot
/// express, such as the order of lines, lengths in bytes, and the conditions of retention rules.
pub fn schema(kind: Kind) -> &'static str {
    match kind {
        Kind::Reasoning => include_str!("../schemas/reasoning.json"),
        Kind::Knowledge => include_str!("../schemas/knowledge.json"),
        Kind::Note => include_str!("../schemas/note.json"),
        Kind::Turn => include_str!("../schemas/turn.json"),
        Kind::Code => include_str!("../schemas/code.json"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use aurora_diagnostics::document::{Group, Shape};
    use serde_json::Value;

    use super::*;
    use crate::field::entry_fields;

    #[test]
    fn schemas_have_the_fields_of_the_table() {
        for &kind in Kind::ALL {
            let schema: Value = serde_json::from_str(schema(kind)).unwrap();
            assert_eq!(schema["$id"], format!("aurora:memory/{kind}"));
            compare(&schema, &schema, entry_fields(kind), kind.name());
        }
    }

    /// Compares the schema of an object and of its nested objects with the table of fields.
    fn compare(whole: &Value, schema: &Value, group: &Group, path: &str) {
        let schema = resolve(whole, schema);
        let properties = schema["properties"].as_object().unwrap_or_else(|| panic!("{path} has no properties"));
        let names: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        assert_eq!(names, group.names().collect(), "{path}");
        let required: BTreeSet<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let expected = group.fields.iter().filter(|field| field.is_required).map(|field| field.name);
        assert_eq!(required, expected.collect(), "{path}");
        assert_eq!(schema.get("additionalProperties") == Some(&Value::Bool(false)), group.is_closed, "{path}");
        for field in group.fields {
            let inner = resolve(whole, &properties[field.name]);
            let path = format!("{path}.{}", field.name);
            match field.shape {
                Shape::Object(group) => compare(whole, inner, group, &path),
                Shape::List(Shape::Object(group)) | Shape::ShortList(Shape::Object(group)) => {
                    compare(whole, &inner["items"], group, &path)
                }
                _ => {}
            }
        }
    }

    fn resolve<'s>(whole: &'s Value, schema: &'s Value) -> &'s Value {
        let reference = schema["$ref"].as_str().map(|reference| reference.trim_start_matches('#'));
        reference.map_or(schema, |reference| whole.pointer(reference).unwrap_or_else(|| panic!("no {reference}")))
    }
}
