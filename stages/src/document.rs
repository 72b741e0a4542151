//! Documents that a custom stage supplies from elsewhere: tickets, wiki pages.

use std::sync::Arc;

use aurora_pipeline::{Cell, Value};
use serde::Deserialize;

/// Longest text of a document, in bytes.
const LONGEST: usize = 4 << 20;
/// Longest path, in bytes.
const LONGEST_PATH: usize = 1_024;

/// What a file row that is not a file of the tree says of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// Its text.
    Text(Arc<str>),
    /// It does not exist any more.
    Deleted,
    /// Nothing of one document: all others below the path of the row are as they were.
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
enum Given {
    Text(String),
    Deleted(bool),
    Rest(bool),
}

/// Takes a document as a stage gives it: `{"text": …}`, `{"deleted": true}` or `{"rest": true}`.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn set(cell: &mut Option<Document>, value: Value) -> Result<(), String> {
    let Value::Json(json) = value else { return Err("a document is an object".to_owned()) };
    *cell = Some(match serde_json::from_value(json).map_err(|error| error.to_string())? {
        Given::Text(text) if text.len() > LONGEST => return Err(format!("a text of more than {LONGEST} bytes")),
        Given::Text(text) => Document::Text(text.into()),
        Given::Deleted(true) => Document::Deleted,
        Given::Rest(true) => Document::Rest,
        Given::Deleted(false) | Given::Rest(false) => return Err("`false` says nothing".to_owned()),
    });
    Ok(())
}

/// Takes the path of a document.
///
/// # Errors
/// When it is no plain relative path below a directory whose name begins with `@`.
pub(crate) fn set_path(path: &mut Arc<str>, value: Value) -> Result<(), String> {
    let Value::String(given) = value else { return Err("a path is a text".to_owned()) };
    let is_part = |part: &str| {
        !part.is_empty() && part != "." && part != ".." && !part.contains(|c: char| c.is_control() || c == '\\')
    };
    let whole = given.strip_suffix('/').unwrap_or(&given);
    if !given.starts_with('@') || given.len() > LONGEST_PATH || !whole.split('/').all(is_part) {
        return Err(format!("`{}` is not the path of a document", given.chars().take(80).collect::<String>()));
    }
    *path = given.into();
    Ok(())
}
