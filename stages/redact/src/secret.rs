//! Secrets and the masks that replace them.

use std::ops::Range;

/// The character that replaces each byte of a secret. The character is valid in identifiers, in strings and in plain
/// YAML scalars. The analyzer finds no terms in a mask.
pub const MASK: char = '_';

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secret {
    /// Name of the rule that found the secret.
    pub rule: &'static str,
    /// Byte range of the secret, which begins and ends at character boundaries. The range excludes the public prefix of
    /// a token, such as `ghp_`.
    pub span: Range<usize>,
    /// Whether the span continues the secret of the previous span. For example, a private key has one span per line.
    pub continues: bool,
}

/// Replaces every byte of `secrets` with [`MASK`]. The secrets must be the result of [`find`](crate::find) for the same
/// text.
pub fn mask(text: String, secrets: &[Secret]) -> String {
    let mut bytes = text.into_bytes();
    for secret in secrets {
        bytes[secret.span.clone()].fill(MASK as u8);
    }
    String::from_utf8(bytes).expect("spans begin and end at character boundaries")
}
