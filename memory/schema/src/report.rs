//! Collects the mistakes of one text with their locations.

use std::ops::Range;

use aurora_diagnostics::{Diagnostic, Diagnostics, Location};

use crate::code;
use crate::limit::{DOCUMENT_BYTES, MISTAKES};

/// Maximum number of characters that a diagnostic shows on either side of its column.
const MAX_EXCERPT_CHARS: usize = 80;

/// Collects the mistakes of a text.
pub(crate) struct Report<'t> {
    source: &'t str,
    text: &'t str,
    found: Diagnostics,
    count: usize,
}

impl<'t> Report<'t> {
    /// Creates a report for a text. `source` is the name of the file, or a substitute for it.
    pub(crate) fn new(source: &'t str, text: &'t str) -> Self {
        // Nothing is reported beyond the limit, and a longer text may be a single line.
        let text = &text[..text.floor_char_boundary(DOCUMENT_BYTES)];
        Self { source, text, found: Diagnostics::default(), count: 0 }
    }

    /// Adds a mistake at a byte range of the text.
    pub(crate) fn error(
        &mut self,
        code: &'static str,
        span: Range<usize>,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        self.count += 1;
        if self.count <= MISTAKES {
            let location = self.location(span);
            self.found.push(Diagnostic::error(code, Some(location), message).with_help(help));
        }
    }

    /// Whether there are more mistakes than are shown. Checks then stop, because a text of megabytes can have millions of mistakes.
    pub(crate) fn is_full(&self) -> bool {
        self.count > MISTAKES
    }

    /// Returns the line number of a byte offset, from 1.
    pub(crate) fn line(&self, place: usize) -> usize {
        Location::of_span(self.source, self.text, place..place).line
    }

    /// Returns all mistakes in the order of the text.
    pub(crate) fn mistakes(mut self) -> Diagnostics {
        self.found.sort(|_| 0);
        if self.is_full() {
            let message = format!("only the first {MISTAKES} mistakes are shown");
            self.found.push(Diagnostic::error(code::MORE_MISTAKES, None, message));
        }
        self.found
    }

    fn location(&self, span: Range<usize>) -> Location {
        let mut location = Location::of_span(self.source, self.text, span);
        location.excerpt = excerpt(&location.excerpt, location.column);
        location
    }
}

/// Returns the part of a line around a column, without control characters. A document can be a single line of megabytes.
fn excerpt(line: &str, column: usize) -> String {
    let start = column.saturating_sub(MAX_EXCERPT_CHARS);
    let mut shown: String = line.chars().skip(start).take(2 * MAX_EXCERPT_CHARS).map(visible).collect();
    if start > 0 {
        shown.insert(0, '…');
    }
    if line.chars().nth(start + 2 * MAX_EXCERPT_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

fn visible(c: char) -> char {
    if c.is_control() && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_around_the_column() {
        assert_eq!(excerpt("short \u{1b}[31m", 3), "short \u{fffd}[31m");
        let line = format!("{}here{}", "a".repeat(1_000), "b".repeat(1_000));
        let shown = excerpt(&line, 1_001);
        assert!(shown.starts_with("…a") && shown.ends_with("b…") && shown.contains("here"), "{shown}");
        assert!(shown.chars().count() <= 2 * MAX_EXCERPT_CHARS + 2);
    }

    #[test]
    fn mistakes_beyond_the_bound_are_not_shown() {
        let text = "x\n".repeat(MISTAKES + 5);
        let mut report = Report::new("f", &text);
        for at in (0..text.len()).step_by(2) {
            report.error(code::INVALID_VALUE, at..at + 1, "wrong", None);
        }
        let found = report.mistakes();
        assert_eq!(found.iter().count(), MISTAKES + 1);
        assert!(found.to_string().ends_with("error[A0310]: only the first 100 mistakes are shown"));
    }
}
