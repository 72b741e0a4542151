//! Masks syntax that the grammar does not support: context parameters, `$$` before a string, names that begin with an
//! operator, `suspend` before a lambda, calls of `get` and `set` below a property, and annotations before a class
//! without a body, which the grammar parses as an expression.

use std::ops::Range;

use crate::mask::Mask;

/// Operators that the grammar recognizes at the beginning of names, such as `in` in `in1`.
const OPERATORS: [&[u8]; 3] = [b"in", b"is", b"as"];
/// Maximum number of lines that are searched for the end of context parameters or of a class header.
const MAX_CONTEXT_LINES: usize = 16;

pub(super) fn masked(text: &str) -> Option<String> {
    let mut mask = Mask::new(text);
    mask_names(text, &mut mask);
    mask_suspend(text, &mut mask);
    mask_declarations(text, &mut mask);
    mask.text()
}

fn mask_names(text: &str, mask: &mut Mask) {
    let bytes = text.as_bytes();
    for digit in (1..bytes.len()).filter(|&at| bytes[at].is_ascii_digit() && bytes[at - 1].is_ascii_lowercase()) {
        let start = bytes[..digit].iter().rposition(|byte| !is_word(*byte)).map_or(0, |before| before + 1);
        if OPERATORS.contains(&&bytes[start..digit]) {
            mask.replace(start..start + 1, "x");
        }
    }
    for at in memchr::memchr_iter(b'"', bytes) {
        let dollars = bytes[..at].iter().rev().take_while(|byte| **byte == b'$').count();
        if dollars > 1 && !bytes[..at - dollars].last().is_some_and(|byte| is_word(*byte) || *byte == b'"') {
            mask.blank(at - dollars..at);
        }
    }
}

/// Masks `suspend` in `suspend { }`.
fn mask_suspend(text: &str, mask: &mut Mask) {
    const SUSPEND: &str = "suspend";
    for at in memchr::memmem::find_iter(text.as_bytes(), SUSPEND) {
        let end = at + SUSPEND.len();
        let begins_word = !text.as_bytes()[..at].last().is_some_and(|byte| is_word(*byte));
        if begins_word && text[end..].trim_start().starts_with('{') {
            mask.blank(at..end);
        }
    }
}

fn mask_declarations(text: &str, mask: &mut Mask) {
    let lines = lines(text);
    // Span of the annotations directly before the current line.
    let mut annotations: Option<Range<usize>> = None;
    for (number, line) in lines.iter().enumerate() {
        let content = text[line.clone()].trim();
        if is_call_of_accessor(content) {
            let start = line.start + text[line.clone()].len() - text[line.clone()].trim_start().len();
            mask.replace(start..start + 1, "x");
        }
        if content.starts_with("context(") {
            if let Some(end) = end_of_context(text, &lines[number..]) {
                mask.blank(line.start..end);
            }
        } else if content.starts_with('@') {
            let start = annotations.as_ref().map_or(line.start, |before| before.start);
            annotations = Some(start..line.end);
        } else {
            let before = annotations.take();
            if before.is_some() && is_class_without_body(content) && !is_continued(text, &lines[number + 1..]) {
                mask.blank(before.unwrap_or_default());
            }
        }
    }
}

fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let ends = memchr::memchr_iter(b'\n', text.as_bytes()).chain([text.len()]);
    ends.map(|end| std::mem::replace(&mut start, end + 1)..end).collect()
}

/// Whether a line begins with a call such as `get("/path")`, which the grammar parses as an accessor of the preceding
/// property.
fn is_call_of_accessor(line: &str) -> bool {
    let arguments = |name| line.strip_prefix(name).and_then(|rest: &str| rest.split(')').next());
    let is_parameter = |c: char| c.is_alphanumeric() || " _:.?<>".contains(c);
    arguments("get(").is_some_and(|arguments| !arguments.trim().is_empty())
        || arguments("set(").is_some_and(|arguments| !arguments.chars().all(is_parameter))
}

/// Returns the end of `context(a: A, b: B)`.
fn end_of_context(text: &str, lines: &[Range<usize>]) -> Option<usize> {
    let last = lines.get(..MAX_CONTEXT_LINES).unwrap_or(lines).last()?;
    let mut depth = 0;
    let source = text.get(lines[0].start..last.end)?;
    let close = source.bytes().position(|byte| {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        byte == b')' && depth == 0
    })?;
    Some(lines[0].start + close + 1)
}

/// Whether a line is `class Name` or `annotation class Name`, possibly with other modifiers.
fn is_class_without_body(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace().rev();
    let is_name = words.next().is_some_and(|name| name.bytes().all(is_word));
    is_name && words.next() == Some("class") && words.all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase()))
}

/// Whether the next line that is not blank continues a class header.
fn is_continued(text: &str, lines: &[Range<usize>]) -> bool {
    let mut next =
        lines.iter().take(MAX_CONTEXT_LINES).map(|line| text[line.clone()].trim()).filter(|line| !line.is_empty());
    next.next().is_some_and(|line| line.starts_with(['{', ':', '(', '<']) || line.contains("constructor"))
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric() || !byte.is_ascii()
}
