//! What the grammars of C, C++ and Objective-C cannot read is blanked out for the parser: a source of the same length, with
//! the same lines.

use std::ops::Range;

/// A source with some of its bytes replaced.
pub(super) struct Mask {
    bytes: Vec<u8>,
    is_changed: bool,
}

impl Mask {
    pub(super) fn new(text: &str) -> Self {
        Self { bytes: text.as_bytes().to_vec(), is_changed: false }
    }

    /// Replaces everything but line feeds with spaces.
    pub(super) fn blank(&mut self, bytes: Range<usize>) {
        for byte in &mut self.bytes[bytes] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        self.is_changed = true;
    }

    /// Blanks a span and writes ASCII text at its start.
    pub(super) fn replace(&mut self, bytes: Range<usize>, text: &str) {
        debug_assert!(text.is_ascii() && text.len() <= bytes.len());
        self.blank(bytes.clone());
        self.bytes[bytes.start..bytes.start + text.len()].copy_from_slice(text.as_bytes());
    }

    /// Whether bytes of the source were replaced at an offset.
    pub(super) fn is_masked(&self, text: &str, at: usize) -> bool {
        self.bytes.get(at) != text.as_bytes().get(at)
    }

    /// Replaces a macro before a declaration, which stays part of it.
    pub(super) fn replace_specifier(&mut self, bytes: Range<usize>) {
        match bytes.len() {
            ..5 => self.blank(bytes),
            5 => self.replace(bytes, "const"),
            _ => self.replace(bytes, "inline"),
        }
    }

    /// The source as it is now; `None` if it has not changed.
    pub(super) fn text(&self) -> Option<String> {
        let is_changed = self.is_changed;
        is_changed.then(|| String::from_utf8(self.bytes.clone()).ok()).flatten()
    }
}
