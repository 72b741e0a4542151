//! A cache of directory listings: a directory whose [`DirectoryStamp`] is unchanged need not be read, and if its ignore rules
//! are unchanged too, they need not be evaluated.
//!
//! The file is an [`aurora_cachefile`] with one segment. Its content, all numbers little-endian: directories, each after its
//! subdirectories · offset of the root (u32). A directory: stamp (four times 8 bytes) · digest of the rules (8 bytes) · number
//! of entries (u32) · entries in the order of paths. An entry: kind, with [`IGNORED`] set if it is ignored (u8) · offset of the
//! directory plus 1, or 0 (u32) · length of the name (u16) · name.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use super::listing::{DirectoryStamp, FileKind};
use aurora_cachefile::{CacheFile, Format};
use aurora_codec::ByteReader;

/// Most bytes of the cache of directory listings: some five million files.
pub(crate) const MAX_WALK: u64 = 256 << 20;

const MAGIC: &[u8; 8] = b"AURTREE\n";
/// Raised when the layout changes, or the interpretation of ignore files.
const VERSION: u32 = 1;

/// Kinds by their number in the file.
const KINDS: [FileKind; 4] = [FileKind::File, FileKind::Directory, FileKind::Link, FileKind::Other];
const IGNORED: u8 = 0x80;
/// Bytes of an entry before its name.
const MIN_ENTRY: usize = 7;

/// What must be unchanged for a cached listing to be valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Validity {
    /// For the entries; the default one if it is not reliable.
    pub(super) stamp: DirectoryStamp,
    /// For whether entries are ignored; see [`Rules::digest`](super::rules::Rules::digest).
    pub(super) rules: u64,
}

/// The listings of an earlier walk.
pub(super) struct ListingCache {
    bytes: Vec<u8>,
    /// The range of the content.
    content: Range<usize>,
}

impl ListingCache {
    /// The listings in `file`; `None` if there are none that can be used.
    pub(super) fn read(file: &CacheFile) -> Option<Self> {
        let bytes = file.read(&format())?;
        let content = file.segments(&bytes, &format()).next()?;
        Some(Self { bytes, content })
    }

    /// The root of the walk.
    pub(super) fn root(&self) -> Option<CachedDirectory<'_>> {
        let (bytes, at) = self.content().split_last_chunk()?;
        Some(CachedDirectory { bytes, at: u32::from_le_bytes(*at) })
    }

    /// The encoded directories, and the offset of the root.
    pub(super) fn content(&self) -> &[u8] {
        &self.bytes[self.content.clone()]
    }
}

/// The directories that the walk which has written `file` has listed, relative to its root, which is empty; `None` if there is no
/// such file.
pub(crate) fn directories(file: &CacheFile) -> Option<Vec<PathBuf>> {
    let cache = ListingCache::read(file)?;
    let mut found = Vec::new();
    let mut rest = vec![(PathBuf::new(), cache.root()?)];
    while let Some((path, directory)) = rest.pop() {
        for entry in directory.read()?.1 {
            let entry = entry?;
            rest.extend(entry.below.map(|below| (path.join(entry.name), below)));
        }
        found.push(path);
    }
    Some(found)
}

/// The cached listing of a directory.
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
    /// Its own listing, if it is a directory that was walked.
    pub(super) below: Option<CachedDirectory<'k>>,
}

impl<'k> CachedDirectory<'k> {
    /// Its entries, and what must be unchanged for them to be valid; `None` if the encoding is malformed.
    pub(super) fn read(self) -> Option<(Validity, impl Iterator<Item = Option<CachedEntry<'k>>>)> {
        let mut reader = ByteReader::new(self.bytes.get(self.at as usize..)?);
        let (device, inode) = (reader.u64()?, reader.u64()?);
        let (changed, modified) = (reader.i64()?, reader.i64()?);
        let (rules, count) = (reader.u64()?, reader.u32()?);
        if count as usize > reader.rest().len() / MIN_ENTRY {
            return None;
        }
        let entries = (0..count).map(move |_| self.entry(&mut reader));
        Some((Validity { stamp: DirectoryStamp { device, inode, changed, modified }, rules }, entries))
    }

