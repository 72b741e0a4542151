//! A block of frames. A frame contains the contents of several chunks, divided into one or more parts.
//!
//! A part of a frame is the unit of decompression. A block is one stored value. It is so large that the unused space in
//! its last page does not matter.
//!
//! Layout of a block: number of frames · for each frame, its first chunk id (as the difference from the first id of the
//! previous frame, or from the block's key) and its length · the frames.
//!
//! Layout of a frame: number of chunks · for each chunk, its id (as the difference from the previous id, or from the
//! first id of the frame) and its length in each part · compressed length of each part · the parts. A part is one zstd
//! frame with this part of all chunks, one after another.
//!
//! Numbers are variable-length integers. The key of a block is at most the id of its first chunk, and greater than the
//! ids of the previous block.

use std::cell::RefCell;
use std::ops::Range;

use aurora_codec::{ByteReader, put, put_varint};
use aurora_lmdb_pages::Damage;
use zstd::bulk::{Compressor, Decompressor};

/// Compression level of zstd. Higher levels save a twentieth, but take twice as long.
const LEVEL: i32 = 3;
/// Size in bytes, before compression, at which a frame is closed. Frames of twice the size take up a tenth less space,
/// but a search has to decompress twice as many bytes for each result.
const FRAME_BYTES: usize = 32 << 10;
/// Size in bytes, after compression, at which a block is closed.
const BLOCK_BYTES: usize = 96 << 10;
/// Maximum size of one part of a frame in bytes.
const MAX_PART_BYTES: usize = 1 << 28;

thread_local! {
    static COMPRESSOR: RefCell<std::io::Result<Compressor<'static>>> = RefCell::new(Compressor::new(LEVEL));
    static DECOMPRESSOR: RefCell<std::io::Result<Decompressor<'static>>> = RefCell::new(Decompressor::new());
}

/// A stored block: for each frame, a lower bound of its chunk ids, and its bytes.
#[derive(Debug, Clone)]
pub(crate) struct CompressedBlock<'a> {
    frames: Vec<(u32, &'a [u8])>,
}

/// A stored frame.
#[derive(Debug, Clone)]
pub(crate) struct Frame<'a, const PARTS: usize> {
    rows: Vec<FrameRow<PARTS>>,
    /// Lengths of the decompressed parts.
    lengths: [usize; PARTS],
    compressed: [&'a [u8]; PARTS],
}

/// The start of a chunk's content in each part.
#[derive(Debug, Clone, Copy)]
struct FrameRow<const PARTS: usize> {
    id: u32,
    starts: [usize; PARTS],
}

impl<'a> CompressedBlock<'a> {
    /// Reads the directory of frames.
    pub(crate) fn decode(first: u32, bytes: &'a [u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let (mut bound, mut lengths) = (first, Vec::new());
        for at in 0..reader.length()? {
            let step = reader.varint32()?;
            bound = bound.checked_add(step).filter(|_| at == 0 || step > 0)?;
            lengths.push((bound, reader.length()?));
        }
        let mut frames = Vec::with_capacity(lengths.len());
        for (bound, length) in lengths {
            frames.push((bound, reader.take(length)?));
        }
        (reader.is_empty() && !frames.is_empty()).then_some(Self { frames })
    }

    /// Returns the frame whose range of ids includes a chunk; `Some(None)` if the frame is invalid. The frame may lack
    /// the chunk.
    pub(crate) fn frame<const PARTS: usize>(&self, id: u32) -> Option<Option<Frame<'a, PARTS>>> {
        let after = self.frames.partition_point(|(bound, _)| *bound <= id);
        let (first, bytes) = self.frames[after.checked_sub(1)?];
        Some(Frame::decode(first, bytes))
    }

    /// Returns all frames, or `None` if a frame is invalid or chunk ids do not ascend.
    pub(crate) fn read<const PARTS: usize>(&self) -> Option<Vec<Frame<'a, PARTS>>> {
        let (mut frames, mut last) = (Vec::with_capacity(self.frames.len()), None);
        for &(first, bytes) in &self.frames {
            let frame = Frame::decode(first, bytes).filter(|frame| last < Some(frame.first()))?;
            last = frame.ids().next_back();
            frames.push(frame);
        }
        Some(frames)
    }
}

