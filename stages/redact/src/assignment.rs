//! Finds values that look random and are assigned to the name of a secret, in the notations of configuration files and
//! of programs.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, MatchKind};
use regex::bytes::Regex;

use crate::config_line;
use crate::entropy::{is_marked, is_password, is_placeholder, is_random, key_digits};
use crate::literals;
use crate::names::{NameKind, classify_name};
use crate::netrc;
use crate::pgpass;
use crate::secret::Secret;

/// The name of the rule.
const RULE: &str = "assigned-secret";

/// Ending of the name of a PostgreSQL password file, such as `.pgpass`.
const PGPASS: &[u8] = b"pgpass";

/// Parts of the names of secrets, in the letter cases that occur. The first letter of a part is omitted if it can be
/// upper or lower case.
const STEMS: &[&str] = &[
    "pass",
    "Pass",
    "PASS",
    "psk",
    "PSK",
    "ootpw",
    "indpw",
    "pwd",
    "Pwd",
    "PWD",
    "ecret",
    "ECRET",
    "oken",
    "OKEN",
    "ontraseña",
    "ontrasena",
    "ONTRASEÑA",
    "ONTRASENA",
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

/// Maximum number of bytes of a name on each side of the stem (one of [`STEMS`]).
const MAX_AFFIX_BYTES: usize = 64;
/// Maximum length in bytes of a value with `_` that is treated as a name and not as a secret.
const MAX_NAME_BYTES: usize = 20;
/// Maximum number of bytes from the end of a name to the end of its value.
const MAX_WINDOW_BYTES: usize = 1024;

/// Minimum length in bytes of a part of a value, between dots, that is treated as a word.
const MIN_WORD_BYTES: usize = 4;
/// Minimum length of a string that may be one line of an encoded key, in bytes.
const MIN_LINE_BYTES: usize = 40;
/// Maximum number of bytes between two string literals that are concatenated.
const MAX_JOINT_BYTES: usize = 256;
/// Maximum length in bytes of a value that is itself searched for names of secrets, if the value is not a secret.
const MAX_SEARCHED_VALUE_BYTES: usize = 64;
/// Minimum length of a value without quotes, in bytes. Shorter values are treated as identifiers.
const MIN_PLAIN_BYTES: usize = 10;

/// Matches the text from the end of a name to the end of its value.
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
        [\x20\t]{0,16}
        (?: (?: \\ | [|>][+-]? )? [\x20\t]{0,4} \r?\n [\x20\t]{0,40} )?  # the value on the next line
        (?: [A-Za-z_][\w.:!]{0,40} \( [\x20\t]{0,4} )?              # a call that wraps the value
        (?:
            (?: \( \s{0,40} )? [A-Za-z@$&]{0,2} (?: " (?P<double> (?: [^\s"\\] | \\["'\\$/] )+ ) " | ' (?P<single> (?: [^\s'\\] | \\["'\\$/] )+ ) ' )
          | [A-Za-z@$&]{0,2} (?: \\?["'`] ) (?P<quoted_scheme> (?i:basic|bearer|token) [\x20\t]+ )?
            (?P<quoted> [^\s"'`\\]{8,} )
          | (?P<plain_scheme> (?i:basic|bearer|token) [\x20\t]+ )?
            (?P<plain> [A-Za-z0-9+/_.:~!@\#%^*=-]{8,} )
        )"#;
    Regex::new(pattern).expect("a test compiles this pattern")
});

/// Matches the text from the end of a name to the end of the default value that a program uses if the value is missing:
/// `env.NAME || "…"`, `name = env.get("P") or "…"`, `fetch("NAME") { "…" }`, `name = is_set ? "…" : other`.
static FALLBACK: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x-u) \A
        ["'`\]\)]{0,3} [\x20\t]{0,4}
        (?:
            (?: [:=] [\x20\t]{0,4} [A-Za-z_$][\w.$]{0,64} (?: [\[(] ["'] [\w.-]{1,64} ["'] [\])] )? [\x20\t]{0,4} )?
            (?: \|\| | \?\? | \?: | or [\x20\t] | \)[\x20\t]{0,4}\{ )
          | [:=] [\x20\t]{0,4} [A-Za-z_$!(] [\w.$!()=<>&|\x20]{0,80} \? [\x20\t]{0,4} (?: [\w.]{1,64} [\x20\t]{0,4} : )?
        ) [\x20\t]{0,4}
        (?: " (?P<double> [^\s"\\]{8,256} ) " | ' (?P<single> [^\s'\\]{8,256} ) ' )"#;
    Regex::new(pattern).expect("a test compiles this pattern")
});

static FINDER: LazyLock<AhoCorasick> = LazyLock::new(|| {
    // `aho_corasick` uses vector instructions only if it searches for leftmost matches.
    AhoCorasick::builder()
        .match_kind(MatchKind::LeftmostFirst)
        .build(STEMS)
        .expect("the automaton of a few short strings is small")
});

/// Adds the values that look random and are assigned to the name of a secret.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    let (mut searched, mut has_pgpass) = (0, false);
    for stem in FINDER.find_iter(bytes) {
        if stem.start() < searched {
            continue;
        }
        let name = name_around(bytes, stem.range(), searched);
        searched = name.end;
        if !has_pgpass && bytes[name.clone()].ends_with(PGPASS) {
            has_pgpass = true;
            pgpass::find_all(bytes, found);
        }
        let Some(kind) = classify_name(&bytes[name.clone()]) else { continue };
        let unquoted = netrc::password_after(bytes, &name).or_else(|| config_line::value_of(bytes, &name, kind));
        if let Some(span) = unquoted {
            searched = span.end;
            found.push(Secret { rule: RULE, span, continues: false });
            continue;
        }
        if let Some(value) = fallback_of(bytes, name.end).filter(|value| value.is_secret(bytes, kind)) {
            searched = value.span.end;
            found.extend(value.parts(bytes));
            continue;
        }
        let mut items = items_of(bytes, name.clone(), kind).filter(|item| item.is_secret(bytes, kind)).peekable();
        if items.peek().is_some() {
            found.extend(items.map(|item| Secret { rule: RULE, span: item.span, continues: false }));
            continue;
        }
        if let Some(member) = literals::member(bytes, &name).map(Value::quoted) {
            let is_secret = member.is_secret(bytes, kind);
            found.extend(is_secret.then_some(Secret { rule: RULE, span: member.span, continues: false }));
            continue;
        }
        let is_option = bytes[name.clone()].starts_with(b"-");
        let Some(value) = value_of(text, name, kind) else { continue };
        let joined = if value.is_quoted { literals::joined(bytes, value.span.end, !is_option) } else { Vec::new() };
        let is_secret =
            value.is_secret(bytes, kind) || !joined.is_empty() && value.is_secret_with(&joined, bytes, kind);
        // A long value is not searched for names, because the running time would no longer be linear if long values
        // overlapped.
        if is_secret || value.span.len() > MAX_SEARCHED_VALUE_BYTES {
            searched = value.span.end;
        }
        if is_secret {
            found.extend(value.parts(bytes));
            found.extend(joined.into_iter().map(|span| Secret { rule: RULE, span, continues: true }));
        }
    }
}

/// Returns the items of the list that is assigned to a name. Returns no items for a name such as `tokens`, because the
/// list may contain the tokens of a parser.
fn items_of(text: &[u8], name: Range<usize>, kind: NameKind) -> impl Iterator<Item = Value> {
    let is_parsed = kind == NameKind::Secret && text[name.clone()].to_ascii_lowercase().ends_with(b"tokens");
    let items = if is_parsed { Vec::new() } else { literals::items(text, name.end) };
    items.into_iter().map(|item| Value { is_quoted: item.is_quoted, ..Value::quoted(item.span) })
}

/// Returns the range of the name that contains a stem. The range does not start before `searched`.
fn name_around(text: &[u8], stem: Range<usize>, searched: usize) -> Range<usize> {
    let is_in_name = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let before = &text[searched.max(stem.start.saturating_sub(MAX_AFFIX_BYTES))..stem.start];
    let start = stem.start - before.iter().rev().take_while(is_in_name).count();
    let after = &text[stem.end..text.len().min(stem.end + MAX_AFFIX_BYTES)];
    let length = after.iter().take_while(is_in_name).count();
    // In `token->value` and `token.`, the name ends with the letter `n`.
    let length = after[..length].iter().rposition(|byte| !b"-.".contains(byte)).map_or(0, |last| last + 1);
    start..stem.end + length
}

/// A value that is assigned to a name.
struct Value {
    span: Range<usize>,
    is_quoted: bool,
    /// Whether the value is an argument of a call: `pass("VALUE")`.
    is_argument: bool,
    /// Whether the value follows the scheme in an authorization header: `Authorization: Bearer VALUE`.
    is_credential: bool,
}

/// Returns the value that is assigned to a name.
fn value_of(text: &str, name: Range<usize>, kind: NameKind) -> Option<Value> {
    let window = &text[name.end..text.floor_char_boundary(name.end + MAX_WINDOW_BYTES)];
    let groups = VALUE.captures(window.as_bytes())?;
    let quoted = ["double", "single", "quoted"].iter().find_map(|quoted| groups.name(quoted));
    let plain = groups.name("plain");
    let is_quoted = quoted.is_some();
    let name_begins = |dashes: &[u8]| text.as_bytes()[name.clone()].starts_with(dashes);
    // A line that begins with a name, such as `storePassword "…"`, belongs to a configuration file.
    let begins_line = || kind != NameKind::Secret && config_line::is_at_line_start(text.as_bytes(), name.start);
    let is_option = name_begins(b"--") || is_quoted && (name_begins(b"-") || begins_line());
    let is_argument = groups.name("argument").is_some();
    // In a call such as `expectPass("…")`, `Pass` is a verb, and the argument is not a password.
    let is_verb = is_argument && text[..name.end].ends_with("Pass");
    if groups.name("option").is_some() && !is_option || is_argument && !is_quoted || is_verb {
        return None;
    }
    let value = quoted.or(plain)?.range();
    let has_scheme = groups.name("quoted_scheme").or(groups.name("plain_scheme")).is_some();
    let is_credential = has_scheme && text[name.clone()].to_ascii_lowercase().ends_with("authorization");
    Some(Value { span: name.end + value.start..name.end + value.end, is_quoted, is_argument, is_credential })
}

/// Returns the string that a program uses if the value of a name is missing.
fn fallback_of(text: &[u8], name_end: usize) -> Option<Value> {
    let groups = FALLBACK.captures(&text[name_end..text.len().min(name_end + MAX_WINDOW_BYTES)])?;
    let value = groups.name("double").or(groups.name("single"))?.range();
    let span = name_end + value.start..name_end + value.end;
    Some(Value::quoted(span))
}

impl Value {
    fn quoted(span: Range<usize>) -> Self {
        Self { span, is_quoted: true, is_argument: false, is_credential: false }
    }

    fn is_secret(&self, text: &[u8], kind: NameKind) -> bool {
        self.looks_secret(&text[self.span.clone()], text.get(self.span.end), kind)
    }

    /// Whether the concatenation of the value and the literals in `joined` looks like a secret.
    fn is_secret_with(&self, joined: &[Range<usize>], text: &[u8], kind: NameKind) -> bool {
        let parts = std::iter::once(&self.span).chain(joined);
        let whole: Vec<u8> = parts.flat_map(|part| &text[part.clone()]).copied().collect();
        self.looks_secret(&whole, None, kind)
    }

    /// Whether a value looks like a secret. `next` is the byte after the value.
    fn looks_secret(&self, value: &[u8], next: Option<&u8>, kind: NameKind) -> bool {
        if self.is_credential {
            let is_word = value.iter().all(u8::is_ascii_lowercase);
            return !is_word && !is_placeholder(value);
        }
        let is_key = kind == NameKind::Secret;
        // A password may contain symbols that do not occur in names.
        let is_name = is_key || value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:".contains(byte));
        let is_short_name = is_name && value.len() <= MAX_NAME_BYTES && value.contains(&b'_');
        let is_snake_case = is_name && is_snake_case(value);
        let looks_secret = if is_key {
            is_random(value)
        } else {
            is_password(value) || self.is_quoted && !self.is_argument && is_marked(value)
        };
        looks_secret
            && if self.is_quoted {
                !is_short_name || !is_snake_case
            } else {
                !(is_snake_case || is_short_name && is_key) && is_literal(value, next)
            }
    }

    /// Returns the spans of the secret. There are several spans if the value is an encoded key that a program writes as
    /// concatenated strings.
    fn parts<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = Secret> + 't {
        let is_line = self.is_quoted && self.span.len() >= MIN_LINE_BYTES;
        let mut next = Some(self.span.clone());
        let spans = std::iter::from_fn(move || {
            let span = next.take()?;
            next = if is_line { joined_string(text, span.end) } else { None };
            Some(span)
        });
        spans.enumerate().map(|(part, span)| Secret { rule: RULE, span, continues: part > 0 })
    }
}

/// Whether a value without quotes is a literal and not an identifier or an expression. Expressions contain a
/// parenthesis, a bracket or a member name (`P11Key.secretKey`), and identifiers rarely contain digits. `next` is the
/// byte after the value.
fn is_literal(value: &[u8], next: Option<&u8>) -> bool {
    let ends = next.is_none_or(|next| next.is_ascii_whitespace() || b"\"'`\\;,&<}#".contains(next));
    let is_number = (value.starts_with(b"0x") || value.starts_with(b"0X")) && key_digits(value).is_none();
    let is_word = |part: &[u8]| part.len() >= MIN_WORD_BYTES && part.iter().all(u8::is_ascii_alphabetic);
    let has_member = value.split(|byte| *byte == b'.').any(is_word);
    ends && value.iter().any(u8::is_ascii_digit) && !is_number && !has_member && value.len() >= MIN_PLAIN_BYTES
}

/// Returns the span of the base64 string that is concatenated with the string that ends at `at`.
fn joined_string(text: &[u8], at: usize) -> Option<Range<usize>> {
    let mut start = at;
    let mut quotes = 0;
    loop {
        match text.get(start..text.len().min(at + MAX_JOINT_BYTES))? {
            [b'\\', b'n' | b'r', ..] => start += 2,
            [b'"' | b'\'' | b'`', ..] => {
                quotes += 1;
                start += 1;
            }
            [byte, ..] if byte.is_ascii_whitespace() || (quotes == 1 && b"+.\\".contains(byte)) => start += 1,
            _ => break,
        }
    }
    let length = text[start..].iter().take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(byte)).count();
    let is_string = quotes == 2 && text.get(start + length).is_some_and(|next| b"\"'`\\".contains(next));
    (is_string && length > 0).then_some(start..start + length)
}

/// Whether a value contains `_` and has no mixed case: `NAME_2` or `name_2`.
fn is_snake_case(value: &[u8]) -> bool {
    let is = |test: fn(&u8) -> bool| value.iter().any(test);
    value.contains(&b'_') && !(is(u8::is_ascii_lowercase) && is(u8::is_ascii_uppercase))
}
