//! Files that keep between runs what was found; nothing but time is lost with one.
//!
//! Layout, all numbers little-endian: `Head` · segments. A run that finds something new appends a segment, or writes the
//! file anew. A segment: length (u64) · content · BLAKE3 of the content. What follows one that is cut short or damaged is not
//! there; a file with another head is as good as none.
//!
//! A repository may come with such a file. It is believed only if its head holds the secret of this index, which nobody knew
//! who made the repository.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::ops::Range;

use aurora_confined::Directory;

/// Where something is kept between runs.
#[derive(Debug, Clone)]
pub struct KeptFile {
    directory: Directory,
    name: String,
    secret: Vec<u8>,
    max_bytes: u64,
}

impl KeptFile {
    /// The file called `name` in a directory, with at most `max_bytes`. One whose head does not hold `secret` counts as not
    /// there.
    pub fn new(directory: Directory, name: &str, secret: &[u8], max_bytes: u64) -> Self {
        Self { directory, name: name.to_owned(), secret: secret.to_vec(), max_bytes }
    }

    /// The content of the file; `None` if there is none, or it has another head.
    pub(crate) fn read(&self, head: &Head) -> Option<Vec<u8>> {
        let mut file = self.directory.open_file(&self.name).ok()?;
        let len = file.metadata().ok().map(|metadata| metadata.len()).filter(|len| *len <= self.max_bytes)?;
        let head = head.with(&self.secret);
        let mut bytes = vec![0; head.len()];
        file.read_exact(&mut bytes).ok().filter(|()| bytes == head)?;
        bytes.reserve_exact(usize::try_from(len).ok()?.saturating_sub(head.len()) + 1);
        file.take(self.max_bytes).read_to_end(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The segments of what was read.
    pub(crate) fn segments<'a>(&self, bytes: &'a [u8], head: &Head) -> Segments<'a> {
        Segments { bytes, end: head.with(&self.secret).len().min(bytes.len()) }
    }

    /// Adds a segment behind the last one, which ends at `end`, and returns where it ends itself. With no `end`, the file
    /// is written anew.
    pub(crate) fn append(&self, head: &Head, end: Option<usize>, content: &[u8]) -> io::Result<usize> {
        let (len, digest) = ((content.len() as u64).to_le_bytes(), blake3::hash(content));
        let put = |to: &mut File| {
            to.write_all(&len)?;
            to.write_all(content)?;
            to.write_all(digest.as_bytes())
        };
        let gained = len.len() + content.len() + blake3::OUT_LEN;
        if let Some(end) = end {
            let mut to = self.directory.open_for_writing(&self.name)?;
            // Something may stand there that was cut short.
            to.set_len(end as u64)?;
            to.seek(io::SeekFrom::End(0))?;
            return put(&mut to).map(|()| end + gained);
        }
        let head = head.with(&self.secret);
        self.directory.replace(&self.name, |to| to.write_all(&head).and_then(|()| put(to)))?;
        Ok(head.len() + gained)
    }

    /// Removes the file. One that is not there need not be.
    pub(crate) fn remove(&self) -> io::Result<()> {
        self.directory.remove(&self.name)
    }
}

/// What a file begins with: magic (8 bytes) · version (u32) · secret · key.
pub(crate) struct Head {
    start: Vec<u8>,
    key: Vec<u8>,
}

impl Head {
    /// The head of a file that says `magic` of itself. `version` is to be raised when the layout changes, or what is found;
    /// `key` stands for all else that decides whether the file may be used.
    pub(crate) fn new(magic: &[u8; 8], version: u32, key: &[u8]) -> Self {
        Self { start: [magic.as_slice(), &version.to_le_bytes()].concat(), key: key.to_vec() }
    }

    fn with(&self, secret: &[u8]) -> Vec<u8> {
        [self.start.as_slice(), secret, &self.key].concat()
    }
}

/// Where the contents of the segments of a file are, up to the first that is cut short or damaged.
pub(crate) struct Segments<'a> {
    bytes: &'a [u8],
    end: usize,
}

impl Segments<'_> {
    /// Where the last segment ends.
    pub(crate) fn end(&self) -> usize {
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
