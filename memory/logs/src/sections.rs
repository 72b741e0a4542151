//! A log section by section.

use std::io;

use serde::Serialize;

use crate::directory::LogDirectory;
use crate::heading::{Section, SectionTracker};
use crate::layout::LogFile;

/// Longer texts of sections are cut at a line after so many bytes.
const LONGEST_TEXT: usize = 16 << 20;

/// A section with its text.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SectionText {
    /// The section.
    #[serde(rename = "section")]
    pub name: Option<String>,
    /// The number of the phase, if it is one.
    pub phase: Option<u32>,
    /// Its first line, from 1.
    pub line_start: u64,
    /// Its last line.
    pub line_end: u64,
    /// Its text with the heading, as UTF-8.
    pub text: String,
    /// Whether the text ends before the section does, after 16 MiB.
    pub cut: bool,
}

impl LogDirectory {
    /// Hands the sections of a log to `emit`, which says whether to go on. Lines longer than
    /// [`LONGEST_LINE`](crate::LONGEST_LINE) are cut.
    ///
    /// # Errors
    /// The log cannot be read; what came before has been emitted.
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
            if current.text.len() + line.len() > LONGEST_TEXT {
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
