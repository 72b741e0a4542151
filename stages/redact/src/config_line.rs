//! Finds values on the lines of configuration files and in parameters: `NAME=VALUE`, `name: VALUE`, `;Password=VALUE;`.
//!
//! A value without quotes may contain any symbol. Only the position in a line or parameter distinguishes a value from
//! an expression of a program.

use std::ops::Range;

use crate::entropy::{is_marked, is_password, is_random};
use crate::names::NameKind;
use crate::url::is_real_password;

/// Maximum number of bytes that are examined on each side of a name.
const MAX_LINE_BYTES: usize = 512;
/// Minimum length in bytes of the value of a variable or a parameter. Values of well-known keys may be shorter.
const MIN_VALUE_BYTES: usize = 6;

/// Commands whose arguments are a name and a value: `aws configure set aws_secret_access_key VALUE`.
const SETTERS: &[&[u8]] = &[b"configure set ", b"nmcli "];
/// A command whose arguments have the form `NAME=VALUE`: `vault kv put secret/app password=VALUE`.
const PUTTER: &[u8] = b"kv put ";

/// Prefix of the names of Ansible's variables.
const ANSIBLE: &[u8] = b"ansible";

/// Words that may precede the name of a variable on its line, including the dash of a list item.
const BEFORE_NAME: &[&[u8]] = &[b"export", b"set", b"setx", b"env", b"ENV", b"ARG", b"-", b"-e", b"--env"];

/// Returns the secret value that follows a name, or `None` if the value is not a secret.
pub(crate) fn value_of(text: &[u8], name: &Range<usize>, kind: NameKind) -> Option<Range<usize>> {
    let after = name.end..text.len().min(name.end + MAX_LINE_BYTES);
    let before = &text[line_start(text, name.start)..name.start];
    let value = match &text[after.clone()] {
        [b' ', ..] if is_setting(before) => word(text, after).filter(|value| is_real_password(&text[value.clone()])),
        [b'=', ..] => direct(text, before, name, kind),
        _ if kind == NameKind::Secret => None,
        [b' ' | b'\t', ..] if text[name.clone()].starts_with(b"--") => {
            word(text, after).filter(|value| is_mixed(&text[value.clone()]) && is_real_password(&text[value.clone()]))
        }
        [b' ' | b'\t' | b':', ..] if begins_line(before) => spaced(text, name, kind == NameKind::Certain),
        _ => None,
    }?;
    (!is_expression(&text[value.clone()])).then_some(value)
}

/// Returns the secret value of `NAME=VALUE`.
fn direct(text: &[u8], before: &[u8], name: &Range<usize>, kind: NameKind) -> Option<Range<usize>> {
    let is_certain = kind == NameKind::Certain;
    let start = name.end + 1;
    let rest = &text[start..text.len().min(start + MAX_LINE_BYTES)];
    if let Some(quote) = rest.first().filter(|byte| b"\"'".contains(byte)) {
        let length = rest[1..].iter().position(|byte| byte == quote || *byte == b'\n')?;
        let is_secret = is_certain && rest[1 + length] == *quote && is_real_password(&rest[1..1 + length]);
        return is_secret.then_some(start + 1..start + 1 + length);
    }
    let begins_line = begins_line(before);
    let is_variable = !text[name.clone()].iter().any(u8::is_ascii_lowercase);
    let is_parameter = text[name.clone()].starts_with(b"-")
        || before.last().is_some_and(|byte| b";&?".contains(byte))
        || follows_parameter(before)
        || memchr::memmem::find(before, PUTTER).is_some();
    let line = if begins_line { to_end_of_line(rest, is_variable) } else { None };
    let value = line.or_else(|| parameter(rest, is_parameter))?;
    let is_secret = match () {
        () if kind == NameKind::Secret => begins_line && is_variable && is_random(value),
        () if is_certain && (begins_line || is_variable) => true,
        () if is_parameter || is_variable => is_mixed(value) || is_password(value) || is_marked(value),
        () => begins_line && (is_password(value) || is_marked(value)),
    };
    (is_secret && is_real_password(value)).then(|| start..start + value.len())
}

