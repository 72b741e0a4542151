//! The token that requests must show.

use std::fmt;
use std::path::Path;

use aurora_confined::read_regular_to_string;

use crate::error::ServeError;

/// Fewest and most characters of a token.
const SHORTEST: usize = 16;
const LONGEST: usize = 4_096;

/// A secret that requests show as `Authorization: Bearer TOKEN`. Only its digest is kept.
#[derive(Clone, PartialEq, Eq)]
pub struct Token(blake3::Hash);

impl Token {
    /// The token `text`.
    ///
    /// # Errors
    /// In words, for one that is too short to be a secret, or that no header can hold.
    pub fn new(text: &str) -> Result<Self, String> {
        match text.len() {
            ..SHORTEST => Err(format!("a token has at least {SHORTEST} characters")),
            SHORTEST..=LONGEST if text.bytes().all(|byte| byte.is_ascii_graphic()) => Ok(Self::digest(text.as_bytes())),
            SHORTEST..=LONGEST => {
                Err("a token consists of letters, digits and marks of ASCII, without spaces".to_owned())
            }
            _ => Err(format!("a token has at most {LONGEST} characters")),
        }
    }

    /// The token in a file; white space around it does not count.
    ///
    /// # Errors
    /// [`ServeError::Token`] when the file cannot be read, or holds no token.
    pub fn read(path: &Path) -> Result<Self, ServeError> {
        let failed = |reason: String| ServeError::Token { path: path.to_owned(), reason };
        let text = read_regular_to_string(path, 1 << 16).map_err(|error| failed(error.to_string()))?;
        Self::new(text.trim()).map_err(failed)
    }

    /// Whether a request's header shows this token. The time that this takes does not depend on the token.
    pub(crate) fn is_shown_by(&self, header: &[u8]) -> bool {
        let Some((scheme, shown)) = header.split_at_checked("Bearer ".len()) else { return false };
        // Digests are compared in constant time.
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
    fn only_the_token_itself_is_accepted() {
        let token = Token::new("0123456789abcdef").expect("long enough");
        assert!(token.is_shown_by(b"Bearer 0123456789abcdef") && token.is_shown_by(b"bearer 0123456789abcdef "));
        for wrong in ["", "Bearer", "Bearer ", "Basic 0123456789abcdef", "Bearer 0123456789abcdeF", "0123456789abcdef"]
        {
            assert!(!token.is_shown_by(wrong.as_bytes()), "{wrong}");
        }
        assert_eq!(format!("{token:?}"), "Token(…)");
    }

    #[test]
    fn what_is_no_secret_is_refused() {
        for wrong in ["short", "with a space in it", "ümläut-ümläut-ümläut", &"x".repeat(5_000)] {
            assert!(Token::new(wrong).is_err(), "{wrong}");
        }
    }
}
