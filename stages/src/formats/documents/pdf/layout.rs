//! Lines of text, from characters and their places.

use super::super::error::{ExtractError, MAX_TEXT_BYTES};

/// How far a character stands behind the previous one if they are two words, in multiples of the font size.
const WORD_GAP: f64 = 0.15;
/// How far it stands before the end of the previous one if it begins another column or line.
const BACKWARD_GAP: f64 = 1.0;
/// How far it stands above or below the previous one if it is in another line.
const LINE_GAP: f64 = 0.5;
/// How far two lines are apart if they are two paragraphs.
const PARAGRAPH_GAP: f64 = 1.7;

/// `[a b c d e f]` of the specification: maps (x, y) to (ax + cy + e, bx + dy + f).
pub(super) type Matrix = [f64; 6];

pub(super) const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// First `first`, then `second`.
pub(super) fn product(first: &Matrix, second: &Matrix) -> Matrix {
    let [a, b, c, d, e, f] = *first;
    let [k, l, m, n, o, p] = *second;
    [a * k + b * m, a * l + b * n, c * k + d * m, c * l + d * n, e * k + f * m + o, e * l + f * n + p]
}

/// The lines of a page, in the order in which the page draws them.
#[derive(Debug)]
pub(super) struct Lines {
    /// Lines that are complete, each with its end.
    text: String,
    line: String,
    /// Where the last character ends, and its font size.
    end: Option<(f64, f64, f64)>,
    /// How many bytes of text there may be still.
    room: usize,
}

impl Lines {
    /// For a page of a document that has `length` bytes of text so far.
    pub(super) fn new(length: usize) -> Self {
        let room = (MAX_TEXT_BYTES as usize).saturating_sub(length);
        Self { text: String::new(), line: String::new(), end: None, room }
    }

    /// Adds a character. Its width and the height of its font are in multiples of the font size; the matrix maps a square of one
    /// font size to the page.
    ///
    /// # Errors
    /// The text is too large.
    pub(super) fn push(&mut self, text: &str, width: f64, height: f64, matrix: &Matrix) -> Result<(), ExtractError> {
        let [a, b, c, d, x, y] = *matrix;
        let (advance, size) = (a.hypot(b), c.hypot(d) * height);
        if let Some((end_x, end_y, end_size)) = self.end {
            let (right, up) = (a / advance, b / advance);
            let along = (x - end_x) * right + (y - end_y) * up;
            let across = ((x - end_x) * up - (y - end_y) * right).abs();
            let em = size.max(end_size);
            if across > LINE_GAP * em || along < -BACKWARD_GAP * em {
                self.end_line();
                if across > PARAGRAPH_GAP * em && !self.text.is_empty() && !self.text.ends_with("\n\n") {
                    self.text.push('\n');
                }
            } else if along > WORD_GAP * size && !self.line.ends_with(' ') {
                self.line.push(' ');
            }
        }
        self.end = Some((x + a * width, y + b * width, size));
        let length = self.line.len();
        text.chars().for_each(|character| push_character(&mut self.line, character));
        // A space, or the ends of a line and a paragraph, may precede it.
        let length = self.line.len() - length + 2;
        self.room = self.room.checked_sub(length).ok_or(ExtractError::TooLarge)?;
        Ok(())
    }

    /// The lines, each with its end; an empty one stands between paragraphs.
    pub(super) fn finish(mut self) -> String {
        self.end_line();
        self.text
    }

    fn end_line(&mut self) {
        let line = self.line.trim();
        if !line.is_empty() {
            push_logical(&mut self.text, line);
            self.text.push('\n');
        }
        self.line.clear();
    }
}

/// Adds a line, whose characters stand from left to right. Words that are written from right to left are turned round, together
/// with what stands between them.
fn push_logical(text: &mut String, line: &str) {
    let mut rest = line;
    while let Some(start) = rest.find(is_right_to_left) {
        let behind = &rest[start..];
        let other = behind.find(|character: char| character.is_alphanumeric() && !is_right_to_left(character));
        let run = &behind[..other.unwrap_or(behind.len())];
        let run = run.trim_end_matches(|character| !is_right_to_left(character));
        text.push_str(&rest[..start]);
        text.extend(run.chars().rev());
        rest = &behind[run.len()..];
    }
    text.push_str(rest);
}

/// Hebrew, Arabic, Syriac and their presentation forms.
fn is_right_to_left(character: char) -> bool {
    matches!(character, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

fn push_character(line: &mut String, character: char) {
    match character {
        'ﬀ' => line.push_str("ff"),
        'ﬁ' => line.push_str("fi"),
        'ﬂ' => line.push_str("fl"),
        'ﬃ' => line.push_str("ffi"),
        'ﬄ' => line.push_str("ffl"),
        '\u{ad}' => line.push('-'),
        _ if character.is_whitespace() || character.is_control() => {
            if !line.ends_with(' ') {
                line.push(' ');
            }
        }
        _ => line.push(character),
    }
}
