//! The lines of front matter, as keys with the text of their values.
//!
//! Front matter looks like YAML, and a YAML parser would refuse what people write in it: `title: Deploy: part 2`, `tags: #ops`.

use std::collections::HashSet;
use std::ops::Range;

use crate::code;
use crate::report::Report;
use crate::show;

/// The lines before and behind front matter.
const FENCE: &str = "---";

/// The fields of front matter, in their order.
#[derive(Default)]
pub(super) struct FrontMatter<'t> {
    pub(super) fields: Vec<RawField<'t>>,
}

/// A key with its value, not interpreted.
pub(super) struct RawField<'t> {
    /// In lower case.
    pub(super) key: String,
    /// Where the first line stands.
    pub(super) at: Range<usize>,
    /// What stands behind the colon.
    pub(super) value: &'t str,
    /// The lines below that belong to the key.
    pub(super) below: Vec<&'t str>,
    /// All of it.
    pub(super) raw: &'t str,
}

/// Reads front matter at a place of a text: what is in it, and where the text behind it begins.
pub(super) fn parse<'t>(report: &mut Report<'_>, text: &'t str, start: usize) -> (FrontMatter<'t>, usize) {
    let mut fields: Vec<RawField<'t>> = Vec::new();
    let mut keys = HashSet::new();
    let Some((lines, end)) = lines_of(text, start) else { return (FrontMatter::default(), start) };
    let mut value_start = 0;
    for (at, line) in lines {
        let content = line.trim();
        let here = at..at + line.trim_end().len();
        let is_below = line.starts_with([' ', '\t', '-']);
        match (fields.last_mut(), key_of(line)) {
            _ if content.is_empty() || content.starts_with('#') => {}
            (Some(field), _) if is_below => {
                field.below.push(content);
                field.raw = &text[value_start..here.end];
            }
            (_, Some((key, value))) => {
                let key = key.to_lowercase();
                if !keys.insert(key.clone()) {
                    report.error(
                        code::DUPLICATE_KEY,
                        here.clone(),
                        format!("`{key}` is set twice in the front matter"),
                        None,
                    );
                }
                value_start = at + line.len() - value.len();
                let value_end = value_start + value.trim_end().len();
                fields.push(RawField {
                    key,
                    at: here,
                    value: value.trim(),
                    below: Vec::new(),
                    raw: &text[value_start..value_end],
                });
            }
            _ => {
                let message = format!("{} is not a line of front matter", show::quoted(content));
                let help = "write `key: value`, or close the front matter above with `---`".to_owned();
                report.error(code::FRONT_MATTER, here, message, Some(help));
            }
        }
    }
    (FrontMatter { fields }, end)
}

/// The lines between the fences, each with its place, and where the text behind them begins. `None` if there is no front matter:
/// a line of `---` may also be a thematic break.
fn lines_of(text: &str, start: usize) -> Option<(Vec<(usize, &str)>, usize)> {
    let mut at = start;
    let mut lines = Vec::new();
    for (number, line) in text[start..].split_inclusive('\n').enumerate() {
        let is_fence = line.trim_end() == FENCE;
        let place = at;
        at += line.len();
        match (number, is_fence) {
            (0, true) => {}
            (0, false) => return None,
            (_, true) => {
                let first = lines.iter().map(|(_, line): &(usize, &str)| line.trim()).find(|line| is_content(line));
                return first.is_none_or(|line| key_of(line).is_some()).then_some((lines, at));
            }
            (_, false) => lines.push((place, line)),
        }
    }
    None
}

fn is_content(line: &str) -> bool {
    !line.is_empty() && !line.starts_with('#')
}

/// The key of a line, and what stands behind its colon.
fn key_of(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let is_key = !key.is_empty() && key.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-'));
    let is_apart = value.is_empty() || value.starts_with([' ', '\t', '\r', '\n']);
    (is_key && is_apart).then_some((key, value))
}
