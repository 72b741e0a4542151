//! The JSON Schemas of the kinds.

use crate::kind::Kind;

/// The JSON Schema of a kind (draft 2020-12), as the text of a JSON document.
///
/// [`crate::read_json`] accepts nothing that the schema rejects. It also rejects what a schema cannot say: the order of lines,
/// lengths in bytes, conditions of retention rules.
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

    use serde_json::Value;

    use super::*;
    use crate::field::{Group, Shape, of_entry};

    #[test]
    fn schemas_have_the_fields_of_the_table() {
        for kind in Kind::ALL {
            let schema: Value = serde_json::from_str(schema(kind)).unwrap();
            assert_eq!(schema["$id"], format!("aurora:memory/{kind}"));
            compare(&schema, &schema, of_entry(kind), kind.name());
        }
    }

    /// Compares an object's schema with the table, and those of the objects in it.
    fn compare(whole: &Value, schema: &Value, group: &Group, place: &str) {
        let schema = resolved(whole, schema);
        let properties = schema["properties"].as_object().unwrap_or_else(|| panic!("{place} has no properties"));
        let names: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
        assert_eq!(names, group.names().collect(), "{place}");
        let required: BTreeSet<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let expected = group.fields.iter().filter(|field| field.is_required).map(|field| field.name);
        assert_eq!(required, expected.collect(), "{place}");
        assert_eq!(schema.get("additionalProperties") == Some(&Value::Bool(false)), group.is_closed, "{place}");
        for field in group.fields {
            let inner = resolved(whole, &properties[field.name]);
            let place = format!("{place}.{}", field.name);
            match field.shape {
                Shape::Object(group) => compare(whole, inner, group, &place),
                Shape::Objects(group) | Shape::FewObjects(group) => compare(whole, &inner["items"], group, &place),
                _ => {}
            }
        }
    }

    fn resolved<'s>(whole: &'s Value, schema: &'s Value) -> &'s Value {
        let reference = schema["$ref"].as_str().map(|reference| reference.trim_start_matches('#'));
        reference.map_or(schema, |reference| whole.pointer(reference).unwrap_or_else(|| panic!("no {reference}")))
    }
}
