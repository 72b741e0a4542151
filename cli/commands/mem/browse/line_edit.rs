//! A line of text that the user edits.

use aurora_query::MAX_QUERY_BYTES;
use unicode_segmentation::GraphemeCursor;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::output::sanitize;

/// Maximum length of a line in bytes: one more than a search accepts, so that the search reports the error.
const MAX_LINE_BYTES: usize = MAX_QUERY_BYTES + 1;

/// A line of text with a cursor between two characters.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(super) struct LineEdit {
    text: String,
    /// Byte offset in the text, at a grapheme boundary.
    cursor: usize,
}

/// A change to the line, or a move of the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Edit {
    Insert(String),
    DeleteBefore,
    DeleteAfter,
    DeleteWord,
    DeleteToStart,
    DeleteToEnd,
    Left,
    Right,
    WordLeft,
    WordRight,
    Start,
    End,
}

impl LineEdit {
    /// Creates a line with the cursor at its end.
    pub(super) fn new(text: &str) -> Self {
        let mut line = Self::default();
        line.insert(text);
        line
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Applies an edit. Returns whether the text changed.
    pub(super) fn apply(&mut self, edit: &Edit) -> bool {
        let length = self.text.len();
        match edit {
            Edit::Insert(text) => self.insert(text),
            Edit::DeleteBefore => self.delete(self.previous_boundary(), self.cursor),
            Edit::DeleteAfter => self.delete(self.cursor, self.next_boundary()),
            Edit::DeleteWord => self.delete(self.word_before(), self.cursor),
            Edit::DeleteToStart => self.delete(0, self.cursor),
            Edit::DeleteToEnd => self.delete(self.cursor, length),
            Edit::Left => self.cursor = self.previous_boundary(),
            Edit::Right => self.cursor = self.next_boundary(),
            Edit::WordLeft => self.cursor = self.word_before(),
            Edit::WordRight => self.cursor = self.word_after(),
            Edit::Start => self.cursor = 0,
            Edit::End => self.cursor = length,
        }
        self.text.len() != length
    }

    /// Returns the part of the line around the cursor that fits into `columns`, and the column of the cursor in that
    /// part. Widths are measured as ratatui measures them.
    pub(super) fn window(&self, columns: usize) -> (&str, usize) {
        let (before, after) = self.text.split_at(self.cursor);
        // Leave one column for the cursor.
        let (mut start, mut column) = (self.cursor, 0);
        for (at, piece) in before.grapheme_indices(true).rev() {
            if column + piece.width() >= columns {
                break;
            }
            (start, column) = (at, column + piece.width());
        }
        let (mut end, mut used) = (self.cursor, column);
        for piece in after.graphemes(true) {
            used += piece.width();
            if used > columns {
                break;
            }
            end += piece.len();
        }
        (&self.text[start..end], column)
    }

    /// Inserts as much of the text as fits. Newlines and tabs become spaces; other characters that a terminal would act
    /// on are dropped.
    fn insert(&mut self, text: &str) {
        let spaced = text.chars().map(|c| if matches!(c, '\n' | '\r' | '\t') { ' ' } else { c });
        let safe: String = spaced.filter(|&c| !sanitize::is_unsafe(c)).collect();
        let safe = &safe[..safe.floor_char_boundary(MAX_LINE_BYTES.saturating_sub(self.text.len()))];
        self.text.insert_str(self.cursor, safe);
        self.cursor += safe.len();
        // If the inserted text joins the character after it, the cursor must move to the end of that character.
        if !self.is_boundary(self.cursor) {
            self.cursor = self.next_boundary();
        }
    }

    fn delete(&mut self, from: usize, to: usize) {
        self.text.replace_range(from..to, "");
        self.cursor = from;
        if !self.is_boundary(from) {
            self.cursor = self.previous_boundary();
        }
    }

    fn is_boundary(&self, at: usize) -> bool {
        GraphemeCursor::new(at, self.text.len(), true).is_boundary(&self.text, 0).unwrap_or(true)
    }

    fn previous_boundary(&self) -> usize {
        self.text[..self.cursor].grapheme_indices(true).next_back().map_or(0, |(at, _)| at)
    }

    fn next_boundary(&self) -> usize {
        let next = GraphemeCursor::new(self.cursor, self.text.len(), true).next_boundary(&self.text, 0);
        next.ok().flatten().unwrap_or(self.text.len())
    }

    /// Returns the start of the word before the cursor, skipping white space before the cursor.
    fn word_before(&self) -> usize {
        let before = self.text[..self.cursor].trim_end();
        let start = before.char_indices().rev().find(|(_, c)| c.is_whitespace()).map_or(0, |(at, c)| at + c.len_utf8());
        self.boundary(start)
    }

    fn word_after(&self) -> usize {
        let after = &self.text[self.cursor..];
        let word = after.find(|c: char| !c.is_whitespace()).unwrap_or(after.len());
        let end = after[word..].find(char::is_whitespace).unwrap_or(after.len() - word);
        self.boundary(self.cursor + word + end)
    }

    /// Returns the last grapheme boundary at or before byte `at`. White space is not always a boundary, because a
    /// combining mark may follow it.
    fn boundary(&self, at: usize) -> usize {
        (0..=at).rev().find(|&at| self.text.is_char_boundary(at) && self.is_boundary(at)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edited(start: &str, edits: &[Edit]) -> (String, usize) {
        let mut line = LineEdit::new(start);
        for edit in edits {
            line.apply(edit);
        }
        (line.text, line.cursor)
    }

    #[test]
    fn edits_work_on_grapheme_clusters() {
        assert_eq!(edited("e\u{301}", &[Edit::DeleteBefore]), (String::new(), 0));
        assert_eq!(edited("a👩‍💻", &[Edit::Left, Edit::Left, Edit::DeleteAfter]), ("👩‍💻".to_owned(), 0));
        assert_eq!(edited("日本", &[Edit::Left, Edit::Insert("x".to_owned())]), ("日x本".to_owned(), 4));
    }

    #[test]
    fn words_are_separated_by_white_space() {
        assert_eq!(edited("parse the  date ", &[Edit::DeleteWord]), ("parse the  ".to_owned(), 11));
        assert_eq!(edited("parse date", &[Edit::WordLeft, Edit::DeleteToStart]), ("date".to_owned(), 0));
        assert_eq!(edited("parse date", &[Edit::Start, Edit::WordRight, Edit::DeleteToEnd]), ("parse".to_owned(), 5));
    }

    #[test]
    fn pasted_text_is_one_line_without_control_characters() {
        assert_eq!(LineEdit::new("a\tb\nc\x1b[31m\u{202e}").text(), "a b c[31m");
    }

    #[test]
    fn a_line_has_a_maximum_length() {
        let mut line = LineEdit::new(&"é".repeat(MAX_LINE_BYTES));
        assert_eq!(line.text().len(), MAX_LINE_BYTES - 1);
        line.apply(&Edit::Insert("ab".to_owned()));
        assert_eq!((line.text().len(), line.window(10).1), (MAX_LINE_BYTES, 9));
    }

    #[test]
    fn the_cursor_is_in_view() {
        let line = LineEdit::new("find the cache");
        assert_eq!(line.window(20), ("find the cache", 14));
        assert_eq!(line.window(7), (" cache", 6));
        let (_, cursor) = edited("日本語", &[]);
        assert_eq!(cursor, 9);
        assert_eq!(LineEdit::new("日本語").window(6), ("本語", 4));
    }

    fn edits() -> impl Strategy<Value = Vec<Edit>> {
        let plain = [
            Edit::DeleteBefore,
            Edit::DeleteAfter,
            Edit::DeleteWord,
            Edit::DeleteToStart,
            Edit::DeleteToEnd,
            Edit::Left,
            Edit::Right,
            Edit::WordLeft,
            Edit::WordRight,
            Edit::Start,
            Edit::End,
        ];
        let insert = "[a b日👩\u{200d}\u{301}\u{1b}]{1,4}".prop_map(Edit::Insert);
        prop::collection::vec(prop_oneof![insert, prop::sample::select(plain.to_vec())], 0..40)
    }

    proptest! {
        #[test]
        fn the_cursor_is_always_between_characters(edits in edits(), columns in 0_usize..20) {
            let mut line = LineEdit::default();
            for edit in &edits {
                line.apply(edit);
                prop_assert!(line.is_boundary(line.cursor), "{line:?}");
                let (shown, column) = line.window(columns);
                let used: usize = shown.graphemes(true).map(UnicodeWidthStr::width).sum();
                prop_assert!(used <= columns && column <= columns, "{line:?}");
            }
        }
    }
}
