//! Documents that a custom stage supplies from outside the tree, such as tickets and wiki pages.

use std::sync::Arc;

use aurora_pipeline::{Cell, Value};
use serde::Deserialize;

/// Maximum length of the text of a document, in bytes.
const MAX_TEXT_BYTES: usize = 4 << 20;
/// Maximum length of the path of a document, in bytes.
const MAX_PATH_BYTES: usize = 1_024;

/// The document in a row that does not represent a file of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// The document has this text.
    Text(Arc<str>),
    /// The document no longer exists.
    Deleted,
    /// The row does not describe a document. It declares that all other documents below the path of the row are
    /// unchanged.
    Rest,
}

impl Cell for Document {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Deleted | Self::Rest => 0,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
enum DocumentInput {
    Text(String),
    Deleted(bool),
    Rest(bool),
}

/// Sets a document from the JSON that a stage returns: `{"text": …}`, `{"deleted": true}` or `{"rest": true}`.
///
/// # Errors
/// Fails if the JSON is not one of these objects, or if the text is longer than [`MAX_TEXT_BYTES`].
pub(crate) fn set(cell: &mut Option<Document>, value: Value) -> Result<(), String> {
    let Value::Json(json) = value else { return Err("a document must be an object".to_owned()) };
    *cell = Some(match serde_json::from_value(json).map_err(|error| error.to_string())? {
        DocumentInput::Text(text) if text.len() > MAX_TEXT_BYTES => {
            return Err(format!("a document must have at most {MAX_TEXT_BYTES} bytes of text"));
        }
        DocumentInput::Text(text) => Document::Text(text.into()),
        DocumentInput::Deleted(true) => Document::Deleted,
        DocumentInput::Rest(true) => Document::Rest,
        DocumentInput::Deleted(false) | DocumentInput::Rest(false) => {
            return Err("`deleted` and `rest` must be `true`".to_owned());
        }
    });
    Ok(())
}

/// Sets the path of a document.
///
/// # Errors
/// Fails if the path is not a plain relative path below a directory whose name begins with `@`.
pub(crate) fn set_path(path: &mut Arc<str>, value: Value) -> Result<(), String> {
    let Value::String(given) = value else { return Err("a path must be a string".to_owned()) };
    let is_part = |part: &str| {
        !part.is_empty() && part != "." && part != ".." && !part.contains(|c: char| c.is_control() || c == '\\')
    };
    let whole = given.strip_suffix('/').unwrap_or(&given);
    if !given.starts_with('@') || given.len() > MAX_PATH_BYTES || !whole.split('/').all(is_part) {
        return Err(format!("`{}` is not the path of a document", given.chars().take(80).collect::<String>()));
    }
    *path = given.into();
    Ok(())
}
