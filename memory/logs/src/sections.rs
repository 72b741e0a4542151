//! Reads a log section by section.

use std::io;

use serde::Serialize;

use crate::directory::LogDirectory;
use crate::heading::{Section, SectionTracker};
use crate::layout::LogFile;

/// Maximum length of a section's text in bytes. Longer texts are truncated at the end of a line.
const MAX_TEXT_BYTES: usize = 16 << 20;

/// A section with its text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SectionText {
    /// The heading of the section.
    #[serde(rename = "section")]
    pub name: Option<String>,
    /// The number of the phase; `None` if the section is not a phase.
    pub phase: Option<u32>,
    /// The number of the first line of the section, from 1.
    pub line_start: u64,
    /// The number of the last line of the section.
    pub line_end: u64,
    /// The text of the section, including the heading. Invalid UTF-8 is replaced with U+FFFD.
    pub text: String,
    /// Whether the text is truncated, because the section is longer than 16 MiB.
    pub cut: bool,
}

impl LogDirectory {
    /// Calls `emit` for every section of a log, and stops if `emit` returns `false`. Lines longer than
    /// [`MAX_LINE_BYTES`](crate::MAX_LINE_BYTES) are truncated.
    ///
    /// # Errors
    /// Fails if the log cannot be read. The sections before the error have already been emitted.
    pub fn sections(&self, log: &LogFile, emit: &mut dyn FnMut(SectionText) -> bool) -> io::Result<()> {
        let mut lines = self.read(log)?.lines();
        let mut tracker = SectionTracker::default();
        let mut current = SectionText { line_start: 1, ..SectionText::default() };
        while let Some((number, line)) = lines.read()? {
            if let Some(Section { name, phase }) = tracker.line(line) {
                let next = SectionText { name, phase, line_start: number, ..SectionText::default() };
                let done = std::mem::replace(&mut current, next);
                if done.line_end > 0 && !emit(done) {
                    return Ok(());
                }
            }
            current.line_end = number;
            if current.text.len() + line.len() > MAX_TEXT_BYTES {
                current.cut = true;
            }
            if !current.cut {
                current.text.push_str(&String::from_utf8_lossy(line));
                current.text.push('\n');
            }
        }
        if current.line_end > 0 {
            emit(current);
        }
        Ok(())
    }
}
