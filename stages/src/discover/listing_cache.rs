//! A cache of directory listings. A directory whose [`DirectoryStamp`] is unchanged need not be read. If the ignore
//! rules of the directory are unchanged too, they need not be evaluated.
//!
//! The file is an [`aurora_cachefile`] with one segment. All numbers are little-endian. The content consists of the
//! directories, each after its subdirectories, and the offset of the root (u32).
//!
//! - Directory: stamp (four times 8 bytes) · digest of the rules (8 bytes) · number of entries (u32) · entries in the
//!   order of paths.
//! - Entry: kind, with [`IGNORED`] set if the entry is ignored (u8) · offset of its listing plus 1, or 0 if it has no
//!   listing (u32) · length of the name (u16) · name.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use super::listing::{DirectoryStamp, FileKind};
use aurora_cachefile::{CacheFile, Format};
use aurora_codec::ByteReader;

/// Maximum size of the cache of directory listings in bytes, enough for some five million files.
pub(crate) const MAX_WALK_BYTES: u64 = 256 << 20;

const MAGIC: &[u8; 8] = b"AURTREE\n";
/// Increased when the layout of this cache changes, or the interpretation of ignore files.
const VERSION: u32 = 1;

/// The kinds of entries, by their number in the file.
const KINDS: [FileKind; 4] = [FileKind::File, FileKind::Directory, FileKind::Link, FileKind::Other];
/// Flag in the kind of an entry: the ignore rules exclude the entry.
const IGNORED: u8 = 0x80;
/// Minimum size of an entry, in bytes: the fields before its name.
const MIN_ENTRY_BYTES: usize = 7;

/// Validity of a cached listing: the listing can be used while these values are unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Validity {
    /// Stamp on which the entries depend. The default stamp means that the listing must not be reused.
    pub(super) stamp: DirectoryStamp,
    /// Digest of the rules that decide whether entries are ignored, see [`Rules::digest`](super::rules::Rules::digest).
    pub(super) rules: u64,
}

/// The listings of an earlier walk.
pub(super) struct ListingCache {
    bytes: Vec<u8>,
    /// Range of the content within `bytes`.
    content: Range<usize>,
}

impl ListingCache {
    /// Reads the listings in `file`. Returns `None` if the file is missing or cannot be used.
    pub(super) fn read(file: &CacheFile) -> Option<Self> {
        let bytes = file.read(&format())?;
        let content = file.segments(&bytes, &format()).next()?;
        Some(Self { bytes, content })
    }

    /// Returns the root of the walk.
    pub(super) fn root(&self) -> Option<CachedDirectory<'_>> {
        let (bytes, at) = self.content().split_last_chunk()?;
        Some(CachedDirectory { bytes, at: u32::from_le_bytes(*at) })
    }

    /// Returns the encoded directories and the offset of the root.
    pub(super) fn content(&self) -> &[u8] {
        &self.bytes[self.content.clone()]
    }
}

/// Returns the directories that the cache file lists, relative to the root of the walk. The path of the root is empty.
/// Returns `None` if the file does not exist or is damaged.
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
    /// Listing of the entry, if it is a directory that was walked.
    pub(super) below: Option<CachedDirectory<'k>>,
}

impl<'k> CachedDirectory<'k> {
    /// Returns the entries and their validity, or `None` if the encoding is malformed.
    pub(super) fn read(self) -> Option<(Validity, impl Iterator<Item = Option<CachedEntry<'k>>>)> {
        let mut reader = ByteReader::new(self.bytes.get(self.at as usize..)?);
        let (device, inode) = (reader.u64()?, reader.u64()?);
        let (changed, modified) = (reader.i64()?, reader.i64()?);
        let (rules, count) = (reader.u64()?, reader.u32()?);
        if count as usize > reader.rest().len() / MIN_ENTRY_BYTES {
            return None;
        }
        let entries = (0..count).map(move |_| self.entry(&mut reader));
        Some((Validity { stamp: DirectoryStamp { device, inode, changed, modified }, rules }, entries))
    }

    fn entry(self, reader: &mut ByteReader<'k>) -> Option<CachedEntry<'k>> {
        let (kind, at, len) = (reader.byte()?, reader.u32()?, reader.u16()?);
        let name = reader.take(len.into())?;
        // A directory must come after its subdirectories. This check prevents a malformed file from causing a loop.
        let below = at.checked_sub(1).map(|at| CachedDirectory { at, ..self });
        if below.is_some_and(|below| below.at >= self.at) || matches!(name, b"" | b"." | b"..") || name.contains(&b'/')
        {
            return None;
        }
        let is_ignored = kind & IGNORED != 0;
        Some(CachedEntry { name: os_str(name)?, kind: *KINDS.get(usize::from(kind & !IGNORED))?, is_ignored, below })
    }

    /// Converts the listing to entries that can be written.
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
    /// The cached listing is unchanged, including all subdirectories.
    Cached(CachedDirectory<'k>),
    /// The listing has changed. The entries are in the order of paths.
    Fresh(Validity, Vec<ListedEntry<'k>>),
}

impl<'k> DirectoryListing<'k> {
    /// Returns the entries in the order of paths and their validity, or `None` if the encoding is malformed.
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

/// An entry of a directory to write, see [`CachedEntry`].
#[derive(Debug, Clone)]
pub(super) struct ListedEntry<'k> {
    pub(super) name: Cow<'k, OsStr>,
    pub(super) kind: FileKind,
    pub(super) is_ignored: bool,
    pub(super) below: Option<DirectoryListing<'k>>,
}

/// Writes the listing of the root to `file`, unless the listing is too large to be encoded.
pub(super) fn write(file: &CacheFile, root: &DirectoryListing<'_>) -> io::Result<()> {
    let mut content = Vec::new();
    let Some(at) = encode_directory(&mut content, root) else { return Ok(()) };
    content.extend_from_slice(&at.to_le_bytes());
    file.append(&format(), None, &content).map(drop)
}

/// Appends a directory after its subdirectories and returns its offset. Returns `None` if the file would become too
/// large.
fn encode_directory(out: &mut Vec<u8>, seen: &DirectoryListing<'_>) -> Option<u32> {
    if out.len() as u64 > MAX_WALK_BYTES {
        return None;
    }
    let (Validity { mut stamp, rules }, entries) = seen.entries()?;
    // Names with secrets are not stored. The next walk reads their directory again.
    let has_secret = |entry: &&ListedEntry<'_>| entry.name.to_str().is_some_and(aurora_redact::has_secret);
    let (secret, entries): (Vec<_>, Vec<_>) = entries.iter().partition(has_secret);
    if !secret.is_empty() {
        stamp = DirectoryStamp::default();
    }
    let mut below = Vec::with_capacity(entries.len());
    for entry in &entries {
        let at = entry.below.as_ref().map(|seen| encode_directory(out, seen));
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

/// Returns the format of the cache file.
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
