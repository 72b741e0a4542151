//! What a walk saw, kept for the next one: a directory whose [`DirectoryStamp`] is still the same need not be read again, and where
//! the rules of ignore files are the same too, they need not be asked.
//!
//! The file is one as [`aurora_cachefile`] describes, of one segment. Its content, all numbers little-endian: directories, each
//! behind those that it holds · where the root is (u32). A directory: stamp (four times 8 bytes) · digest of the rules
//! (8 bytes) · number of entries (u32) · entries in the order of paths. An entry: kind, [`IGNORED`] added if it is (u8) · 1
//! more than where the directory is, or 0 (u32) · bytes of the name (u16) · name.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::ops::Range;

use super::MAX_WALK;
use super::listing::{DirectoryStamp, FileKind};
use aurora_cachefile::{CacheFile, Format};

const MAGIC: &[u8; 8] = b"AURTREE\n";
/// Raised when the layout changes, or what ignore files mean.
const VERSION: u32 = 1;

/// By the number that stands for them.
const KINDS: [FileKind; 4] = [FileKind::File, FileKind::Directory, FileKind::Link, FileKind::Other];
const IGNORED: u8 = 0x80;
/// Bytes of an entry before its name.
const SHORTEST_ENTRY: usize = 7;

/// What has to be the same for the entries of a directory to be those that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Validity {
    /// For the entries; the default one if it cannot be relied on.
    pub(super) stamp: DirectoryStamp,
    /// For whether they are ignored: see [`Rules::digest`](super::rules::Rules::digest).
    pub(super) rules: u64,
}

/// A walk that was kept.
pub(super) struct ListingCache {
    bytes: Vec<u8>,
    /// Where the content is.
    content: Range<usize>,
}

impl ListingCache {
    /// The walk that `file` keeps; nothing if there is none that can be used.
    pub(super) fn read(file: &CacheFile) -> Option<Self> {
        let bytes = file.read(&format())?;
        let content = file.segments(&bytes, &format()).next()?;
        Some(Self { bytes, content })
    }

    /// The directory that was walked.
    pub(super) fn root(&self) -> Option<CachedDirectory<'_>> {
        let (bytes, at) = self.content().split_last_chunk()?;
        Some(CachedDirectory { bytes, at: u32::from_le_bytes(*at) })
    }

    /// The directories, and where the root is.
    pub(super) fn content(&self) -> &[u8] {
        &self.bytes[self.content.clone()]
    }
}

/// What was seen of a directory and of those below it.
#[derive(Debug, Clone, Copy)]
pub(super) struct CachedDirectory<'k> {
    bytes: &'k [u8],
    at: u32,
}

/// An entry of a directory.
#[derive(Debug, Clone, Copy)]
pub(super) struct CachedEntry<'k> {
    pub(super) name: &'k OsStr,
    pub(super) kind: FileKind,
    pub(super) is_ignored: bool,
    /// What was seen below it, if it is a directory that was walked.
    pub(super) below: Option<CachedDirectory<'k>>,
}

impl<'k> CachedDirectory<'k> {
    /// Its entries, and under which validity they are known; `None` if it does not make sense.
    pub(super) fn read(self) -> Option<(Validity, impl Iterator<Item = Option<CachedEntry<'k>>>)> {
        let mut rest = self.bytes.get(self.at as usize..)?;
        let (device, inode) = (u64::from_le_bytes(take(&mut rest)?), u64::from_le_bytes(take(&mut rest)?));
        let (changed, modified) = (i64::from_le_bytes(take(&mut rest)?), i64::from_le_bytes(take(&mut rest)?));
        let rules = u64::from_le_bytes(take(&mut rest)?);
        let count = u32::from_le_bytes(take(&mut rest)?);
        if count as usize > rest.len() / SHORTEST_ENTRY {
            return None;
        }
        let entries = (0..count).map(move |_| self.entry(&mut rest));
        Some((Validity { stamp: DirectoryStamp { device, inode, changed, modified }, rules }, entries))
    }

