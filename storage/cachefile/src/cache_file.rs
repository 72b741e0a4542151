//! The layout of a cache file: header · segments. All numbers are little-endian.
//!
//! Header: magic (8 bytes) · version (u32) · secret · key. Segment: length (u64) · content · BLAKE3 of the content.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::ops::Range;

use aurora_confined::Directory;

/// An append-only file that caches results of a run. It is safe to delete.
#[derive(Debug, Clone)]
pub struct CacheFile {
    directory: Directory,
    name: String,
    secret: Vec<u8>,
    max_bytes: u64,
    read_only: bool,
}

impl CacheFile {
    /// Refers to the file `name` in `directory`. A file that is larger than `max_bytes`, or whose header does not
    /// contain `secret`, is treated as absent.
    pub fn new(directory: Directory, name: &str, secret: &[u8], max_bytes: u64) -> Self {
        Self { directory, name: name.to_owned(), secret: secret.to_vec(), max_bytes, read_only: false }
    }

    /// Returns a handle to the same file that refuses to write or remove it.
    #[must_use]
    pub fn read_only(self) -> Self {
        Self { read_only: true, ..self }
    }

    /// Returns all bytes of the file; `None` if the file does not exist, is too large, or has a header that differs
    /// from the header for `format`.
    pub fn read(&self, format: &Format) -> Option<Vec<u8>> {
        let mut file = self.directory.open_file(&self.name).ok()?;
        let len = file.metadata().ok().map(|metadata| metadata.len()).filter(|len| *len <= self.max_bytes)?;
        let header = format.header(&self.secret);
        let mut bytes = vec![0; header.len()];
        file.read_exact(&mut bytes).ok().filter(|()| bytes == header)?;
        bytes.reserve_exact(usize::try_from(len).ok()?.saturating_sub(header.len()) + 1);
        file.take(self.max_bytes).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// Returns the segments in the bytes that [`CacheFile::read`] returned.
    pub fn segments<'a>(&self, bytes: &'a [u8], format: &Format) -> Segments<'a> {
        Segments { bytes, end: format.header(&self.secret).len().min(bytes.len()) }
    }

    /// Appends a segment at `end`, the offset that [`Segments::end`] returned, and returns the offset where the new
    /// segment ends. If `end` is `None`, replaces the file with a file that has only this segment.
    ///
    /// # Errors
    /// Fails if the file cannot be written or is [`CacheFile::read_only`].
    pub fn append(&self, format: &Format, end: Option<usize>, content: &[u8]) -> io::Result<usize> {
        self.check_writable()?;
        let (len, digest) = ((content.len() as u64).to_le_bytes(), blake3::hash(content));
        let put = |to: &mut File| {
            to.write_all(&len)?;
            to.write_all(content)?;
            to.write_all(digest.as_bytes())
        };
        let added = len.len() + content.len() + blake3::OUT_LEN;
        if let Some(end) = end {
            let mut to = self.directory.open_for_writing(&self.name)?;
            // A truncated segment may follow.
            to.set_len(end as u64)?;
            to.seek(io::SeekFrom::End(0))?;
            return put(&mut to).map(|()| end + added);
        }
        let header = format.header(&self.secret);
        self.directory.replace(&self.name, |to| to.write_all(&header).and_then(|()| put(to)))?;
        Ok(header.len() + added)
    }

    /// Removes the file.
    ///
    /// # Errors
    /// Fails if the system cannot remove the file, or the file is [`CacheFile::read_only`]. A missing file is not an
    /// error.
    pub fn remove(&self) -> io::Result<()> {
        self.check_writable()?;
        self.directory.remove(&self.name)
    }

    fn check_writable(&self) -> io::Result<()> {
        if self.read_only { Err(io::ErrorKind::PermissionDenied.into()) } else { Ok(()) }
    }
}

/// Format of a cache file. A file of another format is treated as absent.
#[derive(Debug, Clone)]
pub struct Format {
    start: Vec<u8>,
    key: Vec<u8>,
}

impl Format {
    /// Creates a format with a magic number. Raise `version` when the layout or the computation changes; `key`
    /// identifies everything else that the content depends on.
    pub fn new(magic: &[u8; 8], version: u32, key: &[u8]) -> Self {
        Self { start: [magic.as_slice(), &version.to_le_bytes()].concat(), key: key.to_vec() }
    }

    fn header(&self, secret: &[u8]) -> Vec<u8> {
        [self.start.as_slice(), secret, &self.key].concat()
    }
}

/// Iterator over the content ranges of the segments, up to the first segment that is truncated or damaged.
#[derive(Debug, Clone)]
pub struct Segments<'a> {
    bytes: &'a [u8],
    end: usize,
}

impl Segments<'_> {
    /// Returns the offset where the last returned segment ends.
    pub fn end(&self) -> usize {
        self.end
    }
}

impl Iterator for Segments<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let (len, rest) = self.bytes[self.end..].split_first_chunk()?;
        let (content, rest) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*len)).ok()?)?;
        let is_whole = rest.starts_with(blake3::hash(content).as_bytes());
        let start = self.end + size_of::<u64>();
        let found = is_whole.then_some(start..start + content.len())?;
        self.end = found.end + blake3::OUT_LEN;
        Some(found)
    }
}
