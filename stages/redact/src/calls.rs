//! Passwords in the arguments of functions whose names are no names of secrets: `NetworkCredential("user", "…")`.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::bytes::Regex;

use crate::entropy::is_password;
use crate::secret::Secret;

/// The functions, with what precedes their arguments.
const FUNCTIONS: &[&str] = &["SecureString ", "NetworkCredential(", "auth=("];
/// Maximum number of bytes of arguments that are examined.
const MAX_BYTES: usize = 512;

static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(FUNCTIONS).expect("a few short names")
});

/// A password in quotes, alone or after a user.
static ARGUMENTS: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x-u) \A
        (?: -String \x20 )? (?: (?: "[^"\n]{0,128}" | '[^'\n]{0,128}' | [\w.]{1,64} ) , \s{0,8} )?
        (?: " (?P<double> [^\s"\\]{8,256} ) " | ' (?P<single> [^\s'\\]{8,256} ) ' )"#;
    Regex::new(pattern).expect("a test matches it")
});

/// Adds the passwords in arguments.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let text = text.as_bytes();
    for function in FINDER.find_iter(text) {
        let start = function.end();
        let Some(groups) = ARGUMENTS.captures(&text[start..text.len().min(start + MAX_BYTES)]) else { continue };
        let Some(password) = groups.name("double").or(groups.name("single")) else { continue };
        // A value that begins with the sign is a variable of PowerShell: `"$env:PASSWORD"`.
        if !password.as_bytes().starts_with(b"$") && is_password(password.as_bytes()) {
            let span = start + password.start()..start + password.end();
            found.push(Secret { rule: "argument-password", span, continues: false });
        }
    }
}
