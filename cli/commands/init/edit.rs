//! Changes of a text that leave everything else as it was written.

use std::ops::Range;

/// The line ends of a text: those of its first line.
pub(super) fn newline(text: &str) -> &'static str {
    match text.find('\n') {
        Some(at) if text[..at].ends_with('\r') => "\r\n",
        _ => "\n",
    }
}

/// The text with more at a place.
pub(super) fn with(text: &str, place: usize, more: &str) -> String {
    [&text[..place], more, &text[place..]].concat()
}

/// The text without some ranges, which may overlap.
pub(super) fn without(text: &str, mut cuts: Vec<Range<usize>>) -> String {
    cuts.sort_by_key(|cut| cut.start);
    let (mut rest, mut from) = (String::new(), 0);
    for cut in cuts {
        rest += text.get(from..cut.start).unwrap_or_default();
        from = from.max(cut.end);
    }
    rest + &text[from..]
}
