//! Validates values with the part of JSON Schema that the schema of pipelines uses. Any other keyword makes the test
//! fail.

use aurora_pipeline::parse_bytes;
use serde_json::Value;

/// Checks a value against a schema. The error describes the first reason why the value is invalid.
pub(crate) fn check(schema: &Value, value: &Value) -> Result<(), String> {
    Validator { root: schema }.check(schema, value)
}

struct Validator<'s> {
    root: &'s Value,
}

impl Validator<'_> {
    fn check(&self, schema: &Value, value: &Value) -> Result<(), String> {
        let keywords = match schema {
            Value::Bool(true) => return Ok(()),
            Value::Bool(false) => return Err(format!("{value} is not allowed")),
            schema => schema.as_object().expect("a schema is an object or a boolean"),
        };
        for (keyword, argument) in keywords {
            self.keyword(keyword, argument, schema, value).map_err(|reason| format!("{keyword}: {reason}"))?;
        }
        Ok(())
    }

    fn keyword(&self, keyword: &str, argument: &Value, schema: &Value, value: &Value) -> Result<(), String> {
        let is_met = match keyword {
            "$schema" | "title" | "description" | "default" | "$defs" | "then" | "else" => true,
            "$ref" => return self.check(self.resolve(argument), value),
            "type" => is_of_type(argument, value),
            "enum" => argument.as_array().expect("the value is a list").contains(value),
            "const" => argument == value,
            "minimum" => {
                value.as_i64().is_none_or(|number| number >= argument.as_i64().expect("the value is a number"))
            }
            "maximum" => {
                value.as_i64().is_none_or(|number| number <= argument.as_i64().expect("the value is a number"))
            }
            // The only pattern in the schema is the one for sizes.
            "pattern" => value.as_str().is_none_or(|text| parse_bytes(text).is_some()),
            "required" => {
                let names = argument.as_array().expect("the value is a list");
                value.as_object().is_none_or(|table| names.iter().all(|name| table.contains_key(text(name))))
            }
            "items" => {
                return value.as_array().into_iter().flatten().try_for_each(|item| self.check(argument, item));
            }
            "properties" => return self.properties(argument, value),
            "additionalProperties" => return self.additional(argument, schema, value),
            "allOf" => {
                return argument
                    .as_array()
                    .expect("the value is a list")
                    .iter()
                    .try_for_each(|part| self.check(part, value));
            }
            "anyOf" => {
                argument.as_array().expect("the value is a list").iter().any(|part| self.check(part, value).is_ok())
            }
            "if" => {
                let branch = if self.check(argument, value).is_ok() { "then" } else { "else" };
                return schema.get(branch).map_or(Ok(()), |branch| self.check(branch, value));
            }
            other => panic!("the schema uses `{other}`, which this test does not know"),
        };
        if is_met { Ok(()) } else { Err(format!("{value} does not meet {argument}")) }
    }

    fn resolve(&self, reference: &Value) -> &Value {
        let path = text(reference).strip_prefix('#').expect("the reference points into the schema");
        self.root.pointer(path).expect("the reference exists")
    }

    fn properties(&self, properties: &Value, value: &Value) -> Result<(), String> {
        for (name, inner) in value.as_object().into_iter().flatten() {
            if let Some(schema) = properties.get(name) {
                self.check(schema, inner).map_err(|reason| format!("{name}: {reason}"))?;
            }
        }
        Ok(())
    }

    fn additional(&self, additional: &Value, schema: &Value, value: &Value) -> Result<(), String> {
        let is_known = |name: &str| schema.get("properties").is_some_and(|known| known.get(name).is_some());
        for (name, inner) in value.as_object().into_iter().flatten().filter(|(name, _)| !is_known(name)) {
            self.check(additional, inner).map_err(|reason| format!("{name}: {reason}"))?;
        }
        Ok(())
    }
}

fn is_of_type(name: &Value, value: &Value) -> bool {
    match text(name) {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        other => panic!("no type is named `{other}`"),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().expect("the value is a string")
}
