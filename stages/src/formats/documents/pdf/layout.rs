//! Assembles lines of text from characters and their positions.

use super::super::error::{ExtractError, MAX_TEXT_BYTES};

/// Minimum distance between two consecutive characters that belong to different words, in multiples of the font size.
const WORD_GAP: f64 = 0.15;
/// A character starts a new line if it begins more than this distance before the end of the previous character. The
/// distance is in multiples of the font size.
const BACKWARD_GAP: f64 = 1.0;
/// Minimum distance, perpendicular to the line, between two characters that belong to different lines, in multiples of
/// the font size.
const LINE_GAP: f64 = 0.5;
/// Minimum distance between two lines that belong to different paragraphs, in multiples of the font size.
const PARAGRAPH_GAP: f64 = 1.7;

/// A matrix `[a b c d e f]` as in the specification: maps (x, y) to (ax + cy + e, bx + dy + f).
pub(super) type Matrix = [f64; 6];

pub(super) const IDENTITY: Matrix = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0];

/// Returns the matrix that applies `first` and then `second`.
pub(super) fn product(first: &Matrix, second: &Matrix) -> Matrix {
    let [a, b, c, d, e, f] = *first;
    let [k, l, m, n, o, p] = *second;
    [a * k + b * m, a * l + b * n, c * k + d * m, c * l + d * n, e * k + f * m + o, e * l + f * n + p]
}

/// The lines of a page, in the order in which the page draws them.
#[derive(Debug)]
pub(super) struct Lines {
    /// The completed lines, each with a line feed.
    text: String,
    line: String,
    /// Position of the end of the last character, and its font size.
    end: Option<(f64, f64, f64)>,
    /// Number of bytes of text that may still be added.
    room: usize,
}

impl Lines {
    /// Creates the lines of a page in a document that has `length` bytes of text so far.
    pub(super) fn new(length: usize) -> Self {
        let room = (MAX_TEXT_BYTES as usize).saturating_sub(length);
        Self { text: String::new(), line: String::new(), end: None, room }
    }

    /// Adds a character. The width of the character and the height of its font are in multiples of the font size. The
    /// matrix maps the unit square of the font to the page.
    ///
    /// # Errors
    /// Fails if the text is too large.
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
        // Up to two bytes may precede the character: a space, or the line feeds that end a line and a paragraph.
        let length = self.line.len() - length + 2;
        self.room = self.room.checked_sub(length).ok_or(ExtractError::TooLarge)?;
        Ok(())
    }

    /// Returns the lines, each with a line feed, and empty lines between paragraphs.
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

/// Appends a line in logical order. The characters of `line` are in visual order from left to right, so runs of
/// right-to-left script are reversed, including the punctuation inside a run.
fn push_logical(text: &mut String, line: &str) {
    let mut rest = line;
    while let Some(start) = rest.find(is_right_to_left) {
        let tail = &rest[start..];
        let other = tail.find(|character: char| character.is_alphanumeric() && !is_right_to_left(character));
        let run = &tail[..other.unwrap_or(tail.len())];
        let run = run.trim_end_matches(|character| !is_right_to_left(character));
        text.push_str(&rest[..start]);
        text.extend(run.chars().rev());
        rest = &tail[run.len()..];
    }
    text.push_str(rest);
}

/// Whether a character belongs to a right-to-left script such as Hebrew, Arabic or Syriac, or is a presentation form.
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
