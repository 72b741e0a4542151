//! Escapes the text of a repository for the formats of a report.

use std::fmt::Write as _;

use crate::sanitize;

/// Maximum number of characters of a text that Markdown, HTML and XML show.
const MAX_CHARS: usize = 2_000;

/// Replaces control characters and direction overrides with visible symbols, and cuts a long text.
pub(super) fn plain(text: &str) -> String {
    let mut shown: String = text.chars().take(MAX_CHARS).map(visible).collect();
    if text.chars().nth(MAX_CHARS).is_some() {
        shown.push('…');
    }
    shown
}

/// Returns the character, or a symbol if a reader would act on it, or if XML 1.0 does not allow it.
fn visible(c: char) -> char {
    match sanitize::visible(c) {
        '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        c => c,
    }
}

/// Escapes a text for HTML, in elements and in quoted attributes.
pub(super) fn html(text: &str) -> String {
    sanitize::html(&plain(text))
}

/// Escapes a text for GitHub Flavored Markdown, as code in a line or in the cell of a table. In a `<code>` element,
/// GitHub recognises neither mentions nor references; all punctuation that Markdown could recognise becomes a character
/// reference.
pub(super) fn markdown(text: &str) -> String {
    let mut out = String::from("<code>");
    for letter in plain(text).replace("www.", "www\u{0}").chars() {
        match letter {
            '\0' => out.push_str("&#46;"),
            ' ' | '/' | '.' | ',' | '-' | '(' | ')' | '%' => out.push(letter),
            letter if letter.is_ascii_punctuation() => {
                // Writing to a string does not fail.
                let _ = write!(out, "&#{};", letter as u32);
            }
            letter => out.push(letter),
        }
    }
    out.push_str("</code>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(html("<a href='x'>&\"\n\u{202e}"), "&lt;a href=&#39;x&#39;&gt;&amp;&quot;␊\u{fffd}");
        assert_eq!(markdown("a|b`c`"), "<code>a&#124;b&#96;c&#96;</code>");
        assert_eq!(markdown("www.x.y"), "<code>www&#46;x.y</code>");
        assert_eq!(plain("\u{0}\u{1b}\u{ffff}"), "␀␛\u{fffd}");
        assert_eq!(plain(&"x".repeat(3_000)).chars().count(), MAX_CHARS + 1);
    }
}
