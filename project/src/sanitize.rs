//! Makes text from repositories safe to display, in a terminal and in reports.
//!
//! A path or a message may contain escape sequences, and direction overrides that display text in a different order.
//! This module replaces them with visible symbols.

/// Sanitises one line of text: every control character becomes a visible symbol.
pub fn line(text: &str) -> String {
    text.chars().map(visible).collect()
}

/// Whether a terminal could act on the character instead of showing it.
pub fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200e}' | '\u{200f}' | '\u{061c}'      // direction marks
            | '\u{2028}' | '\u{2029}'                 // line and paragraph separators
            | '\u{202a}'..='\u{202e}'                 // direction overrides
            | '\u{2066}'..='\u{2069}'                 // direction isolates
            | '\u{feff}')
}

/// Returns the character, or a symbol if a terminal would act on the character.
pub fn visible(c: char) -> char {
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        c if is_unsafe(c) => '\u{fffd}',
        c => c,
    }
}

/// Escapes a text for HTML, in elements and in quoted attributes. Control characters become visible symbols.
pub fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match visible(c) {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
