//! The stat data of everything that a walk has looked at. While it is the same, another walk would find the same.
//!
//! A listing follows from the stamp of its directory, the rules of ignore files from the stamps of these files, and the rules from
//! outside of the tree are read again. The directories that are skipped because of what they contain are judged again.
//!
//! All numbers are little-endian: digest of the rules in the root (u64) · number of judged directories (u32), each: path (sized) ·
//! whether it is skipped (u8) · directories, each: length of what follows (u32) · path (sized) · stamp (four times 8 bytes) · files,
//! each: name (sized) · size, mtime, ctime, inode (four times 8 bytes).

use std::ffi::OsStr;
use std::iter::Peekable;
use std::path::Path;

use aurora_codec::{ByteReader, put_sized};
use aurora_pipeline::CancelToken;
use aurora_redact::has_secret;
use aurora_storage::FileStamp;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::listing::{DirectoryHandle, DirectoryStamp, FileKind, FileMetadata};
use super::listing_cache::DirectoryListing;
use super::rules::{IgnoreFiles, Rules, is_ignore_file};
use super::skip;
use crate::git_signal::Repository;
use crate::services::SourceTree;

/// Directories that one task compares.
const DIRECTORIES_PER_TASK: usize = 64;

/// What a walk tells of the files that it has looked at.
pub(super) struct LookedAt<'a, F: Iterator<Item = (&'a str, FileMetadata)>> {
    /// The files that it has found, sorted by path.
    pub(super) files: Peekable<F>,
    /// Whether files of this name are left out without a look at their metadata.
    pub(super) is_left_out: &'a dyn Fn(&str) -> bool,
    /// Whether a file with this mtime or ctime, in nanoseconds since the epoch, would get another one if it changed now.
    pub(super) is_settled: &'a dyn Fn(i64) -> bool,
}

/// Encodes the stat data of a walk over the tree at `root`, which has the listing `listing`.
///
/// `None` if stat data does not show every change: times that are not reliable or too recent, a repository below the root, or a
/// name that must not be stored.
pub(super) fn encode<'a, F: Iterator<Item = (&'a str, FileMetadata)>>(
    root: &Path,
    listing: &DirectoryListing<'_>,
    files: LookedAt<'a, F>,
) -> Option<Vec<u8>> {
    let root = DirectoryHandle::open(root).ok()?;
    let mut encoder = Encoder { root, files, judged: Vec::new(), judged_count: 0, directories: Vec::new() };
    let rules = encoder.directory(&mut String::new(), listing)?;
    let mut out = rules.to_le_bytes().to_vec();
    out.extend_from_slice(&encoder.judged_count.to_le_bytes());
    out.append(&mut encoder.judged);
    out.append(&mut encoder.directories);
    Some(out)
}

struct Encoder<'a, F: Iterator<Item = (&'a str, FileMetadata)>> {
    root: DirectoryHandle,
    /// With the files that are not encoded yet.
    files: LookedAt<'a, F>,
    judged: Vec<u8>,
    judged_count: u32,
    directories: Vec<u8>,
}

