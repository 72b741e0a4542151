//! Finds passwords in SQL statements: `CREATE USER name IDENTIFIED BY '…'`, `ALTER ROLE name WITH PASSWORD '…'`.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::bytes::Regex;

use crate::secret::Secret;
use crate::url::is_real_password;

/// Keywords before a password. The keywords also occur in other text, so the statement is checked as well.
const WORDS: &[&str] = &["IDENTIFIED ", "identified ", "PASSWORD '", "password '"];
/// Verbs of the statements that set a password, in lower case.
const VERBS: &[&[u8]] = &[b"create ", b"alter "];
/// Objects of the statements that set a password, in lower case.
const OBJECTS: &[&[u8]] = &[b"user ", b"role "];

/// Maximum number of bytes of a statement that are examined on each side of a word.
const MAX_BYTES: usize = 256;

static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(WORDS)
        .expect("the automaton of a few short strings is small")
});

/// Matches the text from `IDENTIFIED` to the opening quote of the password.
static BY: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?xi-u) \A (?: with \x20 [\w."'`-]{1,64} \x20 )? by \x20 (?: password \x20 )? ["']"#;
    Regex::new(pattern).expect("a test compiles this pattern")
});

/// Adds the passwords in SQL statements.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let text = text.as_bytes();
    for word in FINDER.find_iter(text) {
        let after = &text[word.end()..text.len().min(word.end() + MAX_BYTES)];
        let start = match text[word.end() - 1] {
            b'\'' => Some(word.end()),
            _ => BY.find(after).map(|by| word.end() + by.end()),
        };
        let Some(start) = start.filter(|_| sets_password(&text[..word.start()])) else { continue };
        let rest = &text[start..text.len().min(start + MAX_BYTES)];
        let quote = text[start - 1];
        // In `'" + password + "'`, a program builds the statement from parts, and the text between the quotes is not a
        // password.
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`\\".contains(byte);
        let length = rest.iter().position(ends).filter(|length| rest[*length] == quote);
        if let Some(length) = length.filter(|length| is_real_password(&rest[..*length])) {
            found.push(Secret { rule: "sql-password", span: start..start + length, continues: false });
        }
    }
}

/// Whether a text ends with the beginning of a statement that sets a password.
fn sets_password(before: &[u8]) -> bool {
    let statement = &before[before.len().saturating_sub(MAX_BYTES)..];
    let start = memchr::memrchr(b';', statement).map_or(0, |end| end + 1);
    let statement = statement[start..].to_ascii_lowercase();
    let has = |words: &[&[u8]]| words.iter().any(|word| memchr::memmem::find(&statement, word).is_some());
    has(VERBS) && has(OBJECTS) || has(&[b"grant "]) && has(&[b" to "])
}
