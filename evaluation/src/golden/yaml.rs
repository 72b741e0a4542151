//! Parses golden sets in YAML: a list `queries`. Each item has `query` and either `expected_sources` or `relevant`;
//! `expected_topics` and `min_recall` are optional.

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};
use serde_json::{Map, Number, Value};

use crate::golden::fields::{self, Defaults};
use crate::golden::question::Question;

/// Parses every question and returns it with its line number, from 1.
pub(crate) fn read(text: &str, set: &str) -> Vec<(usize, Result<Question, Vec<String>>)> {
    let documents = match MarkedYaml::load_from_str(text) {
        Ok(documents) => documents,
        Err(error) => {
            let line = error.marker().line().max(1);
            return vec![(line, Err(vec![format!("not YAML: {}", error.info())]))];
        }
    };
    let mut questions = Vec::new();
    for document in &documents {
        let list = match &document.data {
            YamlData::Mapping(fields) => fields.iter().find(|(key, _)| is_named(key, "queries")).map(|(_, list)| list),
            YamlData::Sequence(_) => Some(document),
            _ => None,
        };
        match list.map(|list| (&list.data, line(list))) {
            Some((YamlData::Sequence(items), _)) => {
                for item in items {
                    let id = format!("{set}:{}", line(item));
                    questions.push((line(item), fields::read(&value(item), Defaults { set, id })));
                }
            }
            Some((_, line)) => questions.push((line, Err(vec!["`queries` must be a list".to_owned()]))),
            None => questions.push((line(document), Err(vec!["no list `queries`".to_owned()]))),
        }
    }
    questions
}

fn line(node: &MarkedYaml<'_>) -> usize {
    node.span.start.line().max(1)
}

fn is_named(node: &MarkedYaml<'_>, name: &str) -> bool {
    matches!(&node.data, YamlData::Value(Scalar::String(text)) if text == name)
}

/// Converts a node to JSON. Values that JSON cannot express (tags, infinities, keys that are not strings) become the
/// closest JSON value.
fn value(node: &MarkedYaml<'_>) -> Value {
    match &node.data {
        YamlData::Value(scalar) => match scalar {
            Scalar::Null => Value::Null,
            Scalar::Boolean(flag) => Value::Bool(*flag),
            Scalar::Integer(number) => Value::Number((*number).into()),
            Scalar::FloatingPoint(number) => Number::from_f64(number.into_inner()).map_or(Value::Null, Value::Number),
            Scalar::String(text) => Value::String(text.to_string()),
        },
        YamlData::Representation(text, ..) => Value::String(text.to_string()),
        YamlData::Sequence(items) => items.iter().map(value).collect(),
        YamlData::Mapping(fields) => {
            let mut object = Map::new();
            for (key, item) in fields.iter() {
                let name = match value(key) {
                    Value::String(name) => name,
                    other => other.to_string(),
                };
                object.insert(name, value(item));
            }
            Value::Object(object)
        }
        YamlData::Tagged(_, node) => value(node),
        YamlData::Alias(_) | YamlData::BadValue => Value::Null,
    }
}
