//! Where a value stands in a document: `content.facts[2].statement`.

use std::fmt::{self, Write as _};
use std::ops::Range;

use crate::show;

/// Most bytes of a place, and of a key in it, that a message shows.
const SHOWN_BYTES: usize = 200;

/// The path to a value. It shows itself in backticks.
#[derive(Default)]
pub(super) struct Place(String);

/// The place that was left for an inner one.
pub(super) struct Outer(usize);

impl Place {
    /// Goes to a field of the object. The result leads back.
    pub(super) fn enter(&mut self, field: &str) -> Outer {
        let outer = Outer(self.0.len());
        let is_name = !field.is_empty() && field.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
        // Other keys could be read as a path, or change how a terminal shows the message.
        if !is_name || field.len() > SHOWN_BYTES {
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

    /// Goes to an element of the list.
    pub(super) fn enter_index(&mut self, index: usize) -> Outer {
        let outer = Outer(self.0.len());
        let _ = write!(self.0, "[{index}]");
        outer
    }

    /// Goes back.
    pub(super) fn leave(&mut self, outer: &Outer) {
        self.0.truncate(outer.0);
    }

    /// The place of a field, as it shows itself.
    pub(super) fn of_field(&mut self, field: &str) -> String {
        let outer = self.enter(field);
        let shown = self.to_string();
        self.leave(&outer);
        shown
    }

    /// Whether this is the whole document.
    pub(super) fn is_root(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = self.0.floor_char_boundary(SHOWN_BYTES);
        let more = if end < self.0.len() { "…" } else { "" };
        write!(f, "`{}{more}`", &self.0[..end])
    }
}

/// The byte range of a value.
pub(super) fn span(range: jsonc_parser::common::Range) -> Range<usize> {
    range.start..range.end
}
