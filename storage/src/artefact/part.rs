//! One part: the rows of a table as a zstd frame, counted and hashed on its way to or from the file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, Write};

use aurora_codec::{put_varint, varint_from};
use blake3::Hasher;
use zstd::stream::{read::Decoder, write::Encoder};

use super::manifest::ArtefactPart;
use super::{MAX_KEY, MAX_VALUE};

/// How much zstd tries. Beyond this a tenth less takes several times as long.
const LEVEL: i32 = 6;
/// Bytes that are read or written at once.
const BUFFER: usize = 1 << 17;

/// Writes a part to a temporary file.
pub(super) struct PartWriter {
    name: &'static str,
    encoder: Encoder<'static, MeasuredStream<BufWriter<File>>>,
    length: u64,
    head: Vec<u8>,
}

impl PartWriter {
    /// Starts a part in an empty file.
    pub(super) fn new(name: &'static str, file: File) -> io::Result<Self> {
        let encoder = Encoder::new(MeasuredStream::new(BufWriter::with_capacity(BUFFER, file)), LEVEL)?;
        Ok(Self { name, encoder, length: 0, head: Vec::new() })
    }

    /// Adds a row.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> io::Result<()> {
        if key.len() > MAX_KEY || value.len() > MAX_VALUE {
            let message = format!("a row of {} is too long for an artefact: {} bytes", self.name, value.len());
            return Err(io::Error::new(io::ErrorKind::InvalidData, message));
        }
        self.head.clear();
        put_varint(&mut self.head, key.len() as u64);
        self.head.extend_from_slice(key);
        put_varint(&mut self.head, value.len() as u64);
        self.encoder.write_all(&self.head)?;
        self.encoder.write_all(value)?;
        self.length += (self.head.len() + value.len()) as u64;
        Ok(())
    }

    /// Ends the frame; returns what the manifest says of it, and the file from its beginning.
    pub(super) fn finish(self) -> io::Result<(ArtefactPart, File)> {
        let measured = self.encoder.finish()?;
        let mut file = measured.inner.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        let part = ArtefactPart {
            name: self.name.to_owned(),
            length: self.length,
            compressed: measured.length,
            blake3: measured.hasher.finalize().to_hex().to_string(),
        };
        Ok((part, file))
    }
}

/// Reads the rows of a part. What it says of itself is believed only as far as the manifest goes.
pub(super) struct PartReader<'r> {
    part: &'r ArtefactPart,
    rows: BufReader<Decoder<'static, PartFrame<'r>>>,
    /// Bytes of rows that are still to come.
    left: u64,
}

type PartFrame<'r> = BufReader<MeasuredStream<io::Take<&'r mut dyn Read>>>;

/// Why a part cannot be read further.
#[derive(Debug, thiserror::Error)]
pub(super) enum PartError {
    /// The bytes are not those that were exported.
    #[error("{0}")]
    Damaged(String),
    /// The system could not read them.
    #[error(transparent)]
    Unreadable(io::Error),
}

impl From<io::Error> for PartError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Damaged("it ends too early".to_owned()),
            // zstd's own errors; those of the system have a number.
            _ if error.raw_os_error().is_none() => Self::Damaged(error.to_string()),
            _ => Self::Unreadable(error),
        }
    }
}

impl<'r> PartReader<'r> {
    /// Starts with the first byte of the frame.
    pub(super) fn new(part: &'r ArtefactPart, input: &'r mut dyn Read) -> Result<Self, PartError> {
        let frame = BufReader::with_capacity(BUFFER, MeasuredStream::new(input.take(part.compressed)));
        let decoder = Decoder::with_buffer(frame)?.single_frame();
        Ok(Self { part, rows: BufReader::with_capacity(BUFFER, decoder), left: part.length })
    }

