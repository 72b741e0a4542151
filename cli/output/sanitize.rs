//! Makes text from repositories safe for a terminal.
//!
//! A path or a line of code may contain escape sequences that move the cursor, recolour the screen or set its title,
//! and direction overrides that display code in a different order than it runs. This module replaces them with visible
//! symbols.

pub(crate) use aurora_project::sanitize::{html, is_unsafe, line, visible};

/// Sanitises several lines of text: line endings become `\n`, tabs become four spaces, and other control characters
/// become symbols as in [`line()`].
pub(crate) fn block(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (number, text) in text.split('\n').enumerate() {
        if number > 0 {
            out.push('\n');
        }
        for c in text.strip_suffix('\r').unwrap_or(text).chars() {
            match c {
                '\t' => out.push_str("    "),
                c => out.push(visible(c)),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn escape_sequences_become_visible() {
        assert_eq!(line("a\x1b[31mred\x07"), "a␛[31mred␇");
        assert_eq!(line("two\nlines\r"), "two␊lines␍");
        assert_eq!(line("\u{9b}2J\x7f"), "\u{fffd}2J␡");
        assert_eq!(line("if \u{202e}x"), "if \u{fffd}x");
        assert_eq!(block("a\r\n\tb\x1b"), "a\n    b␛");
    }

    #[test]
    fn ordinary_text_is_unchanged() {
        for text in ["src/main.rs", "naïve 日本語 👩‍💻", "a b"] {
            assert_eq!(line(text), text);
            assert_eq!(block(text), text);
        }
    }

    proptest! {
        #[test]
        fn no_unsafe_character_remains(text in any::<String>()) {
            prop_assert!(!line(&text).contains(is_unsafe));
            prop_assert!(!block(&text).replace('\n', "").contains(is_unsafe));
            prop_assert_eq!(line(&text).chars().count(), text.chars().count());
        }
    }
}