impl<'a, const PARTS: usize> Frame<'a, PARTS> {
    fn decode(first: u32, bytes: &'a [u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let count = reader.length().filter(|count| (1..=bytes.len()).contains(count))?;
        let (mut rows, mut id, mut starts) = (Vec::with_capacity(count), first, [0usize; PARTS]);
        for at in 0..count {
            let step = reader.varint32()?;
            id = id.checked_add(step).filter(|_| at == 0 || step > 0)?;
            rows.push(FrameRow { id, starts });
            for start in &mut starts {
                *start = start.checked_add(reader.length()?).filter(|sum| *sum <= MAX_PART_BYTES)?;
            }
        }
        let mut sizes = [0; PARTS];
        for size in &mut sizes {
            *size = reader.length()?;
        }
        let mut compressed: [&[u8]; PARTS] = [&[]; PARTS];
        for (part, size) in compressed.iter_mut().zip(sizes) {
            *part = reader.take(size)?;
        }
        reader.is_empty().then_some(Self { rows, lengths: starts, compressed })
    }

    /// Returns the id of the first chunk.
    pub(crate) fn first(&self) -> u32 {
        self.rows.first().map_or(0, |row| row.id)
    }

    /// Returns the ids of the chunks, ascending.
    pub(crate) fn ids(&self) -> impl DoubleEndedIterator<Item = u32> + Clone + '_ {
        self.rows.iter().map(|row| row.id)
    }

    /// Returns the range of a chunk's content in a decompressed part.
    pub(crate) fn range(&self, id: u32, part: usize) -> Option<Range<usize>> {
        let at = self.rows.binary_search_by_key(&id, |row| row.id).ok()?;
        let end = self.rows.get(at + 1).map_or(self.lengths[part], |next| next.starts[part]);
        Some(self.rows[at].starts[part]..end)
    }

    /// Decompresses a part, which contains the content of all chunks of the frame.
    pub(crate) fn decompress(&self, part: usize) -> Result<Vec<u8>, Damage> {
        let (compressed, length) = (self.compressed[part], self.lengths[part]);
        let decompressed = DECOMPRESSOR.with_borrow_mut(|decompressor| {
            // The length in the compressed data is compared first, so that a forged length cannot exhaust the memory.
            let stored = zstd::zstd_safe::get_frame_content_size(compressed).ok().flatten();
            stored.filter(|stored| *stored == length as u64)?;
            decompressor.as_mut().ok()?.decompress(compressed, length).ok()
        });
        decompressed
            .filter(|bytes| bytes.len() == length)
            .ok_or_else(|| Damage("a compressed block cannot be read".to_owned()))
    }
}

/// Builds a block.
pub(crate) struct BlockBuilder<const PARTS: usize> {
    first: u32,
    last: u32,
    /// First id of the previous frame.
    frame_before: u32,
    /// Number of frames.
    frames: u64,
    directory: Vec<u8>,
    bytes: Vec<u8>,
    open: Option<FrameBuilder<PARTS>>,
}

/// Builds a frame.
struct FrameBuilder<const PARTS: usize> {
    first: u32,
    count: u64,
    rows: Vec<u8>,
    parts: [Vec<u8>; PARTS],
}

impl<const PARTS: usize> BlockBuilder<PARTS> {
    /// Creates a builder. `first` is the key of the block.
    pub(crate) fn new(first: u32) -> Self {
        let (directory, bytes) = (Vec::new(), Vec::new());
        Self { first, last: first, frame_before: first, frames: 0, directory, bytes, open: None }
    }

    /// Returns the key of the block.
    pub(crate) fn first(&self) -> u32 {
        self.first
    }

    /// Returns the id of the last chunk that was added.
    pub(crate) fn last(&self) -> u32 {
        self.last
    }

    /// Whether the block is large enough to be closed.
    pub(crate) fn is_full(&self) -> bool {
        self.bytes.len() >= BLOCK_BYTES
    }

