//! Finds the comments that belong to a definition, and extracts the text of comments.

use std::ops::Range;

use crate::extract::captures::LeadingNode;
use crate::language::Language;
use crate::lines::begins_line;
use crate::spans::slice;

/// The comments and attributes that belong to a definition.
#[derive(Debug, Clone, Default)]
pub(super) struct Attached {
    /// Start of the definition with its attributes.
    pub(super) start: u32,
    /// Span from the first comment to the last.
    pub(super) doc: Option<Range<u32>>,
}

/// Walks back from `start` over comments and attributes, as long as each of them begins a line and there is no blank
/// line after it. Comments that begin with [`Language::distant_doc`] may be followed by blank lines.
///
/// `before` is the span of the previous definition. In a text with errors, this span may contain attributes that
/// directly precede `start`. These attributes belong to the previous definition. If the previous definition is inside an
/// attribute, such as a function among the arguments of a decorator, the attribute belongs to the definition at `start`.
pub(super) fn attached(
    language: &Language,
    leading: &[LeadingNode],
    mut before: Range<u32>,
    start: u32,
    text: &str,
) -> Attached {
    let mut found = Attached { start, doc: None };
    let mut from = start;
    let count = leading.partition_point(|l| l.bytes.start < start);
    for item in leading[..count].iter().rev() {
        let is_distant = || language.distant_doc.is_some_and(|mark| slice(text, &item.bytes).starts_with(mark));
        let belongs = |end| is_adjacent(text, end, from) || (is_distant() && is_blank(text, end, from));
        if !item.is_comment && item.bytes.start <= before.start && before.end <= item.bytes.end {
            before = 0..0;
        }
        let is_free = item.is_comment || item.bytes.start >= before.end;
        if item.bytes.end > from || !is_free || !belongs(item.bytes.end) || !begins_line(text, item.bytes.start) {
            break;
        }
        from = item.bytes.start;
        if item.is_comment {
            let end = found.doc.as_ref().map_or(item.bytes.end, |doc| doc.end);
            found.doc = Some(from..end);
        } else {
            found.start = from;
        }
    }
    found
}

/// Returns the span of the adjacent comments at the start of the file that begin with `prefix`.
pub(super) fn first_run(leading: &[LeadingNode], prefix: &str, text: &str) -> Option<Range<u32>> {
    let mut run: Option<Range<u32>> = None;
    for item in leading.iter().filter(|l| l.is_comment) {
        let bytes = &item.bytes;
        if !slice(text, bytes).starts_with(prefix) {
            break;
        }
        match &mut run {
            None if bytes.start == 0 || is_blank(text, 0, bytes.start) => run = Some(bytes.clone()),
            Some(run) if is_adjacent(text, run.end, bytes.start) => run.end = bytes.end,
            _ => break,
        }
    }
    run
}

impl Language {
    /// Returns the text of comments of this language without the delimiters.
    pub fn comment_text(&self, source: &str) -> String {
        self.doc_text.unwrap_or(comment_text)(source)
    }
}

/// Returns the text of comments without the delimiters. Keeps one line per line of the source, except for blank lines
/// at the start and the end.
pub(crate) fn comment_text(source: &str) -> String {
    let mut lines = Vec::new();
    for line in source.lines() {
        let mut line = line.trim();
        for delimiter in ["/**", "/*!", "/*", "///", "//!", "//", "#"] {
            if let Some(rest) = line.strip_prefix(delimiter) {
                line = rest;
                break;
            }
        }
        let line = line.strip_suffix("*/").unwrap_or(line).trim_end();
        let line = line.trim_start().strip_prefix('*').map_or(line, |rest| rest.trim_start_matches('*'));
        lines.push(line.strip_prefix(' ').unwrap_or(line));
    }
    without_blank_ends(&lines)
}

/// Returns the text of comments that begin and end with the given delimiters. Longer delimiters must come first in
/// these lists. Keeps one line per line of the source, except for blank lines at the start and the end.
pub(crate) fn text_between(source: &str, begin: &[&str], end: &[&str]) -> String {
    let stripped = source.lines().map(|line| {
        let line = line.trim();
        let line = begin.iter().find_map(|mark| line.strip_prefix(mark)).unwrap_or(line);
        let line = end.iter().find_map(|mark| line.strip_suffix(mark)).unwrap_or(line).trim_end();
        line.strip_prefix(' ').unwrap_or(line)
    });
    without_blank_ends(&stripped.collect::<Vec<_>>())
}

/// Returns the text of a docstring literal without its prefix and quotes. Removes the common indentation of all lines
/// except the first.
pub(crate) fn docstring_text(source: &str) -> String {
    let body = source.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let body = ["\"\"\"", "'''", "\"", "'"]
        .iter()
        .find_map(|quote| body.strip_prefix(quote).map(|rest| rest.strip_suffix(quote).unwrap_or(rest)))
        .unwrap_or(body);
    let indent = |line: &&str| line.len() - line.trim_start().len();
    let common = body.lines().skip(1).filter(|line| !line.trim().is_empty()).map(|l| indent(&l)).min().unwrap_or(0);
    let lines: Vec<_> = body
        .lines()
        .enumerate()
        .map(|(row, line)| if row == 0 { line.trim() } else { line.get(common..).unwrap_or_default().trim_end() })
        .collect();
    without_blank_ends(&lines)
}

fn without_blank_ends(lines: &[&str]) -> String {
    let is_text = |line: &str| !line.trim().is_empty();
    let Some(first) = lines.iter().position(|l| is_text(l)) else { return String::new() };
    let last = lines.iter().rposition(|l| is_text(l)).unwrap_or(first);
    lines[first..=last].join("\n").trim_end().to_owned()
}

/// Whether the text between two offsets is white space with at most one line feed.
pub(super) fn is_adjacent(text: &str, from: u32, to: u32) -> bool {
    let gap = slice(text, &(from..to));
    // The node of a line comment may include the line feed.
    let ended = from > 0 && text.as_bytes()[from as usize - 1] == b'\n';
    is_blank(text, from, to) && gap.matches('\n').count() + usize::from(ended) <= 1
}

fn is_blank(text: &str, from: u32, to: u32) -> bool {
    slice(text, &(from..to)).chars().all(char::is_whitespace)
}