impl<'a, F: Iterator<Item = (&'a str, FileMetadata)>> Encoder<'a, F> {
    /// Encodes a directory and those below it, and returns the digest of its rules. `path` ends in `/`, or is empty for the root.
    fn directory(&mut self, path: &mut String, listing: &DirectoryListing<'_>) -> Option<u64> {
        let (validity, entries) = listing.entries()?;
        if validity.stamp == DirectoryStamp::default() {
            return None;
        }
        let mut bytes = Vec::new();
        put_sized(&mut bytes, path.as_bytes());
        let DirectoryStamp { device, inode, changed, modified } = validity.stamp;
        put_numbers(&mut bytes, [device, inode, changed as u64, modified as u64]);
        let length = path.len();
        for entry in &*entries {
            let name = match entry.name.to_str() {
                Some(name) if has_secret(name) || name == ".git" && length > 0 => return None,
                Some(name) => name,
                None if entry.below.is_some() => return None,
                // Whatever it is, it is left out because of its name.
                None => continue,
            };
            path.truncate(length);
            path.push_str(name);
            match (entry.kind, &entry.below) {
                (FileKind::File, _) if is_ignore_file(name) || !entry.is_ignored => {
                    if let Some(FileMetadata { size, stamp }) = self.metadata(path, name)? {
                        put_sized(&mut bytes, name.as_bytes());
                        let FileStamp { modified, changed, inode } = stamp;
                        put_numbers(&mut bytes, [size, modified as u64, changed as u64, inode]);
                    }
                }
                (FileKind::Directory, below) => {
                    if skip::is_judged(name) && !entry.is_ignored {
                        put_sized(&mut self.judged, path.as_bytes());
                        self.judged.push(u8::from(below.is_none()));
                        self.judged_count += 1;
                    }
                    if let Some(below) = below {
                        path.push('/');
                        self.directory(path, below)?;
                    }
                }
                _ => {}
            }
        }
        path.truncate(length);
        self.directories.extend_from_slice(&u32::try_from(bytes.len()).ok()?.to_le_bytes());
        self.directories.append(&mut bytes);
        Some(validity.rules)
    }

    /// The metadata of a file of which the walk has looked at more than the name. `None` if it may change without a change of the
    /// metadata, or is gone.
    fn metadata(&mut self, path: &str, name: &str) -> Option<Option<FileMetadata>> {
        let LookedAt { files, is_left_out, is_settled } = &mut self.files;
        let metadata = match files.next_if(|(found, _)| *found == path) {
            Some((_, metadata)) => metadata,
            None if !is_ignore_file(name) && is_left_out(name) => return Some(None),
            // What has changed since the walk is too recent.
            None => self.root.metadata(OsStr::new(path)).ok()?,
        };
        let FileStamp { modified, changed, .. } = metadata.stamp;
        (is_settled(modified) && is_settled(changed)).then_some(Some(metadata))
    }
}

/// Whether a walk of `tree` would find the same as the walk whose stat data is in `table`. Also false if that is unknown,
/// or `cancel` ends the comparison.
pub(super) fn is_current(
    table: &[u8],
    tree: &SourceTree,
    repository: &Repository,
    threads: usize,
    cancel: &CancelToken,
) -> bool {
    let is_current = || {
        let root = DirectoryHandle::open(tree.root.path()).ok()?;
        root.device_with_stamps()?;
        let mut reader = ByteReader::new(table);
        let mut warnings = Vec::new();
        let rules = Rules::above(tree.root.path(), &mut warnings);
        let rules = rules.within(tree.root.path(), &tree.root, IgnoreFiles::ALL).ok()?;
        if reader.u64()? != rules.digest() || !warnings.is_empty() {
            return None;
        }
        for _ in 0..reader.u32()? {
            let (path, is_skipped) = (reader.text()?, reader.byte()? == 1);
            let name = path.rsplit('/').next()?;
            let tracks = || repository.tracks(path);
            if skip::is_skipped_directory(&tree.root.path().join(path), name, tracks) != is_skipped {
                return None;
            }
        }
        let mut directories = Vec::new();
        while !reader.is_empty() {
            let length = reader.u32()?;
            directories.push(reader.take(length as usize)?);
        }
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().ok()?;
        let is_same = |directory: &&[u8]| is_directory_unchanged(&root, directory).is_some();
        pool.install(|| {
            directories.par_chunks(DIRECTORIES_PER_TASK).all(|some| !cancel.is_cancelled() && some.iter().all(is_same))
        })
        .then_some(())
    };
    is_current().is_some()
}

/// Compares an encoded directory and its files with their metadata; `None` if they differ.
fn is_directory_unchanged(root: &DirectoryHandle, directory: &[u8]) -> Option<()> {
    let mut reader = ByteReader::new(directory);
    let path = reader.text()?.trim_end_matches('/');
    let stamp = |reader: &mut ByteReader<'_>| {
        let (device, inode, changed, modified) = (reader.u64()?, reader.u64()?, reader.i64()?, reader.i64()?);
        Some(DirectoryStamp { device, inode, changed, modified })
    };
    let stamp = stamp(&mut reader)?;
    let directory = if path.is_empty() { root.clone() } else { root.inner(OsStr::new(path)) };
    // Many directories have no file, which need not be opened.
    let directory = if reader.is_empty() { directory } else { directory.opened().ok()? };
    if directory.stamp()? != stamp {
        return None;
    }
    while !reader.is_empty() {
        let name = OsStr::new(reader.text()?);
        let (size, modified, changed, inode) = (reader.u64()?, reader.i64()?, reader.i64()?, reader.u64()?);
        if directory.metadata(name).ok()? != (FileMetadata { size, stamp: FileStamp { modified, changed, inode } }) {
            return None;
        }
    }
    Some(())
}

fn put_numbers(out: &mut Vec<u8>, numbers: [u64; 4]) {
    numbers.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
}
