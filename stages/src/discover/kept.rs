//! What a walk saw, kept for the next one: a directory whose [`Stamp`] is still the same need not be read again, and where
//! the rules of ignore files are the same too, they need not be asked.
//!
//! Layout of the file, all numbers little-endian: [`MAGIC`] · version (u32) · BLAKE3 of the rest · directories, each behind
//! those that it holds · where the root is (u32). A directory: stamp (four times 8 bytes) · digest of the rules (8 bytes) ·
//! number of entries (u32) · entries in the order of paths. An entry: kind, [`IGNORED`] added if it is (u8) · where the
//! directory is, or 0 (u32) · bytes of the name (u16) · name. A file that is cut short, damaged or of another version is as
//! good as none.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::Path;

use super::listing::{Kind, Stamp};

const MAGIC: &[u8; 8] = b"AURTREE\n";
/// Raised when the layout changes, or what ignore files mean.
const VERSION: u32 = 1;
/// Bytes in front of the directories.
const HEAD: usize = MAGIC.len() + size_of::<u32>() + blake3::OUT_LEN;

/// By the number that stands for them.
const KINDS: [Kind; 4] = [Kind::File, Kind::Directory, Kind::Link, Kind::Other];
const IGNORED: u8 = 0x80;

/// What has to be the same for the entries of a directory to be those that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Conditions {
    /// For the entries; the default one if it cannot be relied on.
    pub(super) stamp: Stamp,
    /// For whether they are ignored: see [`Rules::digest`](super::rules::Rules::digest).
    pub(super) rules: u64,
}

/// A walk that was kept.
#[derive(Debug)]
pub(super) struct KeptWalk(Vec<u8>);

impl KeptWalk {
    /// The walk that `file` keeps; nothing if there is none that can be used.
    pub(super) fn read(file: &Path) -> Option<Self> {
        let bytes = fs::read(file).ok()?;
        let (head, rest) = bytes.split_at_checked(HEAD)?;
        let is_whole = *head == *self::head(rest);
        is_whole.then_some(Self(bytes))
    }

    /// The directory that was walked.
    pub(super) fn root(&self) -> Option<KeptDirectory<'_>> {
        let (bytes, at) = self.0.split_last_chunk()?;
        Some(KeptDirectory { bytes, at: u32::from_le_bytes(*at) })
    }
}

/// What was seen of a directory and of those below it.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeptDirectory<'k> {
    bytes: &'k [u8],
    at: u32,
}

/// An entry of a directory.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeptEntry<'k> {
    pub(super) name: &'k OsStr,
    pub(super) kind: Kind,
    pub(super) is_ignored: bool,
    /// What was seen below it, if it is a directory that was walked.
    pub(super) below: Option<KeptDirectory<'k>>,
}

impl<'k> KeptDirectory<'k> {
    /// Its entries, and under which conditions they are known; `None` if it does not make sense.
    pub(super) fn read(self) -> Option<(Conditions, impl Iterator<Item = Option<KeptEntry<'k>>>)> {
        let mut rest = self.bytes.get(self.at as usize..)?;
        let (device, inode) = (u64::from_le_bytes(take(&mut rest)?), u64::from_le_bytes(take(&mut rest)?));
        let (changed, modified) = (i64::from_le_bytes(take(&mut rest)?), i64::from_le_bytes(take(&mut rest)?));
        let rules = u64::from_le_bytes(take(&mut rest)?);
        let count = u32::from_le_bytes(take(&mut rest)?);
        let entries = (0..count).map(move |_| self.entry(&mut rest));
        Some((Conditions { stamp: Stamp { device, inode, changed, modified }, rules }, entries))
    }

    fn entry(self, rest: &mut &'k [u8]) -> Option<KeptEntry<'k>> {
        let [kind] = take(rest)?;
        let at = u32::from_le_bytes(take(rest)?);
        let len = u16::from_le_bytes(take(rest)?);
        let (name, after) = rest.split_at_checked(len.into())?;
        *rest = after;
        let below = (at > 0).then_some(KeptDirectory { at, ..self });
        let is_ignored = kind & IGNORED != 0;
        Some(KeptEntry { name: os_str(name)?, kind: *KINDS.get(usize::from(kind & !IGNORED))?, is_ignored, below })
    }

    /// The same as if it had been seen again.
    fn again(self) -> Option<(Conditions, Vec<SeenEntry<'k>>)> {
        let (conditions, entries) = self.read()?;
        let seen = |KeptEntry { name, kind, is_ignored, below }: KeptEntry<'k>| SeenEntry {
            name: name.into(),
            kind,
            is_ignored,
            below: below.map(Seen::Kept),
        };
        Some((conditions, entries.map(|entry| entry.map(seen)).collect::<Option<_>>()?))
    }
}

/// What a walk has seen of a directory.
#[derive(Debug)]
pub(super) enum Seen<'k> {
    /// What is kept already, down to the last directory.
    Kept(KeptDirectory<'k>),
    /// Something else: the entries in the order of paths.
    New(Conditions, Vec<SeenEntry<'k>>),
}

/// An entry of a directory, as [`KeptEntry`].
#[derive(Debug)]
pub(super) struct SeenEntry<'k> {
    pub(super) name: Cow<'k, OsStr>,
    pub(super) kind: Kind,
    pub(super) is_ignored: bool,
    pub(super) below: Option<Seen<'k>>,
}

/// Keeps what was seen of the root in `file`.
pub(super) fn write(file: &Path, root: &Seen<'_>) -> io::Result<()> {
    let mut bytes = vec![0; HEAD];
    let Some(at) = put(&mut bytes, root) else { return Ok(()) };
    bytes.extend_from_slice(&at.to_le_bytes());
    seal(&mut bytes);
    let new = file.with_extension("new");
    let written = fs::write(&new, bytes).and_then(|()| fs::rename(&new, file));
    if written.is_err() {
        // Nothing can be done about it here; the next walk writes over it.
        let _ = fs::remove_file(&new);
    }
    written
}

/// Appends a directory behind those below it and tells where it is; `None` if there is more than can be counted.
fn put(out: &mut Vec<u8>, seen: &Seen<'_>) -> Option<u32> {
    let known;
    let (Conditions { stamp, rules }, entries) = match seen {
        Seen::New(conditions, entries) => (*conditions, entries),
        Seen::Kept(directory) => {
            known = directory.again()?;
            (known.0, &known.1)
        }
    };
    let mut below = Vec::with_capacity(entries.len());
    for entry in entries {
        below.push(entry.below.as_ref().map_or(Some(0), |seen| put(out, seen))?);
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

/// Puts the head in front of what follows it.
pub(super) fn seal(bytes: &mut [u8]) {
    let head = head(&bytes[HEAD..]);
    bytes[..HEAD].copy_from_slice(&head);
}

fn head(rest: &[u8]) -> Vec<u8> {
    [MAGIC.as_slice(), &VERSION.to_le_bytes(), blake3::hash(rest).as_bytes()].concat()
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
