//! Edits that leave the rest of a text unchanged.

use std::ops::Range;

/// Returns the line ending of the first line of `text`.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// Returns `text` with `more` inserted at byte offset `offset`.
pub(super) fn insert_at(text: &str, offset: usize, more: &str) -> String {
    [&text[..offset], more, &text[offset..]].concat()
}

/// Returns `text` without the given byte ranges, which may overlap.
pub(super) fn remove_ranges(text: &str, mut cuts: Vec<Range<usize>>) -> String {
    cuts.sort_by_key(|cut| cut.start);
    let (mut rest, mut from) = (String::new(), 0);
    for cut in cuts {
        rest += text.get(from..cut.start).unwrap_or_default();
        from = from.max(cut.end);
    }
    rest + &text[from..]
}

/// Returns the byte order mark at the start of `text`, or an empty string.
pub(super) fn byte_order_mark(text: &str) -> &str {
    const MARK: &str = "\u{feff}";
    if text.starts_with(MARK) { MARK } else { "" }
}
