//! The content of a log.

use jiff::Timestamp;

use crate::json_text;
use crate::query_id::QueryId;

/// An interaction: a query and the steps taken to answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interaction {
    /// The query of the user.
    pub query: String,
    /// The id of the interaction; generated if missing.
    pub id: Option<QueryId>,
    /// The time at which the interaction began; now if missing.
    pub time: Option<Timestamp>,
    /// The sections of the log.
    pub sections: Sections,
}

/// The sections of a log or of an addition.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sections {
    /// The phases in their order.
    pub phases: Vec<Phase>,
    /// The exchanges between agents and the user: a JSON list of objects.
    pub exchanges: Option<JsonText>,
    /// The answer to the user.
    pub response: Option<String>,
    /// Figures of the execution by name, such as `duration_ms`, in the given order.
    pub summary: Vec<(String, JsonText)>,
}

impl Sections {
    /// Whether there are no sections.
    pub fn is_empty(&self) -> bool {
        self.phases.is_empty() && self.exchanges.is_none() && self.response.is_none() && self.summary.is_empty()
    }
}

/// A phase of the execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Its number. If missing, the phase gets the number after the previous phase.
    pub number: Option<u32>,
    /// Its name, on one line.
    pub name: String,
    /// Text that precedes the output.
    pub text: Option<String>,
    /// The output of the phase.
    pub output: JsonText,
}

/// A JSON value as it was given, with the original numbers, escapes and order of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonText(String);

impl JsonText {
    /// Creates a value from valid JSON.
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the value on several lines, indented.
    pub(crate) fn indented(&self) -> String {
        json_text::indented(&self.0)
    }

    /// Returns the value on one line.
    pub(crate) fn compact(&self) -> String {
        json_text::compact(&self.0)
    }

    /// Returns the content of the value if it is a string.
    pub(crate) fn as_text(&self) -> Option<String> {
        serde_json::from_str(&self.0).ok()
    }
}
