//! Finds values in lists, in tuples, and in concatenated literals.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::{memchr_iter, memrchr};
use regex::bytes::Regex;

use crate::reference;

/// Maximum number of bytes from the end of a name to the end of its values.
const MAX_BYTES: usize = 1024;
/// Maximum number of bytes that are examined before a name on its line.
const MAX_BEFORE_BYTES: usize = 128;
/// Maximum number of items in a list, and of concatenated literals in a value.
const MAX_ITEMS: usize = 64;

/// Matches the text from the end of a name to the start of its list: an opening bracket, or the lines of a YAML
/// sequence.
static LIST: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x-u) \A ["'`]? (?: \[ \w{0,16} \] )? [\x20\t]{0,8}
        (?: : [\x20\t]{0,8} \r?\n (?P<sequence>) | (?: :?=>? | : ) \s{0,16} [\[({] )"#;
    Regex::new(pattern).expect("a test compiles this pattern")
});

/// Matches an item of a list in brackets, including the comma or bracket after it.
static ITEM: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x-u) \A \s{0,64}
        (?: " (?P<double> [^\s"\\]{1,256} ) " | ' (?P<single> [^\s'\\]{1,256} ) '
          | " [^"\n]{0,256} " | ' [^'\n]{0,256} ' | [\w.]{1,64} )
        \s{0,64} [,\])}]"#;
    Regex::new(pattern).expect("a test compiles this pattern")
});

/// Matches a line of a YAML sequence, which has one item.
static ENTRY: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x-u) \A [\x20\t]{0,40} - [\x20\t]{1,8}
        (?: (?: " (?P<double> [^\s"\\]{1,256} ) " | ' (?P<single> [^\s'\\]{1,256} ) '
              | (?P<plain> [!\x23-\x26\x28-\x5f\x61-\x7e]{1,256} ) ) [\x20\t]{0,16} (?: \#[^\n]* )?
          | [^\n]{1,256} )
        (?: \n | \r\n | \z )"#;
    Regex::new(pattern).expect("a test compiles this pattern")
});

/// Matches the part of a line before a name in a tuple of names.
static NAMES_BEFORE: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?x-u) \A [\x20\t]* (?: (?: auto | const | final | let | local | my | val | var ) [\x20\t]+ )? [\[(]?
        (?: [\w$@.]{1,64} [\x20\t]* , [\x20\t]* ){0,4} [$@]? \z";
    Regex::new(pattern).expect("a test compiles this pattern")
});

/// Matches the part of a line after a name in a tuple of names, up to the start of the values.
static NAMES_AFTER: LazyLock<Regex> = LazyLock::new(|| {
    let pattern =
        r"(?x-u) \A (?: [\x20\t]* , [\x20\t]* [\w$@.]{1,64} ){0,4} [\x20\t]* [\])]? [\x20\t]* :?= [\x20\t]* [\[(]?";
    Regex::new(pattern).expect("a test compiles this pattern")
});

/// Matches a value of a tuple, including the comma after it.
static MEMBER: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x-u) \A \s{0,32}
        (?: " (?P<double> [^"\n\\]{0,256} ) " | ' (?P<single> [^'\n\\]{0,256} ) ' | [\w.]{1,64} (?: \( [^()\n]{0,64} \) )? )
        [\x20\t]{0,8} (?P<comma> , )?"#;
    Regex::new(pattern).expect("a test compiles this pattern")
});

/// Matches the text from the end of a literal to the end of the next literal. Between the literals are only white space
/// and, optionally, a concatenation operator.
static JOINED: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r#"(?x-u) \A ["'`]
        (?: [\x20\t]{0,16} (?: \r?\n [\x20\t]{0,40} )? (?P<operator> \+ | \.{1,2} | <> | & ) \s{0,40}
          | [\x20\t]{1,16} | [\x20\t]{0,16} \\? \r?\n [\x20\t]{1,40} )
        (?: " (?P<double> [^\s"\\]{1,256} ) " | ' (?P<single> [^\s'\\]{1,256} ) ' )"#;
    Regex::new(pattern).expect("a test compiles this pattern")
});

