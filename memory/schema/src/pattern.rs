//! Reads a reasoning pattern from a file of a repository.

use serde_json::{Map, Value};
use thiserror::Error;

use crate::entry::Entry;
use crate::kind::Kind;
use crate::verdict::{MIN_SCORE, Verdict};

/// The reason why a file of a repository is not a reasoning pattern.
#[derive(Debug, Error)]
pub enum PatternError {
    /// The text is not a JSON object.
    #[error("not a reasoning document: {0}")]
    Json(#[from] serde_json::Error),
    /// The type of the document is not `reasoning`.
    #[error("type is `{0}`, not `reasoning`")]
    Type(String),
    /// The document has neither an id nor a pattern.
    #[error("`id` and `content.pattern` are both missing")]
    Unnamed,
    /// The score is missing or not a number.
    #[error("`content.success_score` is missing, or not a number")]
    NoScore,
    /// The score is not between 0 and 1.
    #[error("`success_score` is {0}, not between 0 and 1")]
    Score(f64),
    /// The score is so low that the attempt counts as failed. Failed attempts are not stored.
    #[error("`success_score` is {0}: attempts below {MIN_SCORE} are not stored")]
    Failed(f64),
}

/// Reads a reasoning pattern from a file of a repository, which another program may have written.
///
/// Unlike [`crate::read_json`], this function ignores fields that are unknown or do not follow the schema, and derives
/// no metadata. It adds the prefix to an id without a prefix. If the document has no id, the pattern becomes the id.
///
/// # Errors
/// See [`PatternError`].
pub fn read_pattern(text: &str) -> Result<Entry, PatternError> {
    let document: Map<String, Value> = serde_json::from_str(text)?;
    let field = |name| document.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let prefix = Kind::Reasoning.prefix();
    if let Some(other) = field("type").filter(|kind| !matches!(*kind, "reasoning" | "reas")) {
        return Err(PatternError::Type(other.to_owned()));
    }
    let id = field("id").map(|id| id.strip_prefix(prefix).unwrap_or(id)).filter(|id| !id.is_empty()).map(str::to_owned);
    let entry = Entry::new(Kind::Reasoning, String::new(), document);
    let name = id.or_else(|| entry.text("content", "pattern").map(str::to_owned));
    match (entry.score().ok_or(PatternError::NoScore)?, name) {
        (score, _) if !(0.0..=1.0).contains(&score) => Err(PatternError::Score(score)),
        (score, _) if !Verdict::from_score(Some(score)).is_stored() => Err(PatternError::Failed(score)),
        (_, None) => Err(PatternError::Unnamed),
        (_, Some(name)) => Ok(entry.renamed(format!("{prefix}{name}"))),
    }
}
