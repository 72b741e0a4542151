//! Secrets, and the masks that take their place.

use std::ops::Range;

use crate::find;

/// Takes the place of each byte of a secret. It may stand in an identifier, in a string, and in a plain scalar of YAML, and is
/// not part of any term.
pub const MASK: char = '_';

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// The name of the rule that has found it.
    pub rule: &'static str,
    /// Its bytes, which are ASCII or whole characters. The public prefix of a token (`ghp_`) is not among them.
    pub span: Range<usize>,
    /// Whether it belongs to the secret before it: a private key has a span for each of its lines.
    pub continues: bool,
}

/// A text with its secrets masked.
pub fn masked(text: String) -> String {
    let secrets = find(&text);
    if secrets.is_empty() { text } else { mask(text, &secrets) }
}

/// Whether a name, a path or an id has a secret.
pub fn has_secret(name: &str) -> bool {
    !find(name).is_empty()
}

/// Replaces every byte of the secrets that [`find`](crate::find) has found in the text by [`MASK`].
pub fn mask(text: String, secrets: &[Secret]) -> String {
    let mut bytes = text.into_bytes();
    for secret in secrets {
        bytes[secret.span.clone()].fill(MASK as u8);
    }
    String::from_utf8(bytes).expect("spans begin and end at characters")
}
