//! Dictionary blocks: front-coded terms, each with its postings or their location.
//!
//! The key of a block is a bound that its terms are not below; the key of the first block is empty. Layout of a block: length
//! of the upper bound · the upper bound, which is the key of the next block, or empty in the last · entries. So a missing
//! block is noticed by every lookup that passes it.
//!
//! An entry is: bytes shared with the term before · length of the rest · rest · length of the body · body. A body is the number
//! of postings · the postings themselves, up to [`INLINE`] of them (gap, and tf vector unless it is a label), or else the
//! number of parts · the number of the first value · offset and length in it, if there is one part. Several parts are
//! consecutive whole values.

use crate::postings::{Posting, decode_tf_vector, encode_tf_vector};
use crate::terms::LABEL_PREFIX;
use aurora_codec::{ByteReader, put_varint};

/// Most bytes of a block, but for unusually long bounds: with checksum and page header it fits a page of 4 KiB.
pub(super) const BLOCK_BYTES: usize = 4076;
/// Bytes that are reserved for the bound.
const BOUND_ROOM: usize = 24;
/// Lists of up to this many postings are inlined in the dictionary.
pub(super) const INLINE: usize = 24;

/// Whether the postings of a dictionary entry have frequencies: those of a term do, those of a label do not.
#[inline]
pub(super) fn has_frequencies(term: &[u8]) -> bool {
    term.first() != Some(&LABEL_PREFIX)
}

/// Where a posting list is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ListLocation {
    pub(super) parts: u32,
    pub(super) number: u32,
    pub(super) offset: u32,
    pub(super) length: u32,
}

/// The body of an entry.
#[derive(Debug, Clone, Copy)]
pub(super) enum EntryBody<'a> {
    Inline(&'a [u8]),
    Stored(ListLocation),
}

/// Appends the body of a list that is inlined.
pub(super) fn encode_inline(out: &mut Vec<u8>, postings: &[Posting], with_frequencies: bool) {
    put_varint(out, postings.len() as u64);
    encode_postings(out, postings, with_frequencies);
}

/// Appends postings as [`decode_inline`] reads them.
pub(super) fn encode_postings(out: &mut Vec<u8>, postings: &[Posting], with_frequencies: bool) {
    let mut before = 0;
    for posting in postings {
        put_varint(out, u64::from(posting.chunk - before));
        before = posting.chunk;
        if with_frequencies {
            encode_tf_vector(out, &posting.frequencies);
        }
    }
}

/// Appends the body of a list that is stored elsewhere.
pub(super) fn encode_stored(out: &mut Vec<u8>, count: u64, location: ListLocation) {
    put_varint(out, count);
    for number in [location.parts, location.number, location.offset, location.length] {
        put_varint(out, u64::from(number));
    }
}

/// Reads a body: the number of postings, and the postings or their location.
pub(super) fn decode_body(body: &[u8]) -> Option<(u32, EntryBody<'_>)> {
    let mut reader = ByteReader::new(body);
    let count = reader.varint32()?;
    if count as usize <= INLINE {
        return Some((count, EntryBody::Inline(reader.rest())));
    }
    let location = ListLocation {
        parts: reader.varint32()?,
        number: reader.varint32()?,
        offset: reader.varint32()?,
        length: reader.varint32()?,
    };
    reader.is_empty().then_some((count, EntryBody::Stored(location)))
}

/// Reads `count` inlined postings.
pub(super) fn decode_inline(
    bytes: &[u8],
    count: u32,
    with_frequencies: bool,
    mut each: impl FnMut(Posting),
) -> Option<()> {
    let mut reader = ByteReader::new(bytes);
    let mut chunk = 0u32;
    for index in 0..count {
        let gap = reader.varint32()?;
        if index > 0 && gap == 0 {
            return None;
        }
        chunk = chunk.checked_add(gap)?;
        let frequencies = if with_frequencies { decode_tf_vector(&mut reader)? } else { Default::default() };
        each(Posting { chunk, frequencies });
    }
    reader.is_empty().then_some(())
}

