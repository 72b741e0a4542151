//! Finds passwords in netrc files: `machine HOST login USER password PASSWORD`, on one line or several.

use std::ops::Range;

use crate::url::is_real_password;

/// Maximum number of bytes that are examined on each side of the word `password`.
const MAX_BYTES: usize = 256;
/// Keys that may precede `password`.
const KEYS: &[&[u8]] = &[b"login", b"account", b"user"];
/// Maximum number of key-value pairs before `password`.
const MAX_PAIRS: usize = 2;

/// Returns the password that follows the word `password` if the word belongs to a netrc entry.
pub(crate) fn password_after(text: &[u8], word: &Range<usize>) -> Option<Range<usize>> {
    let blanks = text[word.end..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let is_entry =
        matches!(&text[word.clone()], b"password" | b"passwd") && blanks > 0 && follows_machine(&text[..word.start]);
    if !is_entry {
        return None;
    }
    let start = word.end + blanks;
    let value = &text[start..text.len().min(start + MAX_BYTES)];
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`\\".contains(byte);
    let length = value.iter().position(ends).or((value.len() < MAX_BYTES).then_some(value.len()))?;
    is_real_password(&value[..length]).then_some(start..start + length)
}

/// Whether a text ends with `machine HOST` or `default`, followed by one or two pairs of a key and its value.
fn follows_machine(text: &[u8]) -> bool {
    let text = &text[text.len().saturating_sub(MAX_BYTES)..];
    let mut words = text.rsplit(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    for _ in 0..MAX_PAIRS {
        if words.next().is_none() || !words.next().is_some_and(|key| KEYS.contains(&key)) {
            return false;
        }
        let mut rest = words.clone();
        let (last, before) = (rest.next().unwrap_or_default(), rest.next().unwrap_or_default());
        if last.ends_with(b"default") || before.ends_with(b"machine") {
            return true;
        }
    }
    false
}
