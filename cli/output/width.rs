//! Text measured, cut, padded and wrapped by the columns it takes on a terminal.

use unicode_width::UnicodeWidthChar;

const ELLIPSIS: char = '…';

/// Columns that the text takes: the sum over its characters, as terminals count, so that the
/// parts of a line add up to the line.
pub(crate) fn of(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// The text, padded with spaces on the right to `columns`.
pub(crate) fn pad(text: &str, columns: usize) -> String {
    let mut out = text.to_owned();
    out.extend(std::iter::repeat_n(' ', columns.saturating_sub(of(text))));
    out
}

/// The text in at most `columns`, its middle replaced by `…` where it is too long.
pub(crate) fn elide_middle(text: &str, columns: usize) -> String {
    if of(text) <= columns {
        return text.to_owned();
    }
    if columns == 0 {
        return String::new();
    }
    let tail_columns = (columns - 1).div_ceil(2);
    let tail = suffix(text, tail_columns);
    let head = prefix(text, columns - 1 - of(tail));
    format!("{head}{ELLIPSIS}{tail}")
}

/// The text in at most `columns`, its end replaced by `…` where it is too long.
pub(crate) fn elide_end(text: &str, columns: usize) -> String {
    if of(text) <= columns {
        return text.to_owned();
    }
    if columns == 0 {
        return String::new();
    }
    format!("{}{ELLIPSIS}", prefix(text, columns - 1))
}

/// The path in at most `columns`: folders in its middle give way to `…` first, then parts of
/// the file name, so that the most telling parts remain.
pub(crate) fn elide_path(path: &str, columns: usize) -> String {
    if of(path) <= columns {
        return path.to_owned();
    }
    let parts: Vec<&str> = path.split('/').collect();
    let file = parts.last().copied().unwrap_or_default();
    let folders = &parts[..parts.len().saturating_sub(1)];
    // …/file, then grow from the right and from the left, a folder at a time.
    let fixed = of(file) + 2;
    if folders.is_empty() || fixed > columns {
        return elide_middle(if fixed > columns { file } else { path }, columns);
    }
    let (mut left, mut right) = (0, 0);
    let mut room = columns - fixed;
    loop {
        let kept = left + right;
        if kept + 1 >= folders.len() {
            break;
        }
        let take_left = left <= right;
        let next = if take_left { folders[left] } else { folders[folders.len() - 1 - right] };
        let Some(rest) = room.checked_sub(of(next) + 1) else {
            break;
        };
        room = rest;
        if take_left {
            left += 1;
        } else {
            right += 1;
        }
    }
    let mut shown: Vec<&str> = folders[..left].to_vec();
    shown.push("…");
    shown.extend(&folders[folders.len() - right..]);
    shown.push(file);
    shown.join("/")
}

/// The text in lines of at most `columns`, broken at spaces, inside a word only where one
/// word is longer than a line.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(1);
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let mut word = word;
        let current = lines.last().map_or(0, |line| of(line));
        if current > 0 && current + 1 + of(word) <= columns {
            if let Some(line) = lines.last_mut() {
                line.push(' ');
                line.push_str(word);
            }
            continue;
        }
        if current > 0 {
            lines.push(String::new());
        }
        while of(word) > columns {
            let mut head = prefix(word, columns);
            if head.is_empty() {
                head = &word[..word.chars().next().map_or(0, char::len_utf8)];
            }
            if let Some(line) = lines.last_mut() {
                line.push_str(head);
            }
            lines.push(String::new());
            word = &word[head.len()..];
        }
        if let Some(line) = lines.last_mut() {
            line.push_str(word);
        }
    }
    lines
}

/// The longest start of the text that takes at most `columns`.
fn prefix(text: &str, columns: usize) -> &str {
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let next = at + c.len_utf8();
        if of(&text[..next]) > columns {
            break;
        }
        end = next;
    }
    &text[..end]
}

/// The longest end of the text that takes at most `columns`, not starting with a mark that
/// belongs to the character before it.
fn suffix(text: &str, columns: usize) -> &str {
    let mut start = text.len();
    for (at, c) in text.char_indices().rev() {
        if of(&text[at..]) > columns {
            break;
        }
        if c.width() != Some(0) {
            start = at;
        }
    }
    &text[start..]
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
        assert_eq!(of("日本"), 4);
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
        fn nothing_takes_more_than_it_may(text in "[a-z/日é.]{0,60}", columns in 1_usize..40) {
            prop_assert!(of(&elide_middle(&text, columns)) <= columns);
            prop_assert!(of(&elide_end(&text, columns)) <= columns);
            prop_assert!(of(&elide_path(&text, columns)) <= columns);
            prop_assert!(wrap(&text, columns.max(2)).iter().all(|line| of(line) <= columns.max(2)));
        }

        #[test]
        fn wrapping_loses_nothing(text in "[a-z日 ]{0,80}", columns in 2_usize..20) {
            let dense = |text: &str| text.replace(' ', "");
            prop_assert_eq!(dense(&wrap(&text, columns).join(" ")), dense(&text));
        }
    }
}
