//! Walks the terms of a segment without their postings, leaving out whole blocks where it can.

use super::block::{BlockReader, SEGMENT_KEY};
use super::reader::SegmentReader;
use super::writer::dictionary_key;
use crate::btree::{Cursor, Damage};

/// What a walk is to do after a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Walk {
    /// Show the next term.
    On,
    /// Leave out the terms that begin with as many bytes as this term does.
    Past(usize),
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
        while let Some(bytes) = blocks.next(&past)? {
            let mut block = BlockReader::new(bytes);
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
                    Walk::On => {}
                    Walk::Past(bytes) => past.extend_from_slice(&term[..bytes.min(term.len())]),
                    Walk::Stop => return Ok(true),
                }
            }
        }
        Ok(false)
    }

    /// The blocks from the one on that may hold `term`.
    fn blocks_from(&self, term: &[u8]) -> Result<BlockCursor<'a>, Damage> {
        let key = dictionary_key(self.id, term);
        let start = match Cursor::floor(self.pages, self.dictionary, &key)? {
            Some((first, _)) if first.starts_with(&key[..SEGMENT_KEY]) => first.to_vec(),
            _ => key,
        };
        Ok(BlockCursor { segment: self.id, blocks: Cursor::seek(self.pages, self.dictionary, &start)? })
    }
}

/// First term and bytes of a block.
type Block<'a> = (&'a [u8], &'a [u8]);

/// The blocks of one segment in order.
struct BlockCursor<'a> {
    segment: u32,
    blocks: Cursor<'a>,
}

impl<'a> BlockCursor<'a> {
    /// The next block, but for those all of whose terms begin with `past`.
    fn next(&mut self, past: &[u8]) -> Result<Option<&'a [u8]>, Damage> {
        let covered = |first: &[u8]| !past.is_empty() && first.starts_with(past);
        while let Some((first, bytes)) = self.block()? {
            self.blocks.next()?;
            let last_is_covered = covered(first) && self.block()?.is_some_and(|(next, _)| covered(next));
            if !last_is_covered {
                return Ok(Some(bytes));
            }
        }
        Ok(None)
    }

    /// The block under the cursor.
    fn block(&self) -> Result<Option<Block<'a>>, Damage> {
        let entry = self.blocks.entry()?;
        Ok(entry.and_then(|(key, bytes)| Some((key.strip_prefix(&self.segment.to_be_bytes())?, bytes))))
    }
}