    /// Adds a chunk. Its id must be greater than the previous ids. `put` appends the chunk's content to each part.
    pub(crate) fn push(&mut self, id: u32, put: impl FnOnce(&mut [Vec<u8>; PARTS])) -> std::io::Result<()> {
        let open = self.open.get_or_insert_with(|| {
            self.last = id;
            FrameBuilder { first: id, count: 0, rows: Vec::new(), parts: [const { Vec::new() }; PARTS] }
        });
        let before = open.parts.each_ref().map(Vec::len);
        put(&mut open.parts);
        put_varint(&mut open.rows, u64::from(id - self.last));
        for (part, before) in open.parts.iter().zip(before) {
            put_varint(&mut open.rows, (part.len() - before) as u64);
        }
        open.count += 1;
        self.last = id;
        let is_full = open.parts.iter().map(Vec::len).sum::<usize>() >= FRAME_BYTES;
        if is_full { self.close_frame() } else { Ok(()) }
    }

    /// Closes the last frame, and returns the encoded block.
    pub(crate) fn finish(mut self) -> std::io::Result<Vec<u8>> {
        self.close_frame()?;
        let mut out = Vec::with_capacity(self.directory.len() + self.bytes.len() + 4);
        put_varint(&mut out, self.frames);
        out.append(&mut self.directory);
        out.append(&mut self.bytes);
        Ok(out)
    }

    fn close_frame(&mut self) -> std::io::Result<()> {
        let Some(FrameBuilder { first, count, rows, parts }) = self.open.take() else { return Ok(()) };
        let before = self.bytes.len();
        put_varint(&mut self.bytes, count);
        self.bytes.extend_from_slice(&rows);
        let mut bodies = Vec::new();
        for part in &parts {
            if part.len() > MAX_PART_BYTES {
                return Err(std::io::Error::other(format!("the texts of chunk {} are too long", self.last)));
            }
            let compressed = compress(part)?;
            put_varint(&mut self.bytes, compressed.len() as u64);
            bodies.extend_from_slice(&compressed);
        }
        self.bytes.extend_from_slice(&bodies);
        put(&mut self.directory, &(first - self.frame_before, self.bytes.len() - before));
        (self.frame_before, self.frames) = (first, self.frames + 1);
        Ok(())
    }
}

/// Compresses a part into one zstd frame.
fn compress(part: &[u8]) -> std::io::Result<Vec<u8>> {
    COMPRESSOR.with_borrow_mut(|compressor| {
        let compressor = compressor.as_mut().map_err(|error| std::io::Error::other(error.to_string()))?;
        compressor.compress(part)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn contents_round_trip(
            rows in prop::collection::vec((1..9u32, 0..3000usize, 0..9000usize), 1..120),
            first in 0..5u32,
        ) {
            let mut builder = BlockBuilder::new(first);
            let (mut id, mut expected) = (first, Vec::new());
            for (at, (gap, texts, relations)) in rows.into_iter().enumerate() {
                id += if at == 0 { gap - 1 } else { gap };
                let contents = [texts, relations].map(|length| vec![(id % 251) as u8; length]);
                let put = |parts: &mut [Vec<u8>; 2]| {
                    parts.iter_mut().zip(&contents).for_each(|(part, content)| part.extend_from_slice(content));
                };
                builder.push(id, put).expect("the content can be compressed");
                expected.push((id, contents));
            }
            let bytes = builder.finish().expect("the content can be compressed");
            let block = CompressedBlock::decode(first, &bytes).expect("the block is valid");
            let frames = block.read::<2>().expect("the frames are valid");
            prop_assert!(frames.iter().flat_map(Frame::ids).eq(expected.iter().map(|(id, _)| *id)));
            for (id, contents) in expected {
                let frame = block.frame::<2>(id).expect("the block has frames").expect("the frame is valid");
                for (part, content) in contents.iter().enumerate() {
                    let bytes = frame.decompress(part).expect("the part is valid");
                    prop_assert_eq!(&bytes[frame.range(id, part).expect("the frame has the chunk")], content);
                }
                prop_assert_eq!(frame.range(id + 1, 0).is_some(), frame.ids().any(|other| other == id + 1));
            }
            for end in [0, 1, bytes.len() / 2, bytes.len() - 1] {
                prop_assert!(CompressedBlock::decode(first, &bytes[..end]).is_none());
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(prop_oneof![0..9u8, any::<u8>()], 0..60)) {
            if let Some(block) = CompressedBlock::decode(7, &bytes) {
                for frame in block.read::<2>().into_iter().flatten() {
                    prop_assert!(frame.ids().count() > 0);
                    let _ = frame.decompress(1);
                }
            }
        }
    }
}
