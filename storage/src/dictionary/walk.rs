//! Walks the terms of a segment without their postings, leaving out whole blocks where it can.

use super::reader::SegmentReader;
use crate::btree::Damage;

/// What a walk is to do after a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// Show the next term.
    Next,
    /// Leave out the terms that begin with as many bytes as this term does.
    SkipPrefix(usize),
    /// Show no further term.
    Stop,
}

impl<'a> SegmentReader<'a> {
    /// Shows the terms from `from` on, as long as they begin with `prefix`, in byte order; tells whether it was stopped.
    /// `from` is `prefix` or greater.
    pub(crate) fn walk(
        &self,
        prefix: &[u8],
        from: &[u8],
        visit: &mut dyn FnMut(&[u8]) -> Walk,
    ) -> Result<bool, Damage> {
        let mut blocks = self.blocks_from(from)?;
        // The terms to leave out begin with this; nothing is left out while it is empty.
        let mut past: Vec<u8> = Vec::new();
        loop {
            while !past.is_empty() && blocks.skip(|key| key.starts_with(&past))? {}
            let Some(mut block) = blocks.next()? else { return Ok(false) };
            while !block.is_empty() {
                block.next().ok_or_else(|| self.damaged("dictionary block"))?;
                let term = block.term.as_slice();
                if term < from || (!past.is_empty() && term.starts_with(&past)) {
                    continue;
                }
                if !term.starts_with(prefix) {
                    return Ok(false);
                }
                past.clear();
                match visit(term) {
                    Walk::Next => {}
                    Walk::SkipPrefix(bytes) => past.extend_from_slice(&term[..bytes.min(term.len())]),
                    Walk::Stop => return Ok(true),
                }
            }
        }
    }
}