    fn entry(self, rest: &mut &'k [u8]) -> Option<CachedEntry<'k>> {
        let [kind] = take(rest)?;
        let at = u32::from_le_bytes(take(rest)?);
        let len = u16::from_le_bytes(take(rest)?);
        let (name, after) = rest.split_at_checked(len.into())?;
        *rest = after;
        // A directory stands behind those that it holds, so that no walk down comes back to it.
        let below = at.checked_sub(1).map(|at| CachedDirectory { at, ..self });
        if below.is_some_and(|below| below.at >= self.at) || matches!(name, b"" | b"." | b"..") || name.contains(&b'/')
        {
            return None;
        }
        let is_ignored = kind & IGNORED != 0;
        Some(CachedEntry { name: os_str(name)?, kind: *KINDS.get(usize::from(kind & !IGNORED))?, is_ignored, below })
    }

    /// The same as if it had been seen again.
    fn again(self) -> Option<(Validity, Vec<ListedEntry<'k>>)> {
        let (validity, entries) = self.read()?;
        let seen = |CachedEntry { name, kind, is_ignored, below }: CachedEntry<'k>| ListedEntry {
            name: name.into(),
            kind,
            is_ignored,
            below: below.map(DirectoryListing::Cached),
        };
        Some((validity, entries.map(|entry| entry.map(seen)).collect::<Option<_>>()?))
    }
}

/// What a walk has seen of a directory.
#[derive(Debug)]
pub(super) enum DirectoryListing<'k> {
    /// What is kept already, down to the last directory.
    Cached(CachedDirectory<'k>),
    /// Something else: the entries in the order of paths.
    Fresh(Validity, Vec<ListedEntry<'k>>),
}

/// An entry of a directory, as [`CachedEntry`].
#[derive(Debug)]
pub(super) struct ListedEntry<'k> {
    pub(super) name: Cow<'k, OsStr>,
    pub(super) kind: FileKind,
    pub(super) is_ignored: bool,
    pub(super) below: Option<DirectoryListing<'k>>,
}

/// Keeps what was seen of the root in `file`.
pub(super) fn write(file: &CacheFile, root: &DirectoryListing<'_>) -> io::Result<()> {
    let mut content = Vec::new();
    let Some(at) = put(&mut content, root) else { return Ok(()) };
    content.extend_from_slice(&at.to_le_bytes());
    file.append(&format(), None, &content).map(drop)
}

/// Appends a directory behind those below it and tells where it is; `None` if there is more than can be counted.
fn put(out: &mut Vec<u8>, seen: &DirectoryListing<'_>) -> Option<u32> {
    if out.len() as u64 > MAX_WALK {
        return None;
    }
    let known;
    let (Validity { stamp, rules }, entries) = match seen {
        DirectoryListing::Fresh(validity, entries) => (*validity, entries),
        DirectoryListing::Cached(directory) => {
            known = directory.again()?;
            (known.0, &known.1)
        }
    };
    let mut below = Vec::with_capacity(entries.len());
    for entry in entries {
        let at = entry.below.as_ref().map(|seen| put(out, seen));
        below.push(at.map_or(Some(0), |at| at?.checked_add(1))?);
    }
    let at = u32::try_from(out.len()).ok()?;
    for number in [stamp.device, stamp.inode, stamp.changed as u64, stamp.modified as u64, rules] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    out.extend_from_slice(&u32::try_from(entries.len()).ok()?.to_le_bytes());
    for (entry, below) in entries.iter().zip(below) {
        let name = entry.name.as_encoded_bytes();
        let kind = KINDS.iter().position(|kind| *kind == entry.kind)? as u8;
        out.push(if entry.is_ignored { kind | IGNORED } else { kind });
        out.extend_from_slice(&below.to_le_bytes());
        out.extend_from_slice(&u16::try_from(name.len()).ok()?.to_le_bytes());
        out.extend_from_slice(name);
    }
    Some(at)
}

/// What the file begins with.
pub(super) fn format() -> Format {
    Format::new(MAGIC, VERSION, &[])
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (taken, after) = rest.split_first_chunk()?;
    *rest = after;
    Some(*taken)
}

#[cfg(unix)]
fn os_str(name: &[u8]) -> Option<&OsStr> {
    use std::os::unix::ffi::OsStrExt as _;

    Some(OsStr::from_bytes(name))
}

#[cfg(not(unix))]
fn os_str(name: &[u8]) -> Option<&OsStr> {
    std::str::from_utf8(name).ok().map(OsStr::new)
}
