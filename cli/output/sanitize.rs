//! Makes text from repositories safe for a terminal.
//!
//! A path or a line of code may contain escape sequences that move the cursor, recolour the screen or set its title,
//! and direction overrides that display code in a different order than it runs. This module replaces them with visible
//! symbols.

/// Sanitises one line of text: every control character becomes a visible symbol.
pub(crate) fn line(text: &str) -> String {
    text.chars().map(visible).collect()
}

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

/// Whether a terminal could act on the character instead of showing it.
pub(crate) fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200e}' | '\u{200f}' | '\u{061c}'      // direction marks
            | '\u{2028}' | '\u{2029}'                 // line and paragraph separators
            | '\u{202a}'..='\u{202e}'                 // direction overrides
            | '\u{2066}'..='\u{2069}'                 // direction isolates
            | '\u{feff}')
}

/// Returns the character, or a symbol if a terminal would act on the character.
pub(crate) fn visible(c: char) -> char {
    match c {
        '\0'..='\x1f' => char::from_u32(0x2400 + c as u32).unwrap_or('\u{fffd}'),
        '\x7f' => '\u{2421}',
        c if is_unsafe(c) => '\u{fffd}',
        c => c,
    }
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
