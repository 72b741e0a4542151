//! The text that the parser gets instead of a source.

use std::ops::Range;

use crate::groovy::keywords::is_keyword;

/// A byte that nothing has been written to.
const FREE: u8 = 0;

/// More words that the grammar would not take for an identifier.
const RESERVED: &[&str] = &["module", "open", "permits", "record", "sealed", "when", "with", "yield", "_"];

/// White space with the line feeds and comments of a source, to which tokens are written.
pub(super) struct Output<'t> {
    text: &'t str,
    bytes: Vec<u8>,
    /// The end of what has been written last; nothing is searched before it.
    pub(super) last: usize,
}

impl<'t> Output<'t> {
    pub(super) fn new(text: &'t str, comments: &[Range<usize>]) -> Self {
        let mut bytes: Vec<u8> = text.bytes().map(|byte| if byte == b'\n' { byte } else { FREE }).collect();
        for comment in comments {
            let source = &text[comment.clone()];
            if !source.starts_with("/*") || (source.len() >= 4 && source.ends_with("*/")) {
                bytes[comment.clone()].copy_from_slice(source.as_bytes());
            } else {
                bytes[comment.clone()].iter_mut().filter(|byte| **byte == FREE).for_each(|byte| *byte = b' ');
            }
        }
        Self { text, bytes, last: 0 }
    }

    pub(super) fn is_free(&self, at: usize) -> bool {
        at >= self.last && self.bytes.get(at) == Some(&FREE)
    }

    /// Writes a character to the first free byte before `to`, and returns its offset.
    pub(super) fn place(&mut self, character: u8, to: usize) -> Option<usize> {
        let from = self.last.min(to);
        let found = self.bytes[from..to].iter().position(|byte| *byte == FREE).map(|length| from + length);
        self.last = found.map_or(to.max(self.last), |at| at + 1);
        self.bytes[found?] = character;
        found
    }

    /// The last free byte in the line before an offset, if it is near.
    pub(super) fn free_before(&self, to: usize) -> Option<usize> {
        let mut near = (to.saturating_sub(64)..to).rev().take_while(|at| self.bytes[*at] != b'\n');
        near.find(|at| self.is_free(*at))
    }

    /// Whether a line feed is between what has been written and an offset.
    pub(super) fn has_line_feed_before(&self, to: usize) -> bool {
        self.bytes[self.last.min(to)..to].contains(&b'\n')
    }

    /// Writes ASCII text at an offset, unless there is no room for it before the line feed.
    pub(super) fn write(&mut self, at: usize, token: &str) {
        let end = (at + token.len()).min(self.bytes.len());
        if self.bytes[at..end].contains(&b'\n') {
            return;
        }
        self.bytes[at..end].copy_from_slice(&token.as_bytes()[..end - at]);
        self.last = self.last.max(end);
    }

    /// Writes one character over another.
    pub(super) fn rewrite(&mut self, at: usize, character: u8) {
        self.bytes[at] = character;
    }

    /// Writes the identifier of the source at these bytes, or another one of the same length.
    pub(super) fn identifier(&mut self, bytes: Range<usize>) {
        let source = &self.text[bytes.clone()];
        let is_plain = source.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$'));
        if is_plain && !is_keyword(source) && !RESERVED.contains(&source) {
            self.bytes[bytes.clone()].copy_from_slice(source.as_bytes());
        } else {
            self.bytes[bytes.clone()].fill(b'x');
        }
        self.last = self.last.max(bytes.end);
    }

    /// Writes a literal of these bytes, at least two.
    pub(super) fn literal(&mut self, bytes: Range<usize>) {
        self.bytes[bytes.clone()].fill(b'_');
        self.bytes[bytes.start] = b'"';
        self.bytes[bytes.end - 1] = b'"';
        self.last = self.last.max(bytes.end);
    }

    /// The text for the parser.
    pub(super) fn finish(mut self) -> Option<String> {
        self.bytes.iter_mut().filter(|byte| **byte == FREE).for_each(|byte| *byte = b' ');
        String::from_utf8(self.bytes).ok()
    }
}
