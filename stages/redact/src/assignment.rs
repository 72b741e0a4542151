//! Random values that are assigned to the name of a secret, in the notations of configuration and of programs.

use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::bytes::Regex;

use crate::Secret;
use crate::entropy::is_random;
use crate::names::is_of_secret;

/// Parts of names of secrets, in the cases that occur; a first letter that may be a capital is left out.
const STEMS: &[&str] = &[
    "assw",
    "ASSW",
    "assphrase",
    "ASSPHRASE",
    "pwd",
    "Pwd",
    "PWD",
    "ecret",
    "ECRET",
    "oken",
    "OKEN",
    "redential",
    "REDENTIAL",
    "creds",
    "Creds",
    "CREDS",
    "uth",
    "UTH",
    "key",
    "Key",
    "KEY",
];

/// Most bytes of a name before and after its stem.
const NAME: usize = 64;
/// Longer values with `_` may be something else than a name.
const LONGEST_NAME: usize = 20;
/// Most bytes from the end of a name to the end of its value.
const LONGEST: usize = 1024;

/// Longer values have no names of their own.
const LONG_VALUE: usize = 64;
/// Shorter values without quotes are taken for identifiers.
const SHORTEST_PLAIN: usize = 10;

/// From the end of a name to the value.
static VALUE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x-u) \A
        ["'`\]\\)]{0,3} [\x20\t]{0,16}
        (?:
            [:?|.+~]{0,3} ={1,3} >?                              # an assignment or a comparison
          | !=
          | : [\x20\t]{0,8} [\w<>?.\[\]&*|]{1,40} [\x20\t]{0,4} =      # name: type =
          | [\w<>.\[\]&*]{1,40} [\x20\t]{0,4} =                     # name type =; <entry key="name" value=
          | ,? \s{0,24} ["']? value ["']? [\x20\t]{0,4} [:=]        # "name": "NAME", "value":
          | [:>]                                                 # YAML, JSON, an element
          | (?P<argument> [,(])                                  # an argument
          | (?P<option> [\x20\t])                                # --name value
        )
        [\x20\t]{0,16} (?:\r?\n[\x20\t]{0,16})?
        (?: [A-Za-z_][\w.:!]{0,40} \( [\x20\t]{0,4} )?              # a call that wraps the value
        (?:
            [A-Za-z@$&]{0,2} (?: \\?["'`] ) (?: (?i:basic|bearer|token) [\x20\t]+ )?
            (?P<quoted> [^\s"'`\\]{8,} )
          | (?: (?i:basic|bearer|token) [\x20\t]+ )?
            (?P<plain> [A-Za-z0-9+/_.:~!@\#%^*=-]{8,} )
        )"#;
    Regex::new(pattern).expect("a test matches it")
});

static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    // The search for leftmost matches uses vector instructions, where the other kinds do not.
    AhoCorasick::builder().match_kind(MatchKind::LeftmostFirst).build(STEMS).expect("a few short stems")
});

/// Adds the values that look random and are assigned to the name of a secret.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let text = text.as_bytes();
    let mut searched = 0;
    for stem in FINDER.find_iter(text) {
        if stem.start() < searched {
            continue;
        }
        let start = extend_left(text, stem.start().max(searched), searched);
        let end = extend_right(text, stem.end());
        searched = end;
        let name = &text[start..end];
        if !is_of_secret(name) {
            continue;
        }
        let window = &text[end..text.len().min(end + LONGEST)];
        let Some(groups) = VALUE.captures(window) else { continue };
        let quoted = groups.name("quoted");
        let is_option = || name.starts_with(b"--") || quoted.is_some() && name.starts_with(b"-");
        let is_expression =
            groups.name("option").is_some() && !is_option() || groups.name("argument").is_some() && quoted.is_none();
        if is_expression {
            continue;
        }
        let Some(value) = quoted.or_else(|| groups.name("plain")) else { continue };
        let span = end + value.start()..end + value.end();
        let is_secret = match quoted {
            Some(value) => {
                is_random(value.as_bytes()) && (value.len() > LONGEST_NAME || !is_snake_case(value.as_bytes()))
            }
            None => is_plain_secret(value.as_bytes(), text.get(span.end)),
        };
        // A long value is not searched for names, so that no byte is in more than a few values.
        if is_secret || span.len() > LONG_VALUE {
            searched = span.end;
        }
        if is_secret {
            found.push(Secret { rule: "assigned-secret", span, continues: false });
        }
    }
}

/// The start of the name that has its stem at `at`.
fn extend_left(text: &[u8], at: usize, searched: usize) -> usize {
    let before = &text[searched.max(at.saturating_sub(NAME))..at];
    at - before.iter().rev().take_while(|byte| is_in_name(**byte)).count()
}

fn extend_right(text: &[u8], at: usize) -> usize {
    let after = &text[at..text.len().min(at + NAME)];
    let length = after.iter().take_while(|byte| is_in_name(**byte)).count();
    // `token->value` and `token.` end with the letters.
    at + after[..length].iter().rposition(|byte| !b"-.".contains(byte)).map_or(0, |last| last + 1)
}

fn is_in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

/// Whether a value without quotes is a secret; `next` is the byte after it. An expression goes on with a parenthesis or a
/// bracket, and a number begins with a digit and has no capitals.
fn is_plain_secret(value: &[u8], next: Option<&u8>) -> bool {
    let ends = next.is_none_or(|next| next.is_ascii_whitespace() || b"\"'`\\;,&<}#".contains(next));
    let is_number = value.starts_with(b"0x") || value.starts_with(b"0X");
    let has_digit = value.iter().any(u8::is_ascii_digit);
    let is_identifier = value.contains(&b'_') && (value.len() <= LONGEST_NAME || is_snake_case(value));
    ends && has_digit && !is_number && !is_identifier && value.len() >= SHORTEST_PLAIN && is_random(value)
}

/// `NAME_2` or `name_2`.
fn is_snake_case(value: &[u8]) -> bool {
    let is = |test: fn(&u8) -> bool| value.iter().any(test);
    value.contains(&b'_') && !(is(u8::is_ascii_lowercase) && is(u8::is_ascii_uppercase))
}
