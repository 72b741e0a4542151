//! Converts the locations of mistakes in a document to locations in the file whose line contains the document.

use aurora_diagnostics::{Diagnostic, Diagnostics, Location, Place};
use aurora_memory_schema::code;

/// The location of a document in a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct DocumentPlace<'l> {
    /// The line number, from 1.
    pub(super) line: usize,
    /// The byte offset of the line in the file.
    pub(super) start: usize,
    /// The part of the line that precedes the document.
    pub(super) before: &'l str,
}

/// Maximum number of characters of a line that a message quotes.
const MAX_SHOWN_CHARS: usize = 80;

impl DocumentPlace<'_> {
    /// Converts the locations of mistakes in the document to locations in the file.
    pub(super) fn relocate(&self, mistakes: &Diagnostics) -> Diagnostics {
        let mut relocated = Diagnostics::default();
        relocated.extend(mistakes.iter().map(|mistake| self.relocate_one(mistake)));
        relocated
    }

    /// Creates a mistake that applies to `document` as a whole.
    pub(super) fn mistake(&self, file: &str, document: &str, code: &'static str, message: String) -> Diagnostics {
        let location = Location { excerpt: beginning(document), ..Location::from_span(file, "", 0..0) };
        let mut mistakes = Diagnostics::default();
        mistakes.push(Diagnostic::error(code, Some(location), message));
        self.relocate(&mistakes)
    }

    fn relocate_one(&self, mistake: &Diagnostic) -> Diagnostic {
        let mut mistake = mistake.clone();
        if let Some(Place::File(Location { span, line, column, .. })) = &mut mistake.location {
            // The whole document is on one line of the file, so every mistake is on this line.
            *line = self.line;
            *column += self.before.chars().count();
            let offset = self.start + self.before.len();
            *span = span.start + offset..span.end + offset;
        }
        if mistake.code == code::DUPLICATE_KEY {
            // The help contains a line number of the document, which would be wrong for the file.
            mistake.help = None;
        }
        mistake
    }
}

/// Returns the beginning of a line, with control characters replaced by U+FFFD.
fn beginning(line: &str) -> String {
    let mut shown: String =
        line.chars().take(MAX_SHOWN_CHARS).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if line.chars().nth(MAX_SHOWN_CHARS).is_some() {
        shown.push('…');
    }
    shown
}
