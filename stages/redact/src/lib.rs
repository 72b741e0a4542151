//! Finds secrets in a text and masks them: tokens in known formats, private keys, passwords in URLs, and random values that
//! are assigned to the name of a secret.
//!
//! A mask takes as many bytes as the secret and keeps its line feeds, so every other byte of the text stays where it is. Masking
//! a masked text changes nothing. The time is linear in the size of the text.
//!
//! What is absent: a random value on its own is no secret here, since hashes, test vectors and images in a source look the same.
//! Values that are words (`password = "swordfish"`) are not found either.
//!
//! ```
//! let token = ["ghp", "_", "k3Jd82mXq0PzL5vRt7NcY1wBs9HfGa4eUiTo"].concat();
//! let text = format!("url = 'https://me:{token}@example.org' # for CI");
//! let found = aurora_redact::find(&text);
//! assert_eq!(found[0].rule, "url-password");
//! assert!(!aurora_redact::mask(text, &found).contains(&token[4..]));
//! ```

#![forbid(unsafe_code)]

mod assignment;
mod curl;
mod entropy;
mod formats;
mod kubernetes;
mod letter_pairs;
mod names;
mod private_key;
mod runs;
#[cfg(test)]
mod tests;
mod token_format;
mod url;

use std::ops::Range;

/// Takes the place of each byte of a secret. It may stand in an identifier, in a string, and in a plain scalar of YAML, and is
/// not part of any term.
pub const MASK: char = '_';

/// Changes whenever a text may be masked in another way.
pub const VERSION: u32 = 1;

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

/// The secrets of a text, in order. No two overlap.
pub fn find(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    formats::find(text, &mut found);
    private_key::find(text, &mut found);
    url::find(text, &mut found);
    curl::find(text, &mut found);
    kubernetes::find(text, &mut found);
    assignment::find(text, &mut found);
    disjoint(found)
}

/// Replaces every byte of the secrets that [`find`] has found in the text by [`MASK`].
pub fn mask(text: String, secrets: &[Secret]) -> String {
    let mut bytes = text.into_bytes();
    for secret in secrets {
        bytes[secret.span.clone()].fill(MASK as u8);
    }
    String::from_utf8(bytes).expect("spans begin and end at characters")
}

/// Sorts secrets and merges those that overlap; the first one, or the longest of those that begin together, names the rule.
fn disjoint(mut found: Vec<Secret>) -> Vec<Secret> {
    found.sort_by_key(|secret| (secret.span.start, std::cmp::Reverse(secret.span.end)));
    let mut disjoint: Vec<Secret> = Vec::with_capacity(found.len());
    for secret in found {
        match disjoint.last_mut() {
            Some(last) if secret.span.start < last.span.end => last.span.end = last.span.end.max(secret.span.end),
            _ => disjoint.push(secret),
        }
    }
    disjoint
}
