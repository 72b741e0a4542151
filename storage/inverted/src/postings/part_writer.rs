//! Writes the parts of posting lists; the `part` module describes the layouts and reads them.

use roaring::RoaringBitmap;

use super::directory::ENTRY_BYTES;
use super::impacts::ImpactBuilder;
use super::posting::Posting;
use super::tf_column::TfColumnWriter;
use crate::chunk_id::WINDOW;
use crate::lengths::LengthCodes;
use aurora_codec::{put_sized, put_varint};

/// The layout of a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartLayout {
    /// Ids without frequencies.
    Label,
    /// Decoded completely.
    Short,
    /// Decoded window by window.
    Long,
}

/// Appends a part. Its postings must be in ascending order of chunks; `length` returns the field lengths of a chunk.
pub(crate) fn encode(out: &mut Vec<u8>, postings: &[Posting], layout: PartLayout, length: &dyn Fn(u32) -> LengthCodes) {
    match layout {
        PartLayout::Label => put_set(out, postings),
        PartLayout::Short => encode_short(out, postings),
        PartLayout::Long => encode_long(out, postings, length),
    }
}

fn put_set(out: &mut Vec<u8>, postings: &[Posting]) {
    let ids = postings.iter().map(|posting| posting.chunk);
    let mut set = RoaringBitmap::from_sorted_iter(ids).expect("postings are in ascending order");
    set.optimize();
    set.serialize_into(out).expect("writing to a vector cannot fail");
}

fn encode_short(out: &mut Vec<u8>, postings: &[Posting]) {
    put_varint(out, 2 * postings.len() as u64);
    let mut column = TfColumnWriter::new(postings.iter().map(|posting| &posting.frequencies));
    postings.iter().for_each(|posting| column.push(&posting.frequencies));
    put_sized(out, &column.finish());
    let mut before = 0;
    for posting in postings {
        put_varint(out, u64::from(posting.chunk - before));
        before = posting.chunk;
    }
}

fn encode_long(out: &mut Vec<u8>, postings: &[Posting], length: &dyn Fn(u32) -> LengthCodes) {
    put_varint(out, 2 * postings.len() as u64 + 1);
    let mut set = Vec::new();
    put_set(&mut set, postings);
    put_sized(out, &set);
    let mut column = TfColumnWriter::new(postings.iter().map(|posting| &posting.frequencies));
    let first = postings.first().map_or(0, |posting| posting.chunk / WINDOW);
    let (mut entries, mut impacts, mut start) = (Vec::new(), Vec::new(), 0);
    for window in postings.chunk_by(|a, b| a.chunk / WINDOW == b.chunk / WINDOW) {
        let number = window[0].chunk / WINDOW - first;
        entries.extend_from_slice(&number.to_le_bytes()[..3]);
        entries.extend_from_slice(&(start as u16).to_le_bytes());
        entries.extend_from_slice(&(impacts.len() as u32).to_le_bytes()[..3]);
        entries.extend_from_slice(&(column.exception_bytes() as u32).to_le_bytes());
        start += window.len();
        let mut here = ImpactBuilder::default();
        for posting in window {
            column.push(&posting.frequencies);
            here.add(&posting.frequencies, &length(posting.chunk));
        }
        here.encode(&mut impacts);
    }
    put_varint(out, (entries.len() / ENTRY_BYTES) as u64);
    out.extend_from_slice(&entries);
    put_sized(out, &impacts);
    out.append(&mut column.finish());
}
