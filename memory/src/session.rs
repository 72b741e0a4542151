//! Names of sessions, and turns of a session's conversation.

use aurora_memory_schema::{Entry, Kind, limit};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::error::MemoryError;

/// Maximum length of a session name in bytes.
const MAX_SESSION_BYTES: usize = 128;

/// A new turn of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewTurn<'a> {
    /// The session.
    pub session: &'a str,
    /// The speaker of the turn.
    pub speaker: &'a str,
    /// The text of the turn.
    pub text: &'a str,
    /// The id of the turn to which this turn replies.
    pub reply_to: Option<&'a str>,
    /// The time of the turn, in Unix seconds.
    pub time: i64,
}

impl NewTurn<'_> {
    /// Returns the id of the turn at position `order` in a session, from 1.
    pub(crate) fn id(session: &str, order: u32) -> String {
        format!("{}{session}:{order}", Kind::Turn.prefix())
    }

    /// Parses the id of a turn into the session and the position. Returns `None` for an id that [`Self::id`] cannot
    /// return.
    pub(crate) fn parse_id(id: &str) -> Option<(&str, u32)> {
        let (session, order) = id.strip_prefix(Kind::Turn.prefix())?.rsplit_once(':')?;
        let order = order.parse().ok()?;
        (Self::id(session, order) == id).then_some((session, order))
    }

    /// Returns the ids of the turns directly before and after a turn.
    pub(crate) fn adjacent(id: &str) -> [Option<String>; 2] {
        let Some((session, order)) = Self::parse_id(id) else { return [None, None] };
        [order.checked_sub(1), order.checked_add(1)].map(|order| order.map(|order| Self::id(session, order)))
    }

    /// Checks the speaker and the text.
    pub(crate) fn check(&self) -> Result<(), MemoryError> {
        let unfit = |rule: String| Err(MemoryError::Unfit(rule));
        if self.text.trim().is_empty() {
            return unfit("the text of a turn is empty".to_owned());
        }
        if self.text.len() > limit::TEXT_BYTES || self.text.contains('\0') {
            return unfit(format!("the text of a turn must have at most {} bytes and no NUL", limit::TEXT_BYTES));
        }
        let speaker = self.speaker;
        if speaker.trim().is_empty() || speaker.len() > limit::LABEL_BYTES || speaker.chars().any(char::is_control) {
            let max = limit::LABEL_BYTES;
            return unfit(format!("the name of a speaker must have 1 to {max} bytes and no control characters"));
        }
        Ok(())
    }

    /// Creates the entry of the turn. `order` is the position of the turn in its session.
    pub(crate) fn entry(&self, order: u32) -> Result<Entry, MemoryError> {
        let unfit = |error: &dyn std::error::Error| MemoryError::Unfit(error.to_string());
        let time = Timestamp::from_second(self.time).map_err(|error| unfit(&error))?;
        let mut content = Map::from_iter([
            ("text".to_owned(), Value::from(self.text)),
            ("speaker".to_owned(), Value::from(self.speaker)),
            ("session".to_owned(), Value::from(self.session)),
            ("order".to_owned(), Value::from(order)),
        ]);
        if let Some(answered) = self.reply_to {
            content.insert("reply_to".to_owned(), Value::from(answered));
        }
        let document = Map::from_iter([
            ("id".to_owned(), Value::from(Self::id(self.session, order))),
            ("type".to_owned(), Value::from(Kind::Turn.name())),
            ("content".to_owned(), Value::Object(content)),
            ("metadata".to_owned(), json!({ "timestamp": time.to_string() })),
        ]);
        Entry::from_document(document).map_err(|error| unfit(&error))
    }
}

/// Checks the name of a session.
///
/// # Errors
/// Returns [`MemoryError::Unfit`] if the name is invalid.
pub fn check_session(session: &str) -> Result<(), MemoryError> {
    let is_name = !session.trim().is_empty()
        && session.len() <= MAX_SESSION_BYTES
        && !session.chars().any(|c| c.is_control() || c.is_whitespace());
    if aurora_redact::has_secret(session) {
        return Err(MemoryError::Unfit("the name of a session must have no secret, such as a token".to_owned()));
    }
    if is_name {
        return Ok(());
    }
    let rule = format!(
        "the name of a session must have 1 to {MAX_SESSION_BYTES} bytes and no white space or control characters"
    );
    Err(MemoryError::Unfit(rule))
}
