//! Collects the mistakes in a text, with their places.

use std::ops::Range;

use crate::{Diagnostic, Diagnostics, Location, code};

/// Maximum number of mistakes that a report shows.
const MAX_MISTAKES: usize = 100;
/// Maximum number of characters that an excerpt shows on each side of the column.
const MAX_EXCERPT_CHARS: usize = 80;

/// The mistakes found in a text.
pub struct Report<'t> {
    /// The name of the file, or another name for the text in messages.
    pub name: &'t str,
    /// The text.
    pub text: &'t str,
    found: Diagnostics,
    count: usize,
}

impl<'t> Report<'t> {
    /// Creates a report without mistakes.
    pub fn new(name: &'t str, text: &'t str) -> Self {
        Self { name, text, found: Diagnostics::default(), count: 0 }
    }

    /// Adds a mistake at a byte range of the text.
    pub fn error(&mut self, code: &'static str, span: Range<usize>, message: impl Into<String>, help: Option<String>) {
        self.count += 1;
        if self.count <= MAX_MISTAKES {
            let mut location = Location::from_span(self.name, self.text, span);
            location.excerpt = excerpt(&location.excerpt, location.column);
            self.found.push(Diagnostic::error(code, Some(location), message).with_help(help));
        }
    }

    /// Whether there are more mistakes than the report shows. A check should stop if the report is full, because a text
    /// of several megabytes can have millions of mistakes.
    pub fn is_full(&self) -> bool {
        self.count > MAX_MISTAKES
    }

    /// Returns the line number of a byte offset, counted from 1.
    pub fn line(&self, at: usize) -> usize {
        Location::from_span(self.name, self.text, at..at).line
    }

    /// Ends the report.
    ///
    /// # Errors
    /// Returns the mistakes that the report shows, in the order of the text, if there are any.
    pub fn finish(mut self) -> Result<(), Diagnostics> {
        if self.count == 0 {
            return Ok(());
        }
        self.found.sort(|_| 0);
        if self.is_full() {
            let message = format!("only the first {MAX_MISTAKES} mistakes are shown");
            self.found.push(Diagnostic::error(code::MORE_MISTAKES, None, message));
        }
        Err(self.found)
    }
}

/// Returns the part of a line around a column, with control characters replaced. The whole line could be megabytes
/// long.
fn excerpt(line: &str, column: usize) -> String {
    let start = column.saturating_sub(MAX_EXCERPT_CHARS);
    let visible = |c: char| if c.is_control() && c != '\t' { char::REPLACEMENT_CHARACTER } else { c };
    let mut shown: String = line.chars().skip(start).take(2 * MAX_EXCERPT_CHARS).map(visible).collect();
    if start > 0 {
        shown.insert(0, '…');
    }
    if line.chars().nth(start + 2 * MAX_EXCERPT_CHARS).is_some() {
        shown.push('…');
    }
    shown
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
    fn mistakes_beyond_the_maximum_are_not_shown() {
        let text = "x\n".repeat(MAX_MISTAKES + 5);
        let mut report = Report::new("f", &text);
        for at in (0..text.len()).step_by(2) {
            report.error(code::INVALID_VALUE, at..at + 1, "wrong", None);
        }
        let found = report.finish().unwrap_err();
        assert_eq!(found.iter().count(), MAX_MISTAKES + 1);
        assert!(found.to_string().ends_with("error[A0310]: only the first 100 mistakes are shown"));
    }
}