/// Returns the secret value of `name = VALUE`, `name: VALUE` or `name VALUE` at the start of a line.
fn spaced(text: &[u8], name: &Range<usize>, is_certain: bool) -> Option<Range<usize>> {
    let after = &text[name.end..text.len().min(name.end + MAX_LINE_BYTES)];
    let blanks = |text: &[u8]| text.iter().take_while(|byte| b" \t".contains(byte)).count();
    let first = blanks(after);
    let separator = after.get(first).filter(|byte| b"=:".contains(byte));
    let second = if separator.is_some() { blanks(&after[first + 1..]) } else { 0 };
    let skipped = first + usize::from(separator.is_some()) + second;
    let skipped = skipped + separator.map_or(0, |_| continuation(&after[skipped..]));
    let value = to_end_of_line(&after[skipped..], false)?;
    let is_word = || value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.".contains(byte));
    let name_text = &text[name.clone()];
    let is_dockerfile = text[line_start(text, name.start)..name.start].trim_ascii() == b"ENV";
    let is_secret = match separator {
        None if is_dockerfile => is_mixed(value),
        Some(b':') if second == 0 => false,
        Some(_) if is_certain && name_text.starts_with(ANSIBLE) => true,
        Some(separator) => is_password(value) && !is_word() || *separator == b':' && is_marked(value),
        None if is_certain => !name_text.contains(&b'_'),
        None => value.iter().any(u8::is_ascii_digit) && is_random(value),
    };
    (is_secret && is_real_password(value)).then(|| name.end + skipped..name.end + skipped + value.len())
}

/// Returns the length of the text before a value on the next line: a backslash or a YAML block indicator, the line
/// break and the indentation. Returns 0 if the value is not on the next line.
fn continuation(text: &[u8]) -> usize {
    let Some(line) = memchr::memchr(b'\n', text) else { return 0 };
    let is_indicator = matches!(text[..line].trim_ascii(), b"\\" | b"|" | b"|-" | b"|+" | b">" | b">-" | b">+");
    let indentation = text[line + 1..].iter().take_while(|byte| b" \t".contains(byte)).count();
    if is_indicator && indentation > 0 { line + 1 + indentation } else { 0 }
}

/// Whether the name at an offset is the first name on its line.
pub(crate) fn is_at_line_start(text: &[u8], at: usize) -> bool {
    begins_line(&text[line_start(text, at)..at])
}

/// Whether a value has at least six characters, including a letter and a digit.
pub(crate) fn is_mixed(value: &[u8]) -> bool {
    value.len() >= MIN_VALUE_BYTES && value.iter().any(u8::is_ascii_digit) && value.iter().any(u8::is_ascii_alphabetic)
}

/// Returns the start of the line around an offset, or the offset [`MAX_LINE_BYTES`] before it if the line starts
/// earlier.
fn line_start(text: &[u8], at: usize) -> usize {
    let from = at.saturating_sub(MAX_LINE_BYTES);
    memchr::memrchr(b'\n', &text[from..at]).map_or(from, |line| from + line + 1)
}

/// Whether the text before a name contains a command that sets the value of a name.
fn is_setting(before: &[u8]) -> bool {
    SETTERS.iter().any(|setter| memchr::memmem::find(before, setter).is_some())
}

/// Whether a text ends with a connection parameter and a space, such as `host=db user=u `.
fn follows_parameter(before: &[u8]) -> bool {
    let Some(before) = before.strip_suffix(b" ") else { return false };
    let word = before.rsplit(|byte| b" \t\"'`".contains(byte)).next().unwrap_or_default();
    let key = word.iter().take_while(|byte| byte.is_ascii_lowercase() || **byte == b'_').count();
    let value = word[key..].strip_prefix(b"=").unwrap_or_default();
    key > 0 && !value.is_empty() && value.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.-/:@".contains(byte))
}