    /// Reads the next row; tells whether there was one.
    pub(super) fn next(&mut self, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<bool, PartError> {
        if self.left == 0 {
            return Ok(false);
        }
        self.bytes(key, MAX_KEY)?;
        self.bytes(value, MAX_VALUE)?;
        Ok(true)
    }

    /// Makes sure that the part ends here, and that it is what was exported.
    pub(super) fn finish(mut self) -> Result<(), PartError> {
        let damaged = |what: &str| Err(PartError::Damaged(what.to_owned()));
        if !self.rows.fill_buf()?.is_empty() {
            return damaged("it holds more than it should");
        }
        let mut frame = self.rows.into_inner().finish();
        if !frame.fill_buf()?.is_empty() {
            return damaged("something follows its end");
        }
        let measured = frame.into_inner();
        if measured.length != self.part.compressed {
            return damaged("it ends too early");
        }
        if measured.hasher.finalize().to_hex().as_str() != self.part.blake3 {
            return damaged("its checksum is another one");
        }
        Ok(())
    }

    /// Reads bytes behind their length. Memory is taken as they come, not as the length says.
    fn bytes(&mut self, out: &mut Vec<u8>, most: usize) -> Result<(), PartError> {
        let length = self.varint()?;
        if length > most as u64 || length > self.left {
            return Err(PartError::Damaged("a row is longer than it can be".to_owned()));
        }
        self.left -= length;
        out.clear();
        let read = (&mut self.rows).take(length).read_to_end(out)?;
        if read as u64 == length { Ok(()) } else { Err(PartError::Damaged("it ends too early".to_owned())) }
    }

    fn varint(&mut self) -> Result<u64, PartError> {
        let no_length = || PartError::Damaged("a row has no length".to_owned());
        let number = varint_from(|| {
            let mut byte = [0];
            if self.left == 0 {
                return Err(no_length());
            }
            self.rows.read_exact(&mut byte)?;
            self.left -= 1;
            Ok(byte[0])
        });
        number?.ok_or_else(no_length)
    }
}

/// Counts and hashes the bytes that pass.
struct MeasuredStream<T> {
    inner: T,
    hasher: Hasher,
    length: u64,
}

impl<T> MeasuredStream<T> {
    fn new(inner: T) -> Self {
        Self { inner, hasher: Hasher::new(), length: 0 }
    }

    fn note(&mut self, bytes: &[u8]) {
        self.hasher.update(bytes);
        self.length += bytes.len() as u64;
    }
}

impl<T: Write> Write for MeasuredStream<T> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.note(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<T: Read> Read for MeasuredStream<T> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.note(&buffer[..read]);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Rows = Vec<(Vec<u8>, Vec<u8>)>;

    fn written(rows: &Rows) -> (ArtefactPart, Vec<u8>) {
        let mut writer = PartWriter::new("rows", tempfile::tempfile().expect("a file")).expect("starts");
        for (key, value) in rows {
            writer.push(key, value).expect("is taken");
        }
        let (part, mut file) = writer.finish().expect("ends");
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).expect("reads");
        (part, bytes)
    }

    fn read(part: &ArtefactPart, mut bytes: &[u8]) -> Result<Rows, PartError> {
        let mut reader = PartReader::new(part, &mut bytes)?;
        let (mut rows, mut key, mut value) = (Rows::new(), Vec::new(), Vec::new());
        while reader.next(&mut key, &mut value)? {
            rows.push((key.clone(), value.clone()));
        }
        reader.finish()?;
        Ok(rows)
    }

    proptest! {
        #[test]
        fn rows_come_back_or_are_refused(
            rows in prop::collection::vec(
                (prop::collection::vec(any::<u8>(), 0..20), prop::collection::vec(0..4u8, 0..300)), 0..20),
            at in any::<prop::sample::Index>(),
            bit in 0..8u8,
        ) {
            let (part, bytes) = written(&rows);
            prop_assert_eq!(part.compressed, bytes.len() as u64);
            prop_assert_eq!(read(&part, &bytes).expect("sound"), rows);
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