    fn entry(self, reader: &mut ByteReader<'k>) -> Option<CachedEntry<'k>> {
        let (kind, at, len) = (reader.byte()?, reader.u32()?, reader.u16()?);
        let name = reader.take(len.into())?;
        // A directory comes after its subdirectories, so a malformed file cannot cause a loop.
        let below = at.checked_sub(1).map(|at| CachedDirectory { at, ..self });
        if below.is_some_and(|below| below.at >= self.at) || matches!(name, b"" | b"." | b"..") || name.contains(&b'/')
        {
            return None;
        }
        let is_ignored = kind & IGNORED != 0;
        Some(CachedEntry { name: os_str(name)?, kind: *KINDS.get(usize::from(kind & !IGNORED))?, is_ignored, below })
    }

    /// The same listing as entries to write.
    fn to_entries(self) -> Option<(Validity, Vec<ListedEntry<'k>>)> {
        let (validity, entries) = self.read()?;
        let listed = |CachedEntry { name, kind, is_ignored, below }: CachedEntry<'k>| ListedEntry {
            name: name.into(),
            kind,
            is_ignored,
            below: below.map(DirectoryListing::Cached),
        };
        Some((validity, entries.map(|entry| entry.map(listed)).collect::<Option<_>>()?))
    }
}

/// The listing of a directory after a walk.
#[derive(Debug, Clone)]
pub(super) enum DirectoryListing<'k> {
    /// Unchanged in the cache, including all subdirectories.
    Cached(CachedDirectory<'k>),
    /// Changed: the entries in the order of paths.
    Fresh(Validity, Vec<ListedEntry<'k>>),
}

impl<'k> DirectoryListing<'k> {
    /// Its entries in the order of paths, and what must be unchanged for them to be valid; `None` if the encoding is malformed.
    pub(super) fn entries(&self) -> Option<(Validity, Cow<'_, [ListedEntry<'k>]>)> {
        Some(match self {
            Self::Fresh(validity, entries) => (*validity, Cow::Borrowed(entries)),
            Self::Cached(directory) => {
                let (validity, entries) = directory.to_entries()?;
                (validity, Cow::Owned(entries))
            }
        })
    }
}

/// An entry of a directory to write; see [`CachedEntry`].
#[derive(Debug, Clone)]
pub(super) struct ListedEntry<'k> {
    pub(super) name: Cow<'k, OsStr>,
    pub(super) kind: FileKind,
    pub(super) is_ignored: bool,
    pub(super) below: Option<DirectoryListing<'k>>,
}

/// Writes the listing of the root to `file`.
pub(super) fn write(file: &CacheFile, root: &DirectoryListing<'_>) -> io::Result<()> {
    let mut content = Vec::new();
    let Some(at) = put(&mut content, root) else { return Ok(()) };
    content.extend_from_slice(&at.to_le_bytes());
    file.append(&format(), None, &content).map(drop)
}

/// Appends a directory after its subdirectories, and returns its offset; `None` if the file would become too large.
fn put(out: &mut Vec<u8>, seen: &DirectoryListing<'_>) -> Option<u32> {
    if out.len() as u64 > MAX_WALK {
        return None;
    }
    let (Validity { mut stamp, rules }, entries) = seen.entries()?;
    // Names with secrets are not stored; a directory with one is read again by the next walk.
    let has_secret = |entry: &&ListedEntry<'_>| entry.name.to_str().is_some_and(aurora_redact::has_secret);
    let (secret, entries): (Vec<_>, Vec<_>) = entries.iter().partition(has_secret);
    if !secret.is_empty() {
        stamp = DirectoryStamp::default();
    }
    let mut below = Vec::with_capacity(entries.len());
    for entry in &entries {
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

/// The format of the file.
pub(super) fn format() -> Format {
    Format::new(MAGIC, VERSION, &[])
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
