//! The secret token that authenticates requests.

use std::fmt;
use std::path::Path;

use aurora_confined::read_regular_to_string;

use crate::error::ServeError;

/// Minimum number of characters in a token.
const MIN_CHARS: usize = 16;
/// Maximum number of characters in a token.
const MAX_CHARS: usize = 4_096;

/// A secret that requests contain as `Authorization: Bearer TOKEN`. Only its digest is stored.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(blake3::Hash);

impl Token {
    /// Creates a token from a text.
    ///
    /// # Errors
    /// Returns a message if the text is too short to be secret, or cannot be part of a header.
    pub fn new(text: &str) -> Result<Self, String> {
        match text.len() {
            ..MIN_CHARS => Err(format!("a token has at least {MIN_CHARS} characters")),
            MIN_CHARS..=MAX_CHARS if text.bytes().all(|byte| byte.is_ascii_graphic()) => {
                Ok(Self::digest(text.as_bytes()))
            }
            MIN_CHARS..=MAX_CHARS => {
                Err("a token consists of ASCII letters, digits and punctuation, without spaces".to_owned())
            }
            _ => Err(format!("a token has at most {MAX_CHARS} characters")),
        }
    }

    /// Reads the token from a file. White space around the token is ignored.
    ///
    /// # Errors
    /// Returns [`ServeError::Token`] if the file cannot be read, or does not contain a valid token.
    pub fn read(path: &Path) -> Result<Self, ServeError> {
        let failed = |reason: String| ServeError::Token { path: path.to_owned(), reason };
        let text = read_regular_to_string(path, 1 << 16).map_err(|error| failed(error.to_string()))?;
        Self::new(text.trim()).map_err(failed)
    }

    /// Returns `true` if the `Authorization` header of a request contains this token. The time of the comparison does
    /// not depend on the token.
    pub(crate) fn matches_header(&self, header: &[u8]) -> bool {
        let Some((scheme, shown)) = header.split_at_checked("Bearer ".len()) else { return false };
        // Compares digests, which takes constant time.
        scheme.eq_ignore_ascii_case(b"Bearer ") && Self::digest(shown.trim_ascii()) == *self
    }

    fn digest(text: &[u8]) -> Self {
        Self(blake3::hash(text))
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_is_accepted() {
        let token = Token::new("0123456789abcdef").expect("long enough");
        assert!(token.matches_header(b"Bearer 0123456789abcdef") && token.matches_header(b"bearer 0123456789abcdef "));
        for wrong in ["", "Bearer", "Bearer ", "Basic 0123456789abcdef", "Bearer 0123456789abcdeF", "0123456789abcdef"]
        {
            assert!(!token.matches_header(wrong.as_bytes()), "{wrong}");
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    #[test]
    fn invalid_tokens_are_rejected() {
        for wrong in ["short", "with a space in it", "ümläut-ümläut-ümläut", &"x".repeat(5_000)] {
            assert!(Token::new(wrong).is_err(), "{wrong}");
        }
    }
}
