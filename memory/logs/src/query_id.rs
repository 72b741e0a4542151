//! The id of an interaction.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::error::LogError;

/// Maximum length of an id in bytes.
const MAX_BYTES: usize = 128;

/// The id of an interaction. It consists of 1 to 128 of the characters `A-Z`, `a-z`, `0-9`, `.`, `_`, `:` and `-`, and
/// begins with a letter or a digit.
///
/// The header of a log contains the id of its interaction. Ids are only compared, and never used as paths.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct QueryId(String);

/// The error of an invalid id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be 1 to 128 letters, digits and `.`, `_`, `:`, `-`, beginning with a letter or a digit")]
pub struct InvalidId;

impl QueryId {
    /// Parses an id.
    ///
    /// # Errors
    /// Fails if the text is not a valid id.
    pub fn parse(text: &str) -> Result<Self, InvalidId> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | ':' | '-');
        let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        let is_id = begins && text.len() <= MAX_BYTES && text.chars().all(is_part);
        if is_id { Ok(Self(text.to_owned())) } else { Err(InvalidId) }
    }

    /// Generates an id `aurora-YYYYMMDD-HHMMSS-xxxxxx` from the time in UTC and six random hexadecimal digits.
    ///
    /// # Errors
    /// Returns [`LogError::Random`] if the operating system does not provide random numbers.
    pub fn random(time: Timestamp) -> Result<Self, LogError> {
        let mut bytes = [0; 3];
        getrandom::fill(&mut bytes).map_err(|error| LogError::Random(error.to_string()))?;
        let [a, b, c] = bytes;
        let time = time.to_zoned(TimeZone::UTC).strftime("%Y%m%d-%H%M%S").to_string();
        Ok(Self(format!("aurora-{time}-{a:02x}{b:02x}{c:02x}")))
    }

    /// Returns the id as a string.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for QueryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_validated() {
        for text in ["aurora-20251213-143215-abc123", "7", "a.b_c:d", &"x".repeat(128)] {
            assert_eq!(QueryId::parse(text).unwrap().as_str(), text);
        }
        for text in ["", "-a", "../a", "a/b", "a b", "a\nb", "é", &"x".repeat(129)] {
            assert_eq!(QueryId::parse(text), Err(InvalidId), "{text}");
        }
    }

    #[test]
    fn random_ids_contain_their_time() {
        let time: Timestamp = "2025-12-13T14:32:15.9Z".parse().unwrap();
        let id = QueryId::random(time).unwrap();
        assert!(id.as_str().starts_with("aurora-20251213-143215-") && id.as_str().len() == 29, "{id}");
        assert_eq!(QueryId::parse(id.as_str()).unwrap(), id);
    }
}
