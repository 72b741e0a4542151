//! Writes and reads one part, which contains the rows of a table in frames. The bytes of the frames are counted and
//! hashed while they are written or read.

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, Write};

use aurora_codec::{ByteReader, put_sized};
use blake3::Hasher;
use zstd::{bulk, zstd_safe};

use super::manifest::ArtefactPart;
use super::{MAX_KEY_BYTES, MAX_VALUE_BYTES};

/// Compression level of zstd. Higher levels save a tenth, but take several times as long.
pub(super) const LEVEL: i32 = 6;
/// Compression level of zstd in the artefact of a shard, which is read once. The artefact is a sixth larger.
pub(super) const SHARD_LEVEL: i32 = 1;
/// A frame ends when the size of its rows reaches this number of bytes. Smaller frames compress less, larger ones take
/// more memory in each thread.
const FRAME_BYTES: usize = 2 << 20;
/// Maximum size of the rows in a frame, in bytes. Only the last row may exceed [`FRAME_BYTES`]. A length takes up to
/// five bytes.
const MAX_FRAME_BYTES: usize = FRAME_BYTES + 5 + MAX_KEY_BYTES + 5 + MAX_VALUE_BYTES;
/// Size of the header of a frame in bytes.
const FRAME_HEADER_BYTES: usize = 4 + 4;
/// Size of the write buffer in bytes.
const BUFFER_BYTES: usize = 1 << 17;

/// Collects the rows of a part until they fill a frame.
pub(super) struct FrameBuilder {
    name: &'static str,
    limit: usize,
    rows: Vec<u8>,
}

impl FrameBuilder {
    /// Creates a builder without rows.
    pub(super) fn new(name: &'static str) -> Self {
        Self { name, limit: FRAME_BYTES, rows: Vec::new() }
    }

    /// Adds a row. Returns the rows of the frame if the frame is full.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> io::Result<Option<Vec<u8>>> {
        check_lengths(self.name, key, value)?;
        put_sized(&mut self.rows, key);
        put_sized(&mut self.rows, value);
        Ok(if self.rows.len() >= self.limit { self.take() } else { None })
    }

    /// Returns the rows of the last frame, if there are any.
    pub(super) fn take(&mut self) -> Option<Vec<u8>> {
        Some(std::mem::take(&mut self.rows)).filter(|rows| !rows.is_empty())
    }
}

/// Checks that a row of the table `name` is short enough for an artefact.
pub(super) fn check_lengths(name: &str, key: &[u8], value: &[u8]) -> io::Result<()> {
    if key.len() <= MAX_KEY_BYTES && value.len() <= MAX_VALUE_BYTES {
        return Ok(());
    }
    let message = format!("a row of {name} is too long for an artefact: {} bytes", value.len());
    Err(io::Error::new(io::ErrorKind::InvalidData, message))
}

/// A frame: the size of its rows in bytes, and the compressed rows.
pub(super) struct Frame {
    length: usize,
    compressed: Vec<u8>,
}

impl Frame {
    /// Compresses rows.
    pub(super) fn new(rows: &[u8], level: i32) -> io::Result<Self> {
        Ok(Self { length: rows.len(), compressed: bulk::compress(rows, level)? })
    }

    /// Total size in bytes of the compressed and the decompressed rows.
    pub(super) fn size(&self) -> usize {
        self.length + self.compressed.len()
    }

    /// Decompresses the rows.
    pub(super) fn rows(&self) -> Result<Vec<u8>, String> {
        // `self.length` may be forged, so it must equal the content size in the zstd header before memory is allocated
        // for it.
        let length = zstd_safe::get_frame_content_size(&self.compressed).ok().flatten();
        let rows = length.filter(|length| *length == self.length as u64).map(|_| {
            let rows = bulk::decompress(&self.compressed, self.length);
            rows.map_err(|error| error.to_string())
        });
        let rows = rows.ok_or("a frame has the wrong length")??;
        if rows.len() == self.length { Ok(rows) } else { Err("a frame has the wrong length".to_owned()) }
    }
}

/// A key and its value.
type Row<'b> = (&'b [u8], &'b [u8]);

/// Reads the rows of a frame.
pub(super) struct RowReader<'b> {
    rows: ByteReader<'b>,
    length: usize,
}

impl<'b> RowReader<'b> {
    /// Creates a reader at the first row.
    pub(super) fn new(rows: &'b [u8]) -> Self {
        Self { rows: ByteReader::new(rows), length: rows.len() }
    }

    /// Reads the next row. Returns `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Row<'b>>, String> {
        let left = self.rows.rest().len();
        if left == 0 {
            return Ok(None);
        }
        // In a valid frame, no row starts at or after the limit. A damaged frame could have many small rows there, and
        // these take much more memory once they are read than their bytes in the frame.
        if self.length - left >= FRAME_BYTES {
            return Err("a frame has rows after its end".to_owned());
        }
        let mut next = |most| self.rows.sized().filter(|bytes| bytes.len() <= most);
        let row = next(MAX_KEY_BYTES).and_then(|key| Some((key, next(MAX_VALUE_BYTES)?)));
        row.map(Some).ok_or_else(|| "a row is too long".to_owned())
    }
}

/// Writes a part to a temporary file.
pub(super) struct PartWriter {
    name: &'static str,
    out: BufWriter<File>,
    hasher: Hasher,
    length: u64,
}

impl PartWriter {
    /// Creates a writer for an empty file.
    pub(super) fn new(name: &'static str, file: File) -> Self {
        Self { name, out: BufWriter::with_capacity(BUFFER_BYTES, file), hasher: Hasher::new(), length: 0 }
    }

