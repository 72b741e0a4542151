//! The part of a conversation log that an entry comes from.

use serde::Serialize;
use serde_json::Value;

use super::Entry;

const SECTION: &str = "conversation_log_reference";

/// The part of a conversation log that an entry comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogReference<'e> {
    /// The day, as written in the document.
    pub date: Option<&'e str>,
    /// The file's name.
    pub file: Option<&'e str>,
    /// The heading of the section.
    pub section: Option<&'e str>,
    /// First and last line, from 1.
    pub line_range: Option<(u32, u32)>,
}

impl Entry {
    /// Returns `conversation_log_reference`, if the document has it.
    pub fn log_reference(&self) -> Option<LogReference<'_>> {
        self.document.get(SECTION)?.as_object()?;
        let lines =
            self.field(SECTION, "line_range").and_then(Value::as_array).and_then(|lines| match lines.as_slice() {
                [first, last] => Some((line(first)?, line(last)?)),
                _ => None,
            });
        Some(LogReference {
            date: self.text(SECTION, "date"),
            file: self.text(SECTION, "file"),
            section: self.text(SECTION, "section"),
            line_range: lines,
        })
    }
}

fn line(value: &Value) -> Option<u32> {
    value.as_u64()?.try_into().ok()
}