/// An item of a list.
pub(crate) struct Item {
    pub(crate) span: Range<usize>,
    pub(crate) is_quoted: bool,
}

/// Returns the items of the list that is assigned to a name. Items that contain white space are omitted.
pub(crate) fn items(text: &[u8], name_end: usize) -> Vec<Item> {
    let end = text.len().min(name_end + MAX_BYTES);
    let mut items = Vec::new();
    let Some(list) = LIST.captures(&text[name_end..end]) else { return items };
    let is_sequence = list.name("sequence").is_some();
    let item = if is_sequence { &*ENTRY } else { &*ITEM };
    let mut at = name_end + list.get(0).map_or(0, |whole| whole.end());
    for _ in 0..MAX_ITEMS {
        let Some(groups) = item.captures(&text[at..end]) else { break };
        let quoted = groups.name("double").or(groups.name("single"));
        if let Some(value) = quoted.or(groups.name("plain")) {
            let span = at + value.start()..at + value.end();
            items.push(Item { span, is_quoted: quoted.is_some() });
        }
        at += groups.get(0).map_or(0, |whole| whole.end());
        if !is_sequence && text[at - 1] != b',' {
            break;
        }
    }
    items
}

/// Returns the literal that a tuple assigns to a name: `USER, PASSWORD = "bob", "…"`.
pub(crate) fn member(text: &[u8], name: &Range<usize>) -> Option<Range<usize>> {
    let end = text.len().min(name.end + MAX_BYTES);
    let after = NAMES_AFTER.find(&text[name.end..end])?;
    let from = name.start.saturating_sub(MAX_BEFORE_BYTES);
    let line = memrchr(b'\n', &text[from..name.start]).map(|line| from + line + 1);
    let before = &text[line.or((from == 0).then_some(0))?..name.start];
    let position = memchr_iter(b',', before).count();
    let is_tuple = position > 0 || after.as_bytes().contains(&b',');
    if !is_tuple || !NAMES_BEFORE.is_match(before) {
        return None;
    }
    let mut at = name.end + after.end();
    for _ in 0..position {
        let groups = MEMBER.captures(&text[at..end])?;
        groups.name("comma")?;
        at += groups.get(0)?.end();
    }
    let groups = MEMBER.captures(&text[at..end])?;
    let value = groups.name("double").or(groups.name("single"))?;
    let has_blank = value.as_bytes().iter().any(u8::is_ascii_whitespace);
    (!has_blank).then(|| at + value.start()..at + value.end())
}

/// Returns the literals that are concatenated with the literal that ends at `end_of_first`. Literals without an
/// operator between them are returned only if the assigned expression ends after them.
pub(crate) fn joined(text: &[u8], end_of_first: usize, may_be_adjacent: bool) -> Vec<Range<usize>> {
    let end = text.len().min(end_of_first + MAX_BYTES);
    let (mut at, mut is_adjacent) = (end_of_first, false);
    let mut parts = Vec::new();
    for _ in 0..MAX_ITEMS {
        let Some(groups) = JOINED.captures(&text[at..end]) else { break };
        let Some(part) = groups.name("double").or(groups.name("single")) else { break };
        let has_operator = groups.name("operator").is_some();
        if !has_operator && !may_be_adjacent || reference::covered_bytes(part.as_bytes()) > 0 {
            break;
        }
        is_adjacent |= !has_operator;
        parts.push(at + part.start()..at + part.end());
        at += part.end();
    }
    // Skip the closing quote.
    let next = text.get(at + 1..).unwrap_or_default().iter().find(|byte| !b" \t".contains(byte));
    if is_adjacent && !next.is_none_or(|next| b";,)]}\r\n".contains(next)) {
        parts.clear();
    }
    parts
}