/// Reads `count` inlined postings until `each` returns an error.
pub(super) fn try_each_inline<E>(
    bytes: &[u8],
    count: u32,
    with_frequencies: bool,
    damaged: impl FnOnce() -> E,
    mut each: impl FnMut(Posting) -> Result<(), E>,
) -> Result<(), E> {
    let mut result = Ok(());
    let read = decode_inline(bytes, count, with_frequencies, |posting| {
        if result.is_ok() {
            result = each(posting);
        }
    });
    result?;
    read.ok_or_else(damaged)
}

/// Builds one block.
#[derive(Debug, Default)]
pub(super) struct BlockWriter {
    bytes: Vec<u8>,
    key: Vec<u8>,
    previous: Vec<u8>,
}

/// The key of a block, and its bytes.
pub(super) type FinishedBlock = (Vec<u8>, Vec<u8>);

impl BlockWriter {
    /// Adds an entry, and returns the block before it when that is full.
    pub(super) fn push(&mut self, term: &[u8], body: &[u8]) -> Option<FinishedBlock> {
        let room = BOUND_ROOM + term.len() + body.len() + 6;
        let is_full = !self.bytes.is_empty() && self.bytes.len() + room > BLOCK_BYTES;
        let full = is_full.then(|| self.end_below(term));
        let shared = common(&self.previous, term);
        put_varint(&mut self.bytes, shared as u64);
        put_varint(&mut self.bytes, (term.len() - shared) as u64);
        self.bytes.extend_from_slice(&term[shared..]);
        put_varint(&mut self.bytes, body.len() as u64);
        self.bytes.extend_from_slice(body);
        self.previous.clear();
        self.previous.extend_from_slice(term);
        full
    }

    /// Starts at a key that no term is below.
    pub(super) fn from_key(key: &[u8]) -> Self {
        Self { key: key.to_owned(), ..Self::default() }
    }

    /// Ends the last block, whose bound is `bound`. Without entries there is a block only if it stands between two others.
    pub(super) fn finish(&mut self, bound: &[u8]) -> Option<FinishedBlock> {
        let is_needed = !self.bytes.is_empty() || !self.key.is_empty() || !bound.is_empty();
        is_needed.then(|| self.end(bound.to_owned()))
    }

    /// Ends the block before `term`, with the shortest prefix of `term` that is above all terms of the block as its bound.
    fn end_below(&mut self, term: &[u8]) -> FinishedBlock {
        let length = common(&self.previous, term) + 1;
        self.previous.clear();
        self.end(term[..length.min(term.len())].to_vec())
    }

    fn end(&mut self, bound: Vec<u8>) -> FinishedBlock {
        let mut bytes = Vec::with_capacity(bound.len() + 2 + self.bytes.len());
        put_varint(&mut bytes, bound.len() as u64);
        bytes.extend_from_slice(&bound);
        bytes.append(&mut self.bytes);
        (std::mem::replace(&mut self.key, bound), bytes)
    }
}

/// Length of the common prefix.
fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// The body of a term in a block, without decoding the terms before it; `None` when the block is damaged, or does not cover
/// the term.
///
/// The scan keeps the length of the common prefix of the term and the entry before. An entry that shares more bytes with the
/// entry before than that is below the term as well, one that shares fewer is above it; only entries that share exactly as
/// many are compared byte by byte.
pub(super) fn find<'a>(bytes: &'a [u8], term: &[u8]) -> Option<Option<&'a [u8]>> {
    let (bound, mut left) = split_bound(bytes)?;
    if !bound.is_empty() && term >= bound {
        return None;
    }
    let (mut common, mut before) = (0usize, 0usize);
    while !left.is_empty() {
        let EncodedEntry { shared, rest, body, after } = split_entry(left)?;
        left = after;
        if shared > before {
            return None;
        }
        before = shared + rest.len();
        if shared > common {
            continue;
        }
        let wanted = &term[common..];
        if shared < common || rest > wanted {
            return Some(None);
        }
        if rest == wanted {
            return Some(Some(body));
        }
        common += rest.iter().zip(wanted).take_while(|(a, b)| a == b).count();
    }
    Some(None)
}

/// An encoded entry.
struct EncodedEntry<'a> {
    /// Bytes that the term shares with the one before.
    shared: usize,
    /// The rest of the term.
    rest: &'a [u8],
    body: &'a [u8],
    /// The bytes behind the entry.
    after: &'a [u8],
}

