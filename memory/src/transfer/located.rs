//! Mistakes of a document that is a line of a file, or a part of one.

use aurora_diagnostics::{Diagnostic, Diagnostics, Location, Place};
use aurora_memory_schema::code;

/// Where a document stands in a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct DocumentPlace<'l> {
    /// The line, from 1.
    pub(super) line: usize,
    /// The byte of the file that the line begins at.
    pub(super) start: usize,
    /// What stands in the line before the document.
    pub(super) before: &'l str,
}

/// Most characters of a line that a message repeats.
const SHOWN: usize = 80;

impl DocumentPlace<'_> {
    /// Mistakes with their places in the file, instead of those in the document.
    pub(super) fn located(&self, mistakes: &Diagnostics) -> Diagnostics {
        let mut located = Diagnostics::default();
        located.extend(mistakes.iter().map(|mistake| self.moved(mistake)));
        located
    }

    /// A mistake of `document` as a whole.
    pub(super) fn mistake(&self, file: &str, document: &str, code: &'static str, message: String) -> Diagnostics {
        let location = Location { excerpt: beginning(document), ..Location::of_span(file, "", 0..0) };
        let mut mistakes = Diagnostics::default();
        mistakes.push(Diagnostic::error(code, Some(location), message));
        self.located(&mistakes)
    }

    fn moved(&self, mistake: &Diagnostic) -> Diagnostic {
        let mut mistake = mistake.clone();
        if let Some(Place::File(Location { span, line, column, .. })) = &mut mistake.location {
            // The document has no line break.
            *line = self.line;
            *column += self.before.chars().count();
            let offset = self.start + self.before.len();
            *span = span.start + offset..span.end + offset;
        }
        if mistake.code == code::DUPLICATE_KEY {
            // It names a line of the document.
            mistake.help = None;
        }
        mistake
    }
}

/// The beginning of a line, without control characters.
fn beginning(line: &str) -> String {
    let mut shown: String = line.chars().take(SHOWN).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if line.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
