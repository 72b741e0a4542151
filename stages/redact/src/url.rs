//! Passwords in URLs: `scheme://user:password@host`.

use memchr::memmem;

use crate::entropy::is_placeholder;
use crate::secret::Secret;

/// Longest user, and longest password, in bytes.
const LONGEST: usize = 512;
/// Shorter passwords are left.
const SHORTEST: usize = 3;

/// Words that documentation has in the place of a password.
const WORDS: &[&str] =
    &["credentials", "pass", "passphrase", "passwd", "password", "pw", "pwd", "secret", "test", "token"];

/// Adds the passwords of URLs.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    for slashes in memmem::find_iter(bytes, b"://") {
        if slashes == 0 || !bytes[slashes - 1].is_ascii_alphanumeric() {
            continue;
        }
        let from = slashes + 3;
        let rest = &bytes[from..bytes.len().min(from + 2 * LONGEST)];
        let Some(colon) = rest.iter().position(|byte| is_end(*byte)).filter(|at| rest[*at] == b':') else { continue };
        let password = &rest[colon + 1..];
        let Some(at) = password.iter().position(|byte| is_end(*byte) && *byte != b':') else { continue };
        if password[at] == b'@'
            && password.get(at + 1).is_some_and(|next| begins_host(*next))
            && is_chosen(&password[..at])
        {
            let start = from + colon + 1;
            found.push(Secret { rule: "url-password", span: start..start + at, continues: false });
        }
    }
}

/// What cannot stand in the user or the password of a URL, or ends one of them.
fn is_end(byte: u8) -> bool {
    byte <= b' ' || b":@/?#\"'`<>\\|^,".contains(&byte)
}

fn begins_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"[{$%<".contains(&byte) || byte >= 0x80
}

/// Whether a text in the place of a password is one that somebody has chosen: neither a placeholder nor too short.
pub(crate) fn is_chosen(password: &[u8]) -> bool {
    let is_word = WORDS.iter().any(|word| password.eq_ignore_ascii_case(word.as_bytes()));
    password.len() >= SHORTEST && !is_word && !is_placeholder(password)
}
