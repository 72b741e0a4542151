//! What a log is made of.

use jiff::Timestamp;

use crate::json_text;
use crate::query_id::QueryId;

/// One interaction: a query, and what was done to answer it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interaction {
    /// What the user has asked.
    pub query: String,
    /// Its id; a new one is made where there is none.
    pub id: Option<QueryId>,
    /// When it began; now where there is none.
    pub time: Option<Timestamp>,
    /// Everything else.
    pub sections: Sections,
}

/// The sections of a log, or those that are added to one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Sections {
    /// The phases in their order.
    pub phases: Vec<Phase>,
    /// What agents and the user said to each other: a JSON list of objects.
    pub exchanges: Option<JsonText>,
    /// The answer that the user got.
    pub response: Option<String>,
    /// Figures of the execution by name, such as `duration_ms`, in the order given.
    pub summary: Vec<(String, JsonText)>,
}

impl Sections {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.phases.is_empty() && self.exchanges.is_none() && self.response.is_none() && self.summary.is_empty()
    }
}

/// A phase of the execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phase {
    /// Its number; that of the phase before it plus one where there is none.
    pub number: Option<u32>,
    /// Its name in one line.
    pub name: String,
    /// Text in front of the output.
    pub text: Option<String>,
    /// What the phase has put out.
    pub output: JsonText,
}

/// A JSON value as it was given: its numbers, escapes and the order of its keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonText(String);

impl JsonText {
    /// A value from valid JSON.
    pub(crate) fn new(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// The value in several lines.
    pub(crate) fn indented(&self) -> String {
        json_text::indented(&self.0)
    }

    /// The value in one line.
    pub(crate) fn compact(&self) -> String {
        json_text::compact(&self.0)
    }

    /// The text, if the value is one.
    pub(crate) fn as_text(&self) -> Option<String> {
        serde_json::from_str(&self.0).ok()
    }
}

impl<T: serde::Serialize> From<&T> for JsonText {
    /// The value as JSON; `null` for one that has no JSON.
    fn from(value: &T) -> Self {
        Self(serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned()))
    }
}