/// Returns the next word within a range, without its quotes.
fn word(text: &[u8], within: Range<usize>) -> Option<Range<usize>> {
    let blanks = text[within.clone()].iter().take_while(|byte| b" \t".contains(byte)).count();
    let start = within.start + blanks;
    let quote = text.get(start).filter(|byte| b"\"'".contains(byte));
    let start = start + usize::from(quote.is_some());
    let ends = |byte: &u8| quote.map_or(byte.is_ascii_whitespace() || b"\"'`\\".contains(byte), |quote| byte == quote);
    let rest = text.get(start..within.end)?;
    let length = rest
        .iter()
        .position(|byte| ends(byte) || *byte == b'\n')
        .or((within.end == text.len()).then_some(rest.len()))?;
    Some(start..start + length)
}

/// Whether the text before a name on its line consists only of blanks and words that introduce a variable.
fn begins_line(before: &[u8]) -> bool {
    let mut words = before.split(|byte| b" \t".contains(byte)).filter(|word| !word.is_empty());
    before.len() < MAX_LINE_BYTES
        && before.last().is_none_or(|last| b" \t".contains(last))
        && words.all(|word| BEFORE_NAME.contains(&word))
}

/// Returns the value at the start of a text: the text up to the first white space. Returns `None` if anything but a
/// comment follows on the line, or if the value looks like code. Semicolons and commas at the end of a variable's value
/// are removed.
fn to_end_of_line(text: &[u8], is_variable: bool) -> Option<&[u8]> {
    let length = text.iter().position(u8::is_ascii_whitespace);
    // If a value reaches the end of the examined bytes, its end is unknown.
    let length = length.or((text.len() < MAX_LINE_BYTES / 2).then_some(text.len()))?;
    let rest = text[length..].split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    let is_comment = |rest: &[u8]| rest.starts_with(b"#") || rest.starts_with(b"//");
    let mut value = &text[..length];
    while let [rest @ .., b';' | b','] = value
        && is_variable
    {
        value = rest;
    }
    let is_code = value.first().is_none_or(|first| b"\"'`".contains(first))
        || !is_variable && value.last().is_some_and(|last| b";,{\\".contains(last));
    // A value with a Unicode escape is a message in a properties file.
    let has_escape = || value.windows(2).any(|pair| pair == b"\\u");
    ((rest.is_empty() || is_comment(rest)) && !is_code && !has_escape()).then_some(value)
}

/// Returns the prefix of a text that consists of characters allowed in a parameter or a word of a command.
fn parameter(text: &[u8], is_parameter: bool) -> Option<&[u8]> {
    let is_value =
        |byte: &u8| byte.is_ascii_alphanumeric() || b"+/_.:~!@#%^*=?-".contains(byte) || *byte == b'$' && is_parameter;
    let length = text.iter().take_while(|byte| is_value(byte)).count();
    let ends = |next: &u8| next.is_ascii_whitespace() || b"\"'`;&,<".contains(next);
    (length < MAX_LINE_BYTES / 2 && text.get(length).is_none_or(ends)).then_some(&text[..length])
}

/// Whether a value is an expression of a program or a path: `read(file)`, `args[1]`, `user.name`, `user->name`.
fn is_expression(value: &[u8]) -> bool {
    let is_word = |byte: &&u8| byte.is_ascii_alphanumeric() || b"_.:>-".contains(byte);
    let word = value.iter().take_while(is_word).count();
    let begins_word = value.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_');
    let is_call =
        begins_word && matches!((value.get(word), value.last()), (Some(b'('), Some(b')')) | (Some(b'['), Some(b']')));
    let has_members = value.windows(2).any(|pair| pair == b"->" || pair == b"::")
        || begins_word
            && word == value.len()
            && value.split(|byte| *byte == b'.').filter(|part| part.len() > 3).count() > 1;
    let is_call = is_call || value.ends_with(b"(");
    let is_path = matches!(value, [b'/', ..] | [b'.', b'/', ..] | [b'.', b'.', ..] | [b'~', b'/', ..]);
    let is_reference = matches!(value, [b'*' | b'&', name @ ..] if name.iter().all(|byte| is_word(&byte)));
    is_call || has_members || is_path || is_reference
}
