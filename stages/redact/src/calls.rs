//! Finds passwords in the arguments of well-known functions whose names do not indicate a secret:
//! `NetworkCredential("user", "…")`.

use std::ops::RangeInclusive;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::bytes::Regex;

use crate::entropy::is_password;
use crate::secret::Secret;

/// The text of each call up to the start of its arguments, with the zero-based positions of the arguments that may be a
/// password. Some functions accept a token instead of a user name.
const FUNCTIONS: &[(&str, RangeInclusive<usize>)] = &[
    ("SecureString ", 0..=0),
    ("NetworkCredential(", 0..=1),
    ("auth=(", 0..=1),
    (".login(", 1..=1),
    ("asicAuth(", 1..=1),
    ("asic_auth(", 1..=1),
    ("PasswordAuthentication(", 1..=1),
    ("PasswordCredentials(", 1..=1),
    ("getConnection(", 2..=2),
    ("PDO(", 2..=2),
    ("mysqli(", 2..=2),
    ("mysqli_connect(", 2..=2),
    ("mysql_connect(", 2..=2),
];
/// Maximum number of bytes of arguments that are examined.
const MAX_BYTES: usize = 512;

static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    let names = FUNCTIONS.iter().map(|(name, _)| name);
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(names)
        .expect("the automaton of a few short strings is small")
});

/// Matches an argument: a string, a variable or a call.
static ARGUMENT: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x-u) \A
        (?: -String \x20 )? \s{0,32}
        (?: " (?P<double> [^"\n]{0,256} ) " | ' (?P<single> [^'\n]{0,256} ) ' | [\w.$]{1,64} (?: \( [^()\n]{0,64} \) )? )
        \s{0,8} (?P<comma> , )?"#;
    Regex::new(pattern).expect("a test compiles this pattern")
});

/// Adds the passwords in the arguments of known functions.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let text = text.as_bytes();
    for function in FINDER.find_iter(text) {
        let (_, positions) = &FUNCTIONS[function.pattern().as_usize()];
        let end = text.len().min(function.end() + MAX_BYTES);
        let (mut at, mut password) = (function.end(), None);
        for position in 0..=*positions.end() {
            let Some(groups) = ARGUMENT.captures(&text[at..end]) else { break };
            let value = groups.name("double").or(groups.name("single"));
            if let Some(value) =
                value.filter(|value| positions.contains(&position) && is_argument_password(value.as_bytes()))
            {
                password = Some(at + value.start()..at + value.end());
            }
            at += groups.get(0).map_or(0, |whole| whole.end());
            if groups.name("comma").is_none() {
                break;
            }
        }
        found.extend(password.map(|span| Secret { rule: "argument-password", span, continues: false }));
    }
}

/// Whether an argument looks like a password. An argument that begins with `$` is a PowerShell variable, such as
/// `"$env:PASSWORD"`.
fn is_argument_password(value: &[u8]) -> bool {
    let has_escape = value.iter().any(|byte| byte.is_ascii_whitespace() || *byte == b'\\');
    !has_escape && !value.starts_with(b"$") && is_password(value)
}
