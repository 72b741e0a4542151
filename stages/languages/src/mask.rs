//! What a grammar cannot read is replaced for the parser: a source of the same length, with the same lines.

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

    /// Replaces everything but line feeds with spaces.
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

    /// Whether bytes of the source were replaced at an offset.
    pub(crate) fn is_masked(&self, text: &str, at: usize) -> bool {
        self.bytes.get(at) != text.as_bytes().get(at)
    }

    /// The source as it is now; `None` if it has not changed.
    pub(crate) fn text(&self) -> Option<String> {
        let is_changed = self.is_changed;
        is_changed.then(|| String::from_utf8(self.bytes.clone()).ok()).flatten()
    }
}
