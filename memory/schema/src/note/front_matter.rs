//! Parses front matter into keys and uninterpreted values.
//!
//! Front matter looks like YAML, but a YAML parser would reject or misread common lines, such as
//! `title: Deploy: part 2` or `tags: #ops`.

use aurora_diagnostics::document::{Report, quoted};
use std::collections::HashSet;
use std::ops::Range;

use crate::code;

/// The line that begins and ends front matter.
const FENCE: &str = "---";

/// A key and its uninterpreted value.
pub(super) struct RawField<'t> {
    /// The key in lower case.
    pub(super) key: String,
    /// Byte range of the line with the key.
    pub(super) at: Range<usize>,
    /// The text after the colon, on the same line.
    pub(super) value: &'t str,
    /// The following lines that belong to the value.
    pub(super) continuation: Vec<&'t str>,
    /// The whole text of the value, including the following lines.
    pub(super) raw: &'t str,
}

/// Parses the front matter that begins at the offset `start`. Also returns the offset of the text after the front
/// matter.
pub(super) fn parse<'t>(report: &mut Report<'_>, text: &'t str, start: usize) -> (Vec<RawField<'t>>, usize) {
    let mut fields: Vec<RawField<'t>> = Vec::new();
    let mut keys = HashSet::new();
    let Some((lines, end)) = fenced_lines(text, start) else { return (fields, start) };
    let mut value_start = 0;
    for (at, line) in lines {
        let content = line.trim();
        let span = at..at + line.trim_end().len();
        let is_continuation = line.starts_with([' ', '\t', '-']);
        match (fields.last_mut(), split_key(line)) {
            _ if content.is_empty() || content.starts_with('#') => {}
            (Some(field), _) if is_continuation => {
                field.continuation.push(content);
                field.raw = &text[value_start..span.end];
            }
            (_, Some((key, value))) => {
                let key = key.to_lowercase();
                if !keys.insert(key.clone()) {
                    report.error(
                        code::DUPLICATE_KEY,
                        span.clone(),
                        format!("`{key}` is set twice in the front matter"),
                        None,
                    );
                }
                value_start = at + line.len() - value.len();
                let value_end = value_start + value.trim_end().len();
                fields.push(RawField {
                    key,
                    at: span,
                    value: value.trim(),
                    continuation: Vec::new(),
                    raw: &text[value_start..value_end],
                });
            }
            _ => {
                let message = format!("{} is not a line of front matter", quoted(content));
                let help = "write `key: value`, or end the front matter above with `---`".to_owned();
                report.error(code::FRONT_MATTER, span, message, Some(help));
            }
        }
    }
    (fields, end)
}

/// Returns the lines between the fences with their offsets, and the offset of the text after the second fence. Returns
/// `None` if the first line between the fences has no key, because a line `---` can also be a thematic break.
fn fenced_lines(text: &str, start: usize) -> Option<(Vec<(usize, &str)>, usize)> {
    let mut at = start;
    let mut lines = Vec::new();
    for (number, line) in text[start..].split_inclusive('\n').enumerate() {
        let is_fence = line.trim_end() == FENCE;
        let offset = at;
        at += line.len();
        match (number, is_fence) {
            (0, true) => {}
            (0, false) => return None,
            (_, true) => {
                let first = lines.iter().map(|(_, line): &(usize, &str)| line.trim()).find(|line| is_content(line));
                return first.is_none_or(|line| split_key(line).is_some()).then_some((lines, at));
            }
            (_, false) => lines.push((offset, line)),
        }
    }
    None
}

fn is_content(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

/// Splits a line into the key and the text after the colon. Returns `None` if the line does not begin with a key.
fn split_key(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let is_separated = value.is_empty() || value.starts_with([' ', '\t', '\r', '\n']);
    (is_key && is_separated).then_some((key, value))
}
