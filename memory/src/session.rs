//! Sessions, and the turns of their conversations.

use aurora_memory_schema::{Entry, Kind, limit};
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::error::MemoryError;

/// Longest name of a session, in bytes.
const LONGEST_SESSION: usize = 128;

/// What one side has said in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewTurn<'a> {
    /// The session.
    pub session: &'a str,
    /// Who has said it.
    pub speaker: &'a str,
    /// What was said.
    pub text: &'a str,
    /// The id of the turn that it answers.
    pub reply_to: Option<&'a str>,
    /// When it was said, in Unix seconds.
    pub time: i64,
}

impl NewTurn<'_> {
    /// The id of the turn at a place of a session, from 1.
    pub(crate) fn id(session: &str, order: u32) -> String {
        format!("{}{session}:{order}", Kind::Turn.prefix())
    }

    /// The session and the order of the turn with an id; `None` for ids that [`Self::id`] does not make.
    pub(crate) fn place(id: &str) -> Option<(&str, u32)> {
        let (session, order) = id.strip_prefix(Kind::Turn.prefix())?.rsplit_once(':')?;
        let order = order.parse().ok()?;
        (Self::id(session, order) == id).then_some((session, order))
    }

    /// The ids of the turns right before and right after the one with an id.
    pub(crate) fn beside(id: &str) -> [Option<String>; 2] {
        let Some((session, order)) = Self::place(id) else { return [None, None] };
        [order.checked_sub(1), order.checked_add(1)].map(|order| order.map(|order| Self::id(session, order)))
    }

    /// Checks speaker and text.
    pub(crate) fn check(&self) -> Result<(), MemoryError> {
        let unfit = |rule: String| Err(MemoryError::Unfit(rule));
        if self.text.trim().is_empty() {
            return unfit("the text of a turn is empty".to_owned());
        }
        if self.text.len() > limit::TEXT_BYTES || self.text.contains('\0') {
            return unfit(format!("the text of a turn has at most {} bytes, none of them 0", limit::TEXT_BYTES));
        }
        let speaker = self.speaker;
        if speaker.trim().is_empty() || speaker.len() > limit::LABEL_BYTES || speaker.chars().any(char::is_control) {
            let most = limit::LABEL_BYTES;
            return unfit(format!("the name of a speaker is 1 to {most} bytes without control characters"));
        }
        Ok(())
    }

    /// The entry of the turn at a place of its session.
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
/// [`MemoryError::Unfit`].
pub fn check_session(session: &str) -> Result<(), MemoryError> {
    let is_name = !session.trim().is_empty()
        && session.len() <= LONGEST_SESSION
        && !session.chars().any(|c| c.is_control() || c.is_whitespace());
    if aurora_redact::has_secret(session) {
        return Err(MemoryError::Unfit("the name of a session must have no secret, such as a token".to_owned()));
    }
    if is_name {
        return Ok(());
    }
    let rule =
        format!("the name of a session is 1 to {LONGEST_SESSION} bytes without white space and control characters");
    Err(MemoryError::Unfit(rule))
}
