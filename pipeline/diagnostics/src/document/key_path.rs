//! The path to a value in a document, such as `content.facts[2].statement`.

use std::fmt::{self, Write as _};

use super::quoted;

/// Maximum length in bytes of a path in a message, and of an unquoted key in a path.
const MAX_SHOWN_BYTES: usize = 200;

/// The path to a value, displayed in backticks.
#[derive(Default)]
pub(super) struct KeyPath(String);

impl KeyPath {
    /// Appends a field name to the path. Returns the length of the previous path, to be passed to
    /// [`leave`](Self::leave).
    pub(super) fn enter(&mut self, field: &str) -> usize {
        let outer = self.0.len();
        let is_name = !field.is_empty() && field.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        // Other keys are quoted, because they could be mistaken for a path or contain control characters.
        if !is_name || field.len() > MAX_SHOWN_BYTES {
            // Writing to a string does not fail.
            let _ = write!(self.0, "[{}]", quoted(field));
        } else {
            self.0.push_str(if outer > 0 { "." } else { "" });
            self.0.push_str(field);
        }
        outer
    }

    /// Appends a list index to the path. Returns the length of the previous path.
    pub(super) fn enter_index(&mut self, index: usize) -> usize {
        let outer = self.0.len();
        let _ = write!(self.0, "[{index}]");
        outer
    }

    /// Restores the previous path, whose length is `outer`.
    pub(super) fn leave(&mut self, outer: usize) {
        self.0.truncate(outer);
    }

    /// Whether the path refers to the whole document.
    pub(super) fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.floor_char_boundary(MAX_SHOWN_BYTES);
        let more = if end < self.0.len() { "…" } else { "" };
        write!(f, "`{}{more}`", &self.0[..end])
    }
}
