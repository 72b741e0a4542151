//! Dictionary blocks: front-coded terms, each with its postings or the location of its postings.
//!
//! The key of a block is a lower bound of its terms; the key of the first block is empty. Layout of a block: length of
//! the upper bound · upper bound · entries. The upper bound is the key of the next block, or empty in the last block. A
//! lookup compares the term with the upper bound, and so detects that a block is missing.
//!
//! Layout of an entry: number of bytes shared with the previous term · length of the other bytes · these bytes · length
//! of the body · body. The body of a list with up to [`MAX_INLINE_POSTINGS`] postings is the number of postings ·
//! postings (gap, and tf vector unless the entry is a label). The body of a longer list is the number of postings ·
//! number of parts · number of the first value · offset and length in that value. Values are numbered byte strings
//! outside the dictionary. If there are several parts, each part is a whole value, the numbers of the values are
//! consecutive, and the offset and the length are 0.

use crate::postings::{Posting, decode_tf_vector, encode_tf_vector};
use crate::terms::LABEL_PREFIX;
use aurora_codec::{ByteReader, put, put_sized, put_varint};
use serde::{Deserialize, Serialize};

/// Maximum size of a block in bytes, except for unusually long bounds. With checksum and page header, a block fits in a
/// page of 4 KiB.
pub(super) const MAX_BLOCK_BYTES: usize = 4076;
/// Number of bytes of a block that are reserved for its upper bound.
const RESERVED_BOUND_BYTES: usize = 24;
/// Maximum number of postings of a list that is inlined in the dictionary.
pub(super) const MAX_INLINE_POSTINGS: usize = 24;

/// Whether the postings of a dictionary entry have frequencies. Postings of terms have them, postings of labels do not.
#[inline]
pub(super) fn has_frequencies(term: &[u8]) -> bool {
    term.first() != Some(&LABEL_PREFIX)
}

/// Location of a stored posting list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
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

/// Appends the body of an inlined list.
pub(super) fn encode_inline(out: &mut Vec<u8>, postings: &[Posting], with_frequencies: bool) {
    put_varint(out, postings.len() as u64);
    encode_postings(out, postings, with_frequencies);
}

/// Appends postings in the encoding that [`decode_inline`] reads.
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

/// Appends the body of a list that is stored outside the dictionary.
pub(super) fn encode_stored(out: &mut Vec<u8>, count: u64, location: ListLocation) {
    put(out, &(count, location));
}

/// Reads a body: the number of postings, and the postings or their location.
pub(super) fn decode_body(body: &[u8]) -> Option<(u32, EntryBody<'_>)> {
    let mut reader = ByteReader::new(body);
    let count = reader.varint32()?;
    if count as usize <= MAX_INLINE_POSTINGS {
        return Some((count, EntryBody::Inline(reader.rest())));
    }
    let location = reader.read()?;
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

/// Builds one block.
#[derive(Debug, Default)]
pub(super) struct BlockWriter {
    bytes: Vec<u8>,
    key: Vec<u8>,
    previous: Vec<u8>,
}

/// Key and bytes of a block.
pub(super) type FinishedBlock = (Vec<u8>, Vec<u8>);

impl BlockWriter {
    /// Adds an entry, and returns the previous block if it is full.
    pub(super) fn push(&mut self, term: &[u8], body: &[u8]) -> Option<FinishedBlock> {
        let room = RESERVED_BOUND_BYTES + term.len() + body.len() + 6;
        let is_full = !self.bytes.is_empty() && self.bytes.len() + room > MAX_BLOCK_BYTES;
        let full = is_full.then(|| self.end_below(term));
        let shared = common_prefix_len(&self.previous, term);
        put_varint(&mut self.bytes, shared as u64);
        put_sized(&mut self.bytes, &term[shared..]);
        put_sized(&mut self.bytes, body);
        self.previous.clear();
        self.previous.extend_from_slice(term);
        full
    }

    /// Creates a writer whose first block has the key `key`, which must be a lower bound of all terms.
    pub(super) fn from_key(key: &[u8]) -> Self {
        Self { key: key.to_owned(), ..Self::default() }
    }

    /// Completes the last block, whose upper bound is `bound`. A block without entries is returned only if other blocks
    /// precede or follow it.
    pub(super) fn finish(&mut self, bound: &[u8]) -> Option<FinishedBlock> {
        let is_needed = !self.bytes.is_empty() || !self.key.is_empty() || !bound.is_empty();
        is_needed.then(|| self.end(bound.to_owned()))
    }

    /// Completes the block that ends before `term`. Its upper bound is the shortest prefix of `term` that is above all
    /// terms of the block.
    fn end_below(&mut self, term: &[u8]) -> FinishedBlock {
        let length = common_prefix_len(&self.previous, term) + 1;
        self.previous.clear();
        self.end(term[..length.min(term.len())].to_vec())
    }

    fn end(&mut self, bound: Vec<u8>) -> FinishedBlock {
        let mut bytes = Vec::with_capacity(bound.len() + 2 + self.bytes.len());
        put_sized(&mut bytes, &bound);
        bytes.append(&mut self.bytes);
        (std::mem::replace(&mut self.key, bound), bytes)
    }
}

/// Returns the length of the common prefix.
fn common_prefix_len(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Finds the body of a term in a block without decoding the terms before it; `None` if the block is damaged or does not
/// cover the term.
///
/// The scan tracks how many bytes the previous entry, which is below the term, shares with the term. An entry that
/// shares more bytes than that with the previous entry is also below the term. An entry that shares fewer is above the
/// term. Only an entry that shares exactly as many is compared with the term byte by byte.
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
    /// Number of bytes that the term shares with the previous term.
    shared: usize,
    /// The bytes of the term after the shared bytes.
    rest: &'a [u8],
    body: &'a [u8],
    /// The bytes after the entry.
    after: &'a [u8],
}

/// Splits off the first entry of `bytes`.
#[inline(always)]
fn split_entry(bytes: &[u8]) -> Option<EncodedEntry<'_>> {
    // Fast path: nearly always, each length is one byte long.
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
    let (rest, body) = (reader.sized()?, reader.sized()?);
    Some(EncodedEntry { shared, rest, body, after: reader.rest() })
}

