//! Files that keep between runs what was found; nothing but time is lost with one.
//!
//! Layout, all numbers little-endian: [`Head`] · segments. A run that finds something new appends a segment, or writes the
//! file anew. A segment: length (u64) · content · BLAKE3 of the content. What follows one that is cut short or damaged is not
//! there; a file with another head is as good as none.

use std::fs;
use std::io::{self, Seek as _, Write as _};
use std::ops::Range;
use std::path::Path;

/// What a file begins with: magic (8 bytes) · version (u32) · key.
pub(crate) struct Head(Vec<u8>);

impl Head {
    /// The head of a file that says `magic` of itself. `version` is to be raised when the layout changes, or what is found;
    /// `key` stands for all else that decides whether the file may be used.
    pub(crate) fn new(magic: &[u8; 8], version: u32, key: &[u8]) -> Self {
        Self([magic.as_slice(), &version.to_le_bytes(), key].concat())
    }
}

/// Where the contents of the segments of a file are, up to the first that is cut short or damaged.
pub(crate) struct Segments<'a> {
    bytes: &'a [u8],
    end: usize,
}

impl<'a> Segments<'a> {
    /// The segments of the file that is `bytes`; `None` if it has another head.
    pub(crate) fn of(bytes: &'a [u8], head: &Head) -> Option<Self> {
        bytes.starts_with(&head.0).then_some(Self { bytes, end: head.0.len() })
    }

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

/// Adds a segment behind the last one, which ends at `end`, and returns where it ends itself. With no `end`, the file is
/// written anew.
pub(crate) fn append(file: &Path, head: &Head, end: Option<usize>, content: &[u8]) -> io::Result<usize> {
    let (len, digest) = ((content.len() as u64).to_le_bytes(), blake3::hash(content));
    let put = |to: &mut fs::File| {
        to.write_all(&len)?;
        to.write_all(content)?;
        to.write_all(digest.as_bytes())
    };
    let gained = len.len() + content.len() + blake3::OUT_LEN;
    if let Some(end) = end {
        let mut to = fs::OpenOptions::new().write(true).open(file)?;
        // Something may stand there that was cut short.
        to.set_len(end as u64)?;
        to.seek(io::SeekFrom::End(0))?;
        return put(&mut to).map(|()| end + gained);
    }
    let new = file.with_added_extension("new");
    let written = fs::File::create(&new)
        .and_then(|mut to| to.write_all(&head.0).and_then(|()| put(&mut to)))
        .and_then(|()| fs::rename(&new, file));
    if written.is_err() {
        // Nothing can be done about it here; the next one writes over it.
        let _ = fs::remove_file(&new);
    }
    written.map(|()| head.0.len() + gained)
}
