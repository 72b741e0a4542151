//! Builds signatures. A signature is the declaration of a definition, on one line.

use std::ops::Range;

use crate::spans::slice;

/// Maximum length of a signature in bytes. Longer signatures, from generated code and inline object types, are
/// truncated.
const MAX_BYTES: usize = 400;

/// Returns the text of `range` without the spans in `omitted` and without the tokens that introduce a body. White
/// space is collapsed.
pub(super) fn signature(text: &str, range: Range<u32>, omitted: impl Iterator<Item = Range<u32>>) -> String {
    let mut line = String::new();
    let mut from = range.start;
    for gap in omitted {
        if gap.start >= from && gap.end <= range.end {
            push_collapsed(&mut line, slice(text, &(from..gap.start)));
            line.push(' ');
            from = gap.end;
        }
        if line.len() > MAX_BYTES {
            break;
        }
    }
    push_collapsed(&mut line, slice(text, &(from..range.end)));
    let mut line = tidy(&line);
    if line.len() > MAX_BYTES {
        line.truncate(line.floor_char_boundary(MAX_BYTES));
        line.truncate(line.trim_end().len());
        line.push('…');
    }
    line
}

fn push_collapsed(line: &mut String, text: &str) {
    for c in text.chars() {
        if !c.is_whitespace() {
            line.push(c);
        } else if !line.is_empty() && !line.ends_with(' ') {
            line.push(' ');
        }
        if line.len() > 4 * MAX_BYTES {
            return;
        }
    }
}

/// Removes the tokens that introduce a body, and the spaces that line breaks have left inside brackets.
fn tidy(line: &str) -> String {
    let line = without_body_introducer(line);
    let mut tidied = String::with_capacity(line.len());
    for c in line.chars() {
        if tidied.ends_with(' ') && matches!(c, ')' | ']' | ',' | ';') {
            tidied.pop();
            if matches!(c, ')' | ']') && tidied.ends_with(',') {
                tidied.pop();
            }
        }
        if !(c == ' ' && (tidied.ends_with('(') || tidied.ends_with('[') || tidied.ends_with(' '))) {
            tidied.push(c);
        }
    }
    tidied
}

fn without_body_introducer(line: &str) -> &str {
    let mut line = line.trim();
    loop {
        let shorter = line.trim_end_matches(['{', ';', ',', '\\']).trim_end();
        let shorter = shorter.strip_suffix("=>").unwrap_or(shorter).trim_end();
        let shorter = shorter.strip_suffix(':').unwrap_or(shorter).trim_end();
        let shorter = shorter.strip_suffix('=').unwrap_or(shorter).trim_end();
        if shorter.len() == line.len() {
            return line;
        }
        line = shorter;
    }
}
