//! The path to a value in a document, such as `content.facts[2].statement`.

use std::fmt::{self, Write as _};
use std::ops::Range;

use crate::show;

/// Maximum length in bytes of a path, and of a key in it, in a message.
const MAX_SHOWN_BYTES: usize = 200;

/// The path to a value. It is displayed in backticks.
#[derive(Default)]
pub(super) struct Place(String);

/// The outer path, to which [`Place::leave`] returns.
pub(super) struct Outer(usize);

impl Place {
    /// Appends a field of the object to the path. Pass the result to [`leave`](Self::leave) to return.
    pub(super) fn enter(&mut self, field: &str) -> Outer {
        let outer = Outer(self.0.len());
        let is_name = !field.is_empty() && field.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        // Other keys are quoted, because they could look like a path or change the display of the message in a terminal.
        if !is_name || field.len() > MAX_SHOWN_BYTES {
            // Writing to a string does not fail.
            let _ = write!(self.0, "[{}]", show::quoted(field));
        } else {
            if !self.is_root() {
                self.0.push('.');
            }
            self.0.push_str(field);
        }
        outer
    }

    /// Appends an element of the list to the path.
    pub(super) fn enter_index(&mut self, index: usize) -> Outer {
        let outer = Outer(self.0.len());
        let _ = write!(self.0, "[{index}]");
        outer
    }

    /// Returns to the outer path.
    pub(super) fn leave(&mut self, outer: &Outer) {
        self.0.truncate(outer.0);
    }

    /// Returns the displayed path of a field.
    pub(super) fn field_path(&mut self, field: &str) -> String {
        let outer = self.enter(field);
        let shown = self.to_string();
        self.leave(&outer);
        shown
    }

    /// Whether this is the path of the whole document.
    pub(super) fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.floor_char_boundary(MAX_SHOWN_BYTES);
        let more = if end < self.0.len() { "…" } else { "" };
        write!(f, "`{}{more}`", &self.0[..end])
    }
}

/// Converts the byte range of a value.
pub(super) fn span(range: jsonc_parser::common::Range) -> Range<usize> {
    range.start..range.end
}
