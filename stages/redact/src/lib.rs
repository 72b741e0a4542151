//! Finds and masks the secrets and, separately, the personal data in a text: tokens in known formats, private keys, passwords in URLs and commands, and
//! values that look random and are assigned to the name of a secret.
//!
//! A mask has as many bytes as the secret, and line feeds are not masked, so the offsets of all other bytes stay the
//! same. Masking a masked text changes nothing. The running time is linear in the size of the text.
//!
//! The rules deliberately do not find random values that are not assigned to the name of a secret, because hashes, test
//! vectors and images in source code look the same. They also do not find most assigned values that are words, such as
//! `password = "swordfish"`.
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
mod calls;
mod commands;
mod config_line;
mod cookie;
mod device;
mod entropy;
mod formats;
mod kubernetes;
mod letter_pairs;
mod literals;
mod names;
mod netrc;
mod personal;
mod pgpass;
mod private_key;
mod reference;
mod runs;
mod secret;
mod sql;
#[cfg(test)]
mod tests;
mod token_format;
mod url;

pub use secret::{MASK, Secret, mask};

/// Version of the rules. Must be increased whenever the rules may mask a text differently than before.
pub const VERSION: u32 = 5;

/// Returns the secrets of a text in order, without overlaps.
pub fn find(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    formats::find(text, &mut found);
    private_key::find(text, &mut found);
    url::find(text, &mut found);
    commands::find(text, &mut found);
    calls::find(text, &mut found);
    sql::find(text, &mut found);
    cookie::find(text, &mut found);
    device::find(text, &mut found);
    pgpass::find(text.as_bytes(), &mut found);
    kubernetes::find(text, &mut found);
    assignment::find(text, &mut found);
    disjoint(found)
}

/// Returns a text with its secrets masked.
pub fn masked(text: String) -> String {
    let secrets = find(&text);
    if secrets.is_empty() { text } else { mask(text, &secrets) }
}

/// Version of the rules for personal data. Must be increased whenever they may mask a text differently than before.
pub const PERSONAL_VERSION: u32 = 1;

/// Returns the personal data in a text in order, without overlaps: mail addresses, phone numbers, payment cards, bank
/// accounts and national ids. These rules are for conversations and memory. Source code contains such data as names of
/// authors and as test data.
pub fn find_personal(text: &str) -> Vec<Secret> {
    let mut found = Vec::new();
    personal::find(text, &mut found);
    disjoint(found)
}

/// Returns a text with its personal data masked.
pub fn masked_personal(text: String) -> String {
    let found = find_personal(&text);
    if found.is_empty() { text } else { mask(text, &found) }
}

/// Whether a name, a path or an id contains a secret.
pub fn has_secret(name: &str) -> bool {
    !find(name).is_empty()
}

/// Sorts secrets and merges overlapping secrets. A merged secret has the rule of the secret that begins first. If
/// several secrets begin at the same offset, the merged secret has the rule of the longest.
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
