//! An entry of memory.

mod governance;
mod links;
mod log_reference;
mod metadata;
mod naming;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use thiserror::Error;

use crate::blank::is_blank;
use crate::kind::Kind;
use crate::limit::LIST_VALUES;
use crate::{id, label, show};

pub use governance::{LifespanPolicy, RetentionRule};
pub use links::Link;
pub use log_reference::LogReference;

/// An entry of memory: a document of JSON in the shape of its [`Kind`], with an id.
///
/// It serialises as the document. What a document leaves out, or has in another shape than its schema says, an accessor answers
/// with `None` or an empty list.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    id: String,
    kind: Kind,
    document: Map<String, Value>,
}

/// Why a stored text is no entry.
#[derive(Debug, Error)]
pub enum StoredError {
    /// The text is not a JSON object.
    #[error("the stored entry is no JSON object: {0}")]
    Json(#[from] serde_json::Error),
    /// There is no `type`, or no kind has this name.
    #[error("the stored entry has no known `type`")]
    Kind,
    /// There is no id, or it is none of this kind.
    #[error("the stored entry has no `id` of its kind, which begins with `{0}`")]
    Id(&'static str),
}

/// Why an entry cannot be changed so.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum EditError {
    /// A tag or a relation that is none.
    #[error("{0} must be {expected}", expected = label::EXPECTED)]
    Label(String),
    /// More tags or links than an entry may have.
    #[error("an entry has at most {LIST_VALUES} {0}")]
    TooMany(&'static str),
    /// The id is none of the entry's kind, or a link's target is no id.
    #[error("the id {0}")]
    Id(String),
    /// A link from an entry to itself.
    #[error("an entry cannot be linked with itself")]
    LinkToItself,
    /// The weight of a link is not between 0 and 1.
    #[error("the weight of a link must be a number from 0 to 1, not {0}")]
    Weight(f64),
}

impl Entry {
    /// Of a checked document. `id` and `type` are written into it.
    pub(crate) fn new(kind: Kind, id: String, mut document: Map<String, Value>) -> Self {
        document.insert("id".to_owned(), Value::String(id.clone()));
        document.insert("type".to_owned(), Value::String(kind.name().to_owned()));
        Self { id, kind, document }
    }

    /// The entry that was serialised. Only its id and its kind are checked: what people write is read with
    /// [`crate::read_json`].
    ///
    /// # Errors
    /// See [`StoredError`].
    pub fn from_stored(text: &str) -> Result<Self, StoredError> {
        Self::from_document(serde_json::from_str(text)?)
    }

    /// The same of a document that was parsed.
    ///
    /// # Errors
    /// See [`StoredError`].
    pub fn from_document(document: Map<String, Value>) -> Result<Self, StoredError> {
        let field = |name| document.get(name).and_then(Value::as_str);
        let kind = field("type").and_then(Kind::named).ok_or(StoredError::Kind)?;
        let id = field("id").filter(|id| id::problem(kind, id).is_none()).ok_or(StoredError::Id(kind.prefix()))?;
        Ok(Self::new(kind, id.to_owned(), document))
    }

    /// The same entry with the secrets in its texts masked. Its id stays.
    #[must_use]
    pub fn without_secrets(self) -> Self {
        Self::new(self.kind, self.id, without_secrets(self.document))
    }

    /// The id, with the prefix of the kind.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// The whole document, with all fields that were read.
    pub fn document(&self) -> &Map<String, Value> {
        &self.document
    }

    /// Gives the entry another id.
    ///
    /// # Errors
    /// [`EditError::Id`] if it is no id of this kind.
    pub fn set_id(&mut self, id: &str) -> Result<(), EditError> {
        if let Some(problem) = id::new_problem(self.kind, id) {
            return Err(EditError::Id(problem.message));
        }
        id.clone_into(&mut self.id);
        self.document.insert("id".to_owned(), Value::String(self.id.clone()));
        Ok(())
    }

    /// A field of `content`.
    pub fn content(&self, name: &str) -> Option<&Value> {
        self.field("content", name)
    }

    /// A field of `content`, `metadata`, `governance` or `conversation_log_reference`.
    pub(crate) fn field(&self, section: &str, name: &str) -> Option<&Value> {
        self.document.get(section)?.get(name)
    }

    /// The same, if it is a string that is not blank.
    pub(crate) fn text(&self, section: &str, name: &str) -> Option<&str> {
        self.field(section, name)?.as_str().filter(|text| !is_blank(text))
    }

    /// The strings of a list.
    pub(crate) fn texts(&self, section: &str, name: &str) -> Vec<&str> {
        strings(self.field(section, name))
    }

    /// Sets a field of a section, or removes it.
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

/// The strings among the values of a list.
pub(crate) fn strings(list: Option<&Value>) -> Vec<&str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

/// The label with its secrets masked.
fn checked_label(text: &str) -> Result<String, EditError> {
    match label::is_label(text) {
        true => Ok(aurora_redact::masked(text.to_owned())),
        false => Err(EditError::Label(show::quoted(text))),
    }
}

/// A document with the secrets in its texts and in the names of its fields masked.
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

/// The text of a field, masked if the name of the field makes it a secret.
fn masked_assignment(name: &str, text: String) -> String {
    if text.contains('\n') {
        return text;
    }
    let start = format!("\"{name}\": \"");
    let masked = aurora_redact::masked(format!("{start}{text}\""));
    // A mask changes no offset.
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

#[cfg(test)]
mod tests {
    use super::Entry;

    #[test]
    fn a_field_with_the_name_of_a_secret_is_masked() {
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
