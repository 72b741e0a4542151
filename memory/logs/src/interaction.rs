//! The content of a log.

use jiff::Timestamp;

use crate::json_text;
use crate::query_id::QueryId;

/// An interaction: the query of a user, and the steps that were taken to answer the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interaction {
    /// The query of the user.
    pub query: String,
    /// The id of the interaction. If it is `None`, the writer generates an id.
    pub id: Option<QueryId>,
    /// The time at which the interaction began. If it is `None`, the writer uses the current time.
    pub time: Option<Timestamp>,
    /// The sections of the log.
    pub sections: Sections,
}

/// The sections of a log, or sections to append to a log.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sections {
    /// The phases, in order.
    pub phases: Vec<Phase>,
    /// The exchanges between agents and the user, as a JSON list of objects.
    pub exchanges: Option<JsonText>,
    /// The answer to the user.
    pub response: Option<String>,
    /// Names and values of measurements, such as `duration_ms`, in the order of the input.
    pub summary: Vec<(String, JsonText)>,
}

impl Sections {
    /// Returns `true` if there are no sections.
    pub fn is_empty(&self) -> bool {
        self.phases.is_empty() && self.exchanges.is_none() && self.response.is_none() && self.summary.is_empty()
    }
}

/// A phase of an interaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// The number of the phase. If it is `None`, the phase gets the number after the previous phase.
    pub number: Option<u32>,
    /// The name of the phase, without line breaks.
    pub name: String,
    /// Text that precedes the output.
    pub text: Option<String>,
    /// The output of the phase.
    pub output: JsonText,
}

/// The source text of a JSON value. It preserves the original numbers, escapes and order of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonText(String);

impl JsonText {
    /// Creates a value from valid JSON.
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Formats the value on several indented lines.
    pub(crate) fn indented(&self) -> String {
        json_text::indented(&self.0)
    }

    /// Formats the value on one line.
    pub(crate) fn compact(&self) -> String {
        json_text::compact(&self.0)
    }

    /// Returns the content of a JSON string; `None` for any other value.
    pub(crate) fn as_text(&self) -> Option<String> {
        serde_json::from_str(&self.0).ok()
    }
}