/// Splits a block into its bound and its entries.
fn split_bound(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut reader = ByteReader::new(bytes);
    Some((reader.sized()?, reader.rest()))
}

/// Reads the entries of one block in order.
#[derive(Debug)]
pub(super) struct BlockReader<'a> {
    left: &'a [u8],
    /// Key of the next block; empty in the last block.
    pub(super) bound: &'a [u8],
    /// Term of the last entry that was read.
    pub(super) term: Vec<u8>,
}

impl<'a> BlockReader<'a> {
    /// Creates a reader of a block; `None` if the block is damaged.
    pub(super) fn new(bytes: &'a [u8]) -> Option<Self> {
        let (bound, left) = split_bound(bytes)?;
        Some(Self { left, bound, term: Vec::new() })
    }

    /// Whether all entries have been read.
    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Reads the next entry into `term` and returns its body; `None` if the block is damaged.
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
    fn each_bound_is_the_next_key_and_separates_the_terms() {
        let mut writer = BlockWriter::default();
        let terms: Vec<String> = (0..4000).map(|number| format!("term{:05}", 7 * number)).collect();
        let mut blocks: Vec<FinishedBlock> =
            terms.iter().filter_map(|term| writer.push(term.as_bytes(), b"body")).collect();
        blocks.extend(writer.finish(&[]));
        assert!(blocks.len() > 5 && blocks.iter().all(|(_, bytes)| bytes.len() <= MAX_BLOCK_BYTES));
        for (at, (key, bytes)) in blocks.iter().enumerate() {
            let next = blocks.get(at + 1).map_or(&[][..], |(key, _)| key);
            assert_eq!(BlockReader::new(bytes).expect("the bytes are valid").bound, next);
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
        fn a_lookup_finds_the_same_entry_as_a_walk(
            entries in prop::collection::btree_map("[ab]{1,6}", "[xy]{0,3}", 1..30),
            others in prop::collection::vec("[abc]{1,7}", 0..10),
        ) {
            let mut writer = BlockWriter::default();
            for (term, body) in &entries {
                prop_assert!(writer.push(term.as_bytes(), body.as_bytes()).is_none());
            }
            let (key, bytes) = writer.finish(&[]).expect("the block has entries");
            prop_assert!(key.is_empty());
            let mut walked = BTreeMap::new();
            let mut reader = BlockReader::new(&bytes).expect("the bytes are valid");
            while !reader.is_empty() {
                let body = reader.next().expect("the bytes are valid");
                walked.insert(reader.term.clone(), body);
            }
            for term in entries.keys().chain(&others) {
                prop_assert_eq!(find(&bytes, term.as_bytes()), Some(walked.get(term.as_bytes()).copied()));
            }
            for cut in 0..bytes.len() {
                let _ = find(&bytes[..cut], b"bb"); // It must terminate, whatever it finds.
            }
        }
    }
}
