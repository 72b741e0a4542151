//! Walks the terms of a segment without their postings, and skips whole blocks where possible.

use super::reader::SegmentReader;
use super::source::SegmentSource;

/// The continuation of a walk after the current term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// Continue with the next term.
    Next,
    /// Skip all terms that begin with this many bytes of the current term.
    SkipPrefix(usize),
    /// Stop the walk.
    Stop,
}

impl<'a, S: SegmentSource<'a>> SegmentReader<'a, S> {
    /// Calls `visit` with the terms from `from` on that begin with `prefix`, in byte order, until `visit` returns
    /// [`Walk::Stop`]. Returns whether `visit` stopped the walk. `from` must not be below `prefix`.
    ///
    /// # Errors
    /// Fails if the dictionary cannot be read.
    pub fn walk(&self, prefix: &[u8], from: &[u8], visit: &mut dyn FnMut(&[u8]) -> Walk) -> Result<bool, S::Error> {
        let mut blocks = self.blocks_from(from)?;
        // The prefix of the terms to skip; empty if no terms are skipped.
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
