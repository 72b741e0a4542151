//! A memory entry.

mod governance;
mod links;
mod log_reference;
mod metadata;
mod naming;

use aurora_diagnostics::document::{is_blank, quoted};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::kind::Kind;
use crate::limit::LIST_VALUES;
use crate::{id, label};

pub use links::Link;
pub use log_reference::LogReference;

/// A memory entry. It has an id, and a JSON document with the schema of its [`Kind`].
///
/// An entry is serialised as its document. Accessors return `None` or an empty list for a field that is missing or does
/// not follow the schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    id: String,
    kind: Kind,
    document: Map<String, Value>,
}

/// The error of a stored text that is not a valid entry.
#[derive(Debug, Error)]
pub enum StoredError {
    /// The text is not a JSON object.
    #[error("the stored entry is not a JSON object: {0}")]
    Json(#[from] serde_json::Error),
    /// The `type` is missing or unknown.
    #[error("the stored entry has no known `type`")]
    Kind,
    /// The id is missing, or is not valid for the kind.
    #[error("the `id` of the stored entry must be a valid id that begins with `{0}`")]
    Id(&'static str),
}

/// The error of an invalid change to an entry.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum EditError {
    /// A tag or relation is not a valid label.
    #[error("{0} must be {expected}", expected = label::EXPECTED)]
    Label(String),
    /// The entry would have too many tags or links.
    #[error("an entry has at most {LIST_VALUES} {0}")]
    TooMany(&'static str),
    /// The new id is not valid for the kind of the entry, or the target of a link is not a valid id.
    #[error("the id {0}")]
    Id(String),
    /// The target of the link is the entry itself.
    #[error("an entry cannot be linked with itself")]
    LinkToItself,
    /// The weight of a link is not between 0 and 1.
    #[error("the weight of a link must be a number from 0 to 1, not {0}")]
    Weight(f64),
}

impl Entry {
    /// Creates an entry from a checked document. Sets `id` and `type` in the document. Does not check the id.
    pub(crate) fn new(kind: Kind, id: String, mut document: Map<String, Value>) -> Self {
        document.insert("id".to_owned(), Value::String(id.clone()));
        document.insert("type".to_owned(), Value::String(kind.name().to_owned()));
        Self { id, kind, document }
    }

    /// Returns the entry with a new id. Does not check the id.
    pub(crate) fn renamed(self, id: String) -> Self {
        Self::new(self.kind, id, self.document)
    }

    /// Parses a serialised entry. Checks only the id and the kind. Use [`crate::read_json`] for input from users.
    ///
    /// # Errors
    /// See [`StoredError`].
    pub fn from_stored(text: &str) -> Result<Self, StoredError> {
        Self::from_document(serde_json::from_str(text)?)
    }

    /// Creates an entry from a parsed document. Checks only the id and the kind.
    ///
    /// # Errors
    /// See [`StoredError`].
    pub fn from_document(document: Map<String, Value>) -> Result<Self, StoredError> {
        let field = |name| document.get(name).and_then(Value::as_str);
        let kind = field("type").and_then(Kind::from_name).ok_or(StoredError::Kind)?;
        let id = field("id").filter(|id| id::problem(kind, id).is_none()).ok_or(StoredError::Id(kind.prefix()))?;
        Ok(Self::new(kind, id.to_owned(), document))
    }

    /// Masks the secrets in the texts of the entry. Does not change the id.
    #[must_use]
    pub fn without_secrets(self) -> Self {
        Self::new(self.kind, self.id, without_secrets(self.document))
    }

    /// Masks the personal data in the texts of the entry. Does not change the id and the links.
    #[must_use]
    pub fn without_personal_data(self) -> Self {
        let masked = |(name, value): (String, Value)| {
            let value = if name == "links" { value } else { mapped_texts(value, aurora_redact::masked_personal) };
            (name, value)
        };
        Self::new(self.kind, self.id, self.document.into_iter().map(masked).collect())
    }

    /// Returns the id, which begins with the prefix of the kind.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the whole document.
    pub fn document(&self) -> &Map<String, Value> {
        &self.document
    }

    /// Changes the id of the entry.
    ///
    /// # Errors
    /// Returns [`EditError::Id`] if the id is invalid for the kind.
    pub fn set_id(&mut self, id: &str) -> Result<(), EditError> {
        if let Some(problem) = id::new_problem(self.kind, id) {
            return Err(EditError::Id(problem.message));
        }
        id.clone_into(&mut self.id);
        self.document.insert("id".to_owned(), Value::String(self.id.clone()));
        Ok(())
    }

    /// Returns a field of `content`.
    pub fn content(&self, name: &str) -> Option<&Value> {
        self.field("content", name)
    }

    /// Returns a field of `content`, `metadata`, `governance` or `conversation_log_reference`.
    pub fn field(&self, section: &str, name: &str) -> Option<&Value> {
        self.document.get(section)?.get(name)
    }

    /// Returns a field of a section if it is a string that is not blank.
    pub fn text(&self, section: &str, name: &str) -> Option<&str> {
        self.field(section, name)?.as_str().filter(|text| !is_blank(text))
    }

    /// Returns the strings in a field that is a list; empty if the field is not a list.
    pub(crate) fn texts(&self, section: &str, name: &str) -> Vec<&str> {
        strings(self.field(section, name))
    }

    /// Sets a field of a section. If `value` is `None`, removes the field, and also the section if it is empty then.
    pub(crate) fn set(&mut self, section: &str, name: &str, value: Option<Value>) {
        let fields = self.document.entry(section).or_insert_with(|| Value::Object(Map::new()));
        if !fields.is_object() {
            *fields = Value::Object(Map::new());
        }
        let Value::Object(fields) = fields else { return };
        match value {
            Some(value) => drop(fields.insert(name.to_owned(), value)),
            None => drop(fields.remove(name)),
        }
        let is_empty = fields.is_empty();
        if is_empty {
            self.document.remove(section);
        }
    }
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.document.serialize(serializer)
    }
}

/// Returns the strings in a list, and ignores all other values. Returns an empty list if `list` is not a list.
pub(crate) fn strings(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Checks a label, and masks the secrets in it.
fn checked_label(text: &str) -> Result<String, EditError> {
    match label::is_label(text) {
        true => Ok(aurora_redact::masked(text.to_owned())),
        false => Err(EditError::Label(quoted(text))),
    }
}

/// Masks the secrets in the texts and field names of a document.
pub(crate) fn without_secrets(document: Map<String, Value>) -> Map<String, Value> {
    let masked = |(name, value): (String, Value)| {
        let value = match masked_value(value) {
            Value::String(text) => Value::String(masked_assignment(&name, text)),
            other => other,
        };
        (aurora_redact::masked(name), value)
    };
    document.into_iter().map(masked).collect()
}

/// Masks the text of a field if the name of the field, such as `password`, indicates that the text is a secret.
fn masked_assignment(name: &str, text: String) -> String {
    if text.contains('\n') {
        return text;
    }
    let start = format!("\"{name}\": \"");
    let masked = aurora_redact::masked(format!("{start}{text}\""));
    // Masking preserves the length and the offsets of a text.
    masked.get(start.len()..start.len() + text.len()).map_or(text, str::to_owned)
}

fn masked_value(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(aurora_redact::masked(text)),
        Value::Array(values) => values.into_iter().map(masked_value).collect(),
        Value::Object(fields) => Value::Object(without_secrets(fields)),
        other => other,
    }
}

/// Applies a function to every text in a value.
fn mapped_texts(value: Value, map: fn(String) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(map(text)),
        Value::Array(values) => values.into_iter().map(|value| mapped_texts(value, map)).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, mapped_texts(value, map))).collect::<Map<_, _>>().into()
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::Entry;

    #[test]
    fn personal_data_is_masked_except_in_ids_and_links() {
        let text = r#"{"id": "note:a@b.com", "type": "note", "content": {"text": "call +44 20 7946 0958", "n": [1, "a@b.com"]},
                       "links": [{"to": "note:c@b.com", "relation": "supports"}]}"#;
        let entry = Entry::from_document(serde_json::from_str(text).unwrap()).unwrap().without_personal_data();
        let shown = serde_json::to_string(entry.document()).unwrap();
        assert!(!shown.contains("7946") && !shown.contains("\"a@b.com"), "{shown}");
        assert!(entry.id() == "note:a@b.com" && shown.contains("note:c@b.com"), "{shown}");
    }

    #[test]
    fn fields_whose_names_indicate_secrets_are_masked() {
        let secret = ["k3Jd82mXq0PzL5vR", "t7NcY1wBs9HfGa4eUiTo"].concat();
        let check = |name: &str, value: &str, is_masked: bool| {
            let document = serde_json::json!({"id": "note:a", "type": "note", "content": {"text": "a", name: value}});
            let entry = Entry::from_stored(&document.to_string()).unwrap().without_secrets();
            let found = entry.content(name).unwrap().as_str().unwrap();
            assert_eq!(found != value, is_masked, "{name}: {found}");
            assert_eq!(found.len(), value.len());
            assert_eq!(entry.clone().without_secrets(), entry);
        };
        check("password", &secret, true);
        check("api_key", &secret, true);
        check("digest", &secret, false);
        check("password", "correct horse", false);
        check("password", "with \"quotes\" and é", false);
    }
}