/// The first entry of `bytes`.
#[inline(always)]
fn split_entry(bytes: &[u8]) -> Option<EncodedEntry<'_>> {
    // Nearly always every length is one byte.
    if let [shared, length, after @ ..] = bytes
        && (shared | length) < 0x80
        && let Some((rest, [body, after @ ..])) = after.split_at_checked(usize::from(*length))
        && *body < 0x80
    {
        let (body, after) = after.split_at_checked(usize::from(*body))?;
        return Some(EncodedEntry { shared: usize::from(*shared), rest, body, after });
    }
    let mut reader = ByteReader::new(bytes);
    let shared = reader.length()?;
    let length = reader.length()?;
    let rest = reader.take(length)?;
    let length = reader.length()?;
    let body = reader.take(length)?;
    Some(EncodedEntry { shared, rest, body, after: reader.rest() })
}

/// The bound of a block, and its entries.
fn split_bound(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut reader = ByteReader::new(bytes);
    let length = reader.length()?;
    Some((reader.take(length)?, reader.rest()))
}

/// Reads the entries of one block in order.
#[derive(Debug)]
pub(super) struct BlockReader<'a> {
    left: &'a [u8],
    /// The key of the next block; empty in the last.
    pub(super) bound: &'a [u8],
    /// The term of the entry read last.
    pub(super) term: Vec<u8>,
}

impl<'a> BlockReader<'a> {
    /// Begins to read a block; `None` when it is damaged.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let (bound, left) = split_bound(bytes)?;
        Some(Self { left, bound, term: Vec::new() })
    }

    /// Whether all entries have been read.
    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Reads the next entry into `term`, and returns its body; `None` when the block is damaged.
    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        let EncodedEntry { shared, rest, body, after } = split_entry(self.left)?;
        if shared > self.term.len() {
            return None;
        }
        self.left = after;
        self.term.truncate(shared);
        self.term.extend_from_slice(rest);
        Some(body)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_bound_is_the_next_key_and_parts_the_terms() {
        let mut writer = BlockWriter::default();
        let terms: Vec<String> = (0..4000).map(|number| format!("term{:05}", 7 * number)).collect();
        let mut blocks: Vec<FinishedBlock> =
            terms.iter().filter_map(|term| writer.push(term.as_bytes(), b"body")).collect();
        blocks.extend(writer.finish(&[]));
        assert!(blocks.len() > 5 && blocks.iter().all(|(_, bytes)| bytes.len() <= BLOCK_BYTES));
        for (at, (key, bytes)) in blocks.iter().enumerate() {
            let next = blocks.get(at + 1).map_or(&[][..], |(key, _)| key);
            assert_eq!(BlockReader::new(bytes).expect("sound").bound, next);
            for term in &terms {
                let term = term.as_bytes();
                let found = find(bytes, term);
                if !next.is_empty() && term >= next {
                    assert_eq!(found, None);
                } else if term >= key.as_slice() {
                    assert_eq!(found, Some(Some(&b"body"[..])));
                }
            }
        }
    }

    proptest! {
        #[test]
        fn a_term_is_found_where_a_walk_finds_it(
            entries in prop::collection::btree_map("[ab]{1,6}", "[xy]{0,3}", 1..30),
            others in prop::collection::vec("[abc]{1,7}", 0..10),
        ) {
            let mut writer = BlockWriter::default();
            for (term, body) in &entries {
                prop_assert!(writer.push(term.as_bytes(), body.as_bytes()).is_none());
            }
            let (key, bytes) = writer.finish(&[]).expect("entries");
            prop_assert!(key.is_empty());
            let mut walked = BTreeMap::new();
            let mut reader = BlockReader::new(&bytes).expect("sound");
            while !reader.is_empty() {
                let body = reader.next().expect("sound");
                walked.insert(reader.term.clone(), body);
            }
            for term in entries.keys().chain(&others) {
                prop_assert_eq!(find(&bytes, term.as_bytes()), Some(walked.get(term.as_bytes()).copied()));
            }
            for cut in 0..bytes.len() {
                let _ = find(&bytes[..cut], b"bb"); // whatever it finds, it ends
            }
        }
    }
}
