//! The reference from an entry to a conversation log.

use serde::Serialize;
use serde_json::Value;

use super::Entry;

const SECTION: &str = "conversation_log_reference";

/// A reference to the part of a conversation log from which an entry was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LogReference<'e> {
    /// The day of the conversation, in the spelling of the document.
    pub date: Option<&'e str>,
    /// The name of the log's file.
    pub file: Option<&'e str>,
    /// The heading of the section.
    pub section: Option<&'e str>,
    /// The numbers of the first and the last line, from 1.
    pub line_range: Option<(u32, u32)>,
}

impl Entry {
    /// Returns `conversation_log_reference`; `None` if the document does not have it.
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
