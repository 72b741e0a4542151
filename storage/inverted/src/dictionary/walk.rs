//! Walks the terms of a segment without their postings, and skips whole blocks where it can.

use super::reader::SegmentReader;
use super::source::SegmentSource;

/// How a walk continues after a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// With the next term.
    Next,
    /// Behind all terms that share this many bytes with the beginning of this term.
    SkipPrefix(usize),
    /// Not at all.
    Stop,
}

impl<'a, S: SegmentSource<'a>> SegmentReader<'a, S> {
    /// Calls `visit` with the terms from `from` on that begin with `prefix`, in byte order, until it returns [`Walk::Stop`];
    /// says whether it did. `from` is not below `prefix`.
    ///
    /// # Errors
    /// When the dictionary cannot be read.
    pub fn walk(&self, prefix: &[u8], from: &[u8], visit: &mut dyn FnMut(&[u8]) -> Walk) -> Result<bool, S::Error> {
        let mut blocks = self.blocks_from(from)?;
        // The prefix of the terms to skip; empty when none are.
        let mut skipped: Vec<u8> = Vec::new();
        loop {
            while !skipped.is_empty() && blocks.skip(|key| key.starts_with(&skipped))? {}
            let Some(mut block) = blocks.next()? else { return Ok(false) };
            while !block.is_empty() {
                block.next().ok_or_else(|| self.damaged("dictionary block"))?;
                let term = block.term.as_slice();
                if term < from || (!skipped.is_empty() && term.starts_with(&skipped)) {
                    continue;
                }
                if !term.starts_with(prefix) {
                    return Ok(false);
                }
                skipped.clear();
                match visit(term) {
                    Walk::Next => {}
                    Walk::SkipPrefix(bytes) => skipped.extend_from_slice(&term[..bytes.min(term.len())]),
                    Walk::Stop => return Ok(true),
                }
            }
        }
    }
}
