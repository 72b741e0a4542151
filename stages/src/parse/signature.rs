//! Signatures: a declaration on one line.

use std::ops::Range;

/// Longer signatures are cut; they come from generated code and inline object types.
const LONGEST: usize = 400;

/// The text from `range.start` to `range.end` without the parts in `left_out`, with runs of white space collapsed and
/// without what only introduces a body.
pub(crate) fn signature(text: &str, range: Range<u32>, left_out: impl Iterator<Item = Range<u32>>) -> String {
    let mut line = String::new();
    let mut from = range.start;
    for gap in left_out {
        if gap.start >= from && gap.end <= range.end {
            push_collapsed(&mut line, slice(text, from..gap.start));
            line.push(' ');
            from = gap.end;
        }
        if line.len() > LONGEST {
            break;
        }
    }
    push_collapsed(&mut line, slice(text, from..range.end));
    let mut line = tidy(&line);
    if line.len() > LONGEST {
        let cut = (0..=LONGEST).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
        line.truncate(cut);
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
        if line.len() > 4 * LONGEST {
            return;
        }
    }
}

/// Drops the marks before a body, and the spaces that line breaks have left inside brackets.
fn tidy(line: &str) -> String {
    let mut line = line.trim();
    loop {
        let shorter = line.trim_end_matches(['{', ';', ',']).trim_end();
        let shorter = shorter.strip_suffix("=>").unwrap_or(shorter).trim_end();
        let shorter = shorter.strip_suffix(':').unwrap_or(shorter).trim_end();
        let shorter = shorter.strip_suffix('=').unwrap_or(shorter).trim_end();
        if shorter.len() == line.len() {
            break;
        }
        line = shorter;
    }
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

fn slice(text: &str, range: Range<u32>) -> &str {
    text.get(range.start as usize..range.end as usize).unwrap_or_default()
}
