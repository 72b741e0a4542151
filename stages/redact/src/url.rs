//! Finds passwords and tokens in URLs: `scheme://user:password@host`, `scheme://token@host`,
//! `jdbc:oracle:thin:user/password@host`.

use memchr::{memchr, memmem};

use crate::entropy::{is_placeholder, is_random};
use crate::secret::Secret;

/// Maximum length of a user and of a password, in bytes.
const MAX_PART_BYTES: usize = 512;
/// Prefix of Oracle URLs, in which a slash separates the user from the password.
const ORACLE: &[u8] = b"jdbc:oracle:";
/// Minimum length of a password, in bytes.
const MIN_PASSWORD_BYTES: usize = 3;
/// Minimum length in bytes of a token that a URL contains instead of a user.
const MIN_TOKEN_BYTES: usize = 32;

/// Words that documentation uses instead of a password.
const PLACEHOLDER_WORDS: &[&str] =
    &["credentials", "pass", "passphrase", "passwd", "password", "pw", "pwd", "secret", "test", "token"];

/// Adds the passwords and tokens in URLs.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    for slashes in memmem::find_iter(bytes, b"://") {
        if slashes == 0 || !bytes[slashes - 1].is_ascii_alphanumeric() {
            continue;
        }
        let from = slashes + 3;
        let rest = &bytes[from..bytes.len().min(from + 2 * MAX_PART_BYTES)];
        let Some(user) = rest.iter().position(|byte| is_end(*byte)) else { continue };
        let password = if rest[user] == b':' { user + 1 } else { user };
        let Some(length) = rest[password..].iter().position(|byte| is_end(*byte) && *byte != b':') else { continue };
        let at = password + length;
        if rest[at] != b'@' || !rest.get(at + 1).is_some_and(|next| begins_host(*next)) {
            continue;
        }
        let secret = |start: usize, end: usize| Secret {
            rule: "url-password",
            span: from + start..from + end,
            continues: false,
        };
        if user >= MIN_TOKEN_BYTES && is_random(&rest[..user]) {
            found.push(secret(0, user));
        }
        if is_real_password(&rest[password..at]) {
            found.push(secret(password, at));
        }
    }
    for begin in memmem::find_iter(bytes, ORACLE) {
        let from = begin + ORACLE.len();
        let rest = &bytes[from..bytes.len().min(from + 2 * MAX_PART_BYTES)];
        let ends = |byte: &u8| *byte <= b' ' || b"@\"'`<>\\".contains(byte);
        let Some(end) = rest.iter().position(ends).filter(|end| rest[*end] == b'@') else { continue };
        let Some(password) = memchr(b'/', &rest[..end]).map(|slash| slash + 1) else { continue };
        if is_real_password(&rest[password..end]) {
            found.push(Secret { rule: "url-password", span: from + password..from + end, continues: false });
        }
    }
}

/// Whether a byte ends the user or the password of a URL.
fn is_end(byte: u8) -> bool {
    byte <= b' ' || b":@/?#\"'`<>\\|^,".contains(&byte)
}

fn begins_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"[{$%<".contains(&byte) || byte >= 0x80
}

/// Whether a text at the position of a password is a real password. Placeholders and very short texts are not
/// passwords.
pub(crate) fn is_real_password(password: &[u8]) -> bool {
    let is_word = PLACEHOLDER_WORDS.iter().any(|word| password.eq_ignore_ascii_case(word.as_bytes()));
    password.len() >= MIN_PASSWORD_BYTES && !is_word && !is_placeholder(password)
}
