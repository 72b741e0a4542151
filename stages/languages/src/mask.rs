//! Replaces text that a grammar cannot read. The result is used only by the parser, and has the same length and lines
//! as the text.

use std::ops::Range;

/// A source with some of its bytes replaced.
pub(crate) struct Mask {
    bytes: Vec<u8>,
    is_changed: bool,
}

impl Mask {
    pub(crate) fn new(text: &str) -> Self {
        Self { bytes: text.as_bytes().to_vec(), is_changed: false }
    }

    /// Replaces all bytes of a span except line feeds with spaces.
    pub(crate) fn blank(&mut self, bytes: Range<usize>) {
        for byte in &mut self.bytes[bytes] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        self.is_changed = true;
    }

    /// Blanks a span and writes ASCII text at its start.
    pub(crate) fn replace(&mut self, bytes: Range<usize>, text: &str) {
        debug_assert!(text.is_ascii() && text.len() <= bytes.len());
        self.blank(bytes.clone());
        self.bytes[bytes.start..bytes.start + text.len()].copy_from_slice(text.as_bytes());
    }

    /// Whether the byte at an offset differs from the source.
    pub(crate) fn is_masked(&self, text: &str, at: usize) -> bool {
        self.bytes.get(at) != text.as_bytes().get(at)
    }

    /// Returns the masked source, or `None` if nothing was replaced.
    pub(crate) fn text(&self) -> Option<String> {
        let is_changed = self.is_changed;
        is_changed.then(|| String::from_utf8(self.bytes.clone()).ok()).flatten()
    }
}
