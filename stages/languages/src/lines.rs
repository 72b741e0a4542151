//! Converts between byte offsets and lines of a text.

/// Returns the number of lines. A last line without a line feed counts.
pub(crate) fn line_count(text: &str) -> u32 {
    let feeds = memchr::memchr_iter(b'\n', text.as_bytes()).count() as u32;
    feeds + u32::from(!text.is_empty() && !text.ends_with('\n'))
}

/// Returns the offset of the first byte of the line that contains `offset`.
pub fn line_start(text: &str, offset: u32) -> u32 {
    memchr::memrchr(b'\n', &text.as_bytes()[..offset as usize]).map_or(0, |feed| feed as u32 + 1)
}

/// Whether only white space precedes `offset` on its line.
pub fn begins_line(text: &str, offset: u32) -> bool {
    let before = &text.as_bytes()[..offset as usize];
    before.iter().rev().take_while(|byte| **byte != b'\n').all(u8::is_ascii_whitespace)
}

/// Computes the 1-based line numbers of ascending offsets.
pub(crate) struct LineCounter<'t> {
    text: &'t str,
    offset: usize,
    line: u32,
}

impl<'t> LineCounter<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, offset: 0, line: 1 }
    }

    /// Returns the line of `offset`, which must not be smaller than in the previous call.
    pub(crate) fn line_of(&mut self, offset: usize) -> u32 {
        let passed = self.text.as_bytes().get(self.offset..offset).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', passed).count() as u32;
        self.offset = self.offset.max(offset);
        self.line
    }
}
