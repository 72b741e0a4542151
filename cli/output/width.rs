//! Measures, cuts, pads and wraps text by its width on a terminal.

use std::borrow::Cow;

use textwrap::{WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::UnicodeWidthChar;

const ELLIPSIS: char = '…';

/// Returns the width of the text in columns, which is the sum of the widths of its characters. The widths of the
/// parts of a line therefore add up to the width of the line. Terminals count columns in the same way.
pub(crate) fn measure(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// Returns the width of the widest text.
pub(crate) fn widest<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> usize {
    texts.into_iter().map(|text| measure(text.as_ref())).max().unwrap_or(0)
}

/// Pads the text with spaces on the right to `columns`.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let mut out = text.to_owned();
    out.extend(std::iter::repeat_n(' ', columns.saturating_sub(measure(text))));
    out
}

/// Shortens the text to at most `columns`, replacing its middle with `…`.
pub(crate) fn elide_middle(text: &str, columns: usize) -> String {
    if measure(text) <= columns {
        return text.to_owned();
    }
    if columns == 0 {
        return String::new();
    }
    let tail_columns = (columns - 1).div_ceil(2);
    let tail = suffix(text, tail_columns);
    let head = prefix(text, columns - 1 - measure(tail));
    format!("{head}{ELLIPSIS}{tail}")
}

/// Shortens the text to at most `columns`, replacing its end with `…`.
pub(crate) fn elide_end(text: &str, columns: usize) -> String {
    if measure(text) <= columns {
        return text.to_owned();
    }
    if columns == 0 {
        return String::new();
    }
    format!("{}{ELLIPSIS}", prefix(text, columns - 1))
}

/// Shortens the path to at most `columns`. Directories in the middle are replaced with `…` first, then parts of the
/// file name, so that the most informative parts remain.
pub(crate) fn elide_path(path: &str, columns: usize) -> String {
    if measure(path) <= columns {
        return path.to_owned();
    }
    let parts: Vec<&str> = path.split('/').collect();
    let file = parts.last().copied().unwrap_or_default();
    let directories = &parts[..parts.len().saturating_sub(1)];
    // Start with …/file, then add a directory at a time from the left and from the right.
    let fixed = measure(file) + 2;
    if directories.is_empty() || fixed > columns {
        return elide_middle(if fixed > columns { file } else { path }, columns);
    }
    let (mut left, mut right, mut room) = (0, 0, columns - fixed);
    while left + right + 1 < directories.len() {
        let is_left = left <= right;
        let next = if is_left { directories[left] } else { directories[directories.len() - 1 - right] };
        let Some(rest) = room.checked_sub(measure(next) + 1) else { break };
        room = rest;
        *(if is_left { &mut left } else { &mut right }) += 1;
    }
    [&directories[..left], &["…"], &directories[directories.len() - right..], &[file]].concat().join("/")
}

/// Wraps the text into lines of at most `columns`, broken at spaces, or inside a word that is longer than a line.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let options = textwrap::Options::new(columns.max(1))
        .word_separator(WordSeparator::AsciiSpace)
        .word_splitter(WordSplitter::NoHyphenation)
        .wrap_algorithm(WrapAlgorithm::FirstFit);
    let text: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
    textwrap::wrap(&text.join(" "), options).into_iter().map(Cow::into_owned).collect()
}

/// Returns the longest prefix of the text that is at most `columns` wide.
fn prefix(text: &str, columns: usize) -> &str {
    let ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let end = ends.take_while(|&end| measure(&text[..end]) <= columns).last();
    &text[..end.unwrap_or(0)]
}

/// Returns the longest suffix of the text that is at most `columns` wide and does not start with a combining mark,
/// which would belong to the character before the suffix.
fn suffix(text: &str, columns: usize) -> &str {
    let fitting = text.char_indices().rev().take_while(|&(at, _)| measure(&text[at..]) <= columns);
    let start = fitting.filter(|(_, c)| c.width() != Some(0)).last();
    &text[start.map_or(text.len(), |(at, _)| at)..]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn paths_keep_their_file_name() {
        for (columns, expected) in [
            (40, "services/auth/internal/token/refresh.go"),
            (38, "services/auth/…/token/refresh.go"),
            (32, "services/auth/…/token/refresh.go"),
            (31, "services/…/token/refresh.go"),
            (21, "services/…/refresh.go"),
            (20, "…/refresh.go"),
            (12, "…/refresh.go"),
            (11, "refresh.go"),
            (7, "ref….go"),
        ] {
            assert_eq!(elide_path("services/auth/internal/token/refresh.go", columns), expected);
        }
    }

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(measure("日本"), 4);
        assert_eq!(elide_end("日本語", 5), "日本…");
        assert_eq!(elide_middle("日本語日本語", 7), "日本…語");
        assert_eq!(pad("日本", 6), "日本  ");
    }

    #[test]
    fn lines_break_at_spaces() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("abcdefgh ij", 3), ["abc", "def", "gh", "ij"]);
        assert_eq!(wrap("", 5), [""]);
    }

    proptest! {
        #[test]
        fn shortened_text_never_exceeds_the_width(text in "[a-z/日é.]{0,60}", columns in 1_usize..40) {
            prop_assert!(measure(&elide_middle(&text, columns)) <= columns);
            prop_assert!(measure(&elide_end(&text, columns)) <= columns);
            prop_assert!(measure(&elide_path(&text, columns)) <= columns);
            prop_assert!(wrap(&text, columns.max(2)).iter().all(|line| measure(line) <= columns.max(2)));
        }

        #[test]
        fn wrapping_loses_nothing(text in "[a-z日 ]{0,80}", columns in 2_usize..20) {
            let dense = |text: &str| text.replace(' ', "");
            prop_assert_eq!(dense(&wrap(&text, columns).join(" ")), dense(&text));
        }
    }
}