    /// Adds a frame.
    pub(super) fn push(&mut self, frame: &Frame) -> io::Result<()> {
        self.length += frame.length as u64;
        let lengths = [frame.length, frame.compressed.len()].map(|length| (length as u32).to_le_bytes());
        for bytes in [lengths.as_flattened(), &frame.compressed] {
            self.hasher.update(bytes);
            self.out.write_all(bytes)?;
        }
        Ok(())
    }

    /// Ends the part. Returns its entry for the manifest, and the file, rewound to its beginning.
    pub(super) fn finish(self) -> io::Result<(ArtefactPart, File)> {
        let mut file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        let part = ArtefactPart {
            name: self.name.to_owned(),
            length: self.length,
            compressed: self.hasher.count(),
            blake3: self.hasher.finalize().to_hex().to_string(),
        };
        Ok((part, file))
    }
}

/// Reads the frames of a part. Refuses frames that exceed the lengths in the manifest.
pub(super) struct PartReader<'r> {
    part: &'r ArtefactPart,
    input: io::Take<&'r mut dyn Read>,
    hasher: Hasher,
    /// Number of bytes of rows that have not been read yet.
    left: u64,
}

impl<'r> PartReader<'r> {
    /// Creates a reader. The next byte of `input` must be the first byte of the part.
    pub(super) fn new(part: &'r ArtefactPart, input: &'r mut dyn Read) -> Self {
        Self { part, input: input.take(part.compressed), hasher: Hasher::new(), left: part.length }
    }

    /// Reads the next frame. Returns `None` at the end.
    ///
    /// # Errors
    /// Returns [`io::ErrorKind::InvalidData`] if a length is impossible, or the part ends too early. [`Self::finish`]
    /// compares the checksum.
    pub(super) fn next(&mut self) -> io::Result<Option<Frame>> {
        if self.left == 0 {
            return Ok(None);
        }
        let too_long = || damaged("a frame is too long");
        let header = self.bytes(FRAME_HEADER_BYTES)?;
        let [length, compressed] = [0, 4].map(|at| ByteReader::new(&header[at..]).u32().unwrap_or(0) as usize);
        if !(1..=MAX_FRAME_BYTES).contains(&length) || compressed > zstd_safe::compress_bound(length) {
            return Err(too_long());
        }
        self.left = self.left.checked_sub(length as u64).ok_or_else(too_long)?;
        Ok(Some(Frame { length, compressed: self.bytes(compressed)? }))
    }

    /// Checks that the part ends here and that its checksum matches.
    pub(super) fn finish(mut self) -> io::Result<()> {
        if (&mut self.input).take(1).read_to_end(&mut Vec::new())? > 0 {
            return Err(damaged("it continues after its end"));
        }
        if self.hasher.count() != self.part.compressed {
            return Err(damaged("it ends too early"));
        }
        if self.hasher.finalize().to_hex().as_str() != self.part.blake3 {
            return Err(damaged("its checksum is wrong"));
        }
        Ok(())
    }

    /// Reads `length` bytes. Allocates memory only for bytes that have been read, because `length` may be forged.
    fn bytes(&mut self, length: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        let read = (&mut self.input).take(length as u64).read_to_end(&mut bytes)?;
        self.hasher.update(&bytes);
        if read == length { Ok(bytes) } else { Err(damaged("it ends too early")) }
    }
}

fn damaged(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Rows = Vec<(Vec<u8>, Vec<u8>)>;

    fn written(rows: &Rows) -> (ArtefactPart, Vec<u8>) {
        let mut writer = PartWriter::new("rows", tempfile::tempfile().expect("a temporary file can be created"));
        let mut builder = FrameBuilder { limit: 1000, ..FrameBuilder::new("rows") };
        let full = rows.iter().filter_map(|(key, value)| builder.push(key, value).expect("the row is short"));
        let frames: Vec<_> = full.collect();
        for rows in frames.into_iter().chain(builder.take()) {
            writer
                .push(&Frame::new(&rows, LEVEL).expect("the rows can be compressed"))
                .expect("the frame can be written");
        }
        let (part, mut file) = writer.finish().expect("the part can be finished");
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).expect("the file can be read");
        (part, bytes)
    }

    fn read(part: &ArtefactPart, mut bytes: &[u8]) -> io::Result<Rows> {
        let mut reader = PartReader::new(part, &mut bytes);
        let mut read = Rows::new();
        while let Some(frame) = reader.next()? {
            let rows = frame.rows().map_err(|what| damaged(&what))?;
            let mut rows = RowReader::new(&rows);
            while let Some((key, value)) = rows.next().map_err(|what| damaged(&what))? {
                read.push((key.to_owned(), value.to_owned()));
            }
        }
        reader.finish()?;
        Ok(read)
    }

    proptest! {
        #[test]
        fn rows_round_trip_and_damaged_parts_are_refused(
            rows in prop::collection::vec(
                (prop::collection::vec(any::<u8>(), 0..20), prop::collection::vec(0..4u8, 0..300)), 1..20),
            at in any::<prop::sample::Index>(),
            bit in 0..8u8,
        ) {
            let (part, bytes) = written(&rows);
            prop_assert_eq!(part.compressed, bytes.len() as u64);
            prop_assert_eq!(read(&part, &bytes).expect("the part is valid"), rows);
            let at = at.index(bytes.len());
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            prop_assert!(read(&part, &damaged).is_err());
            prop_assert!(read(&part, &bytes[..at]).is_err());
            let shorter = ArtefactPart { length: part.length.saturating_sub(1), ..part.clone() };
            prop_assert!(part.length == 0 || read(&shorter, &bytes).is_err());
            let longer = ArtefactPart { length: part.length + 1, ..part };
            prop_assert!(read(&longer, &bytes).is_err());
        }
    }
}
