//! A table of the stat data of all paths that a walk inspected. While the stat data is unchanged, another walk would
//! return the same result.
//!
//! The stamp of a directory covers its listing, and the stamps of ignore files cover their rules. A comparison reads
//! the rules from outside the tree again, and inspects the directories again that are skipped because of their
//! contents.
//!
//! Layout, with all numbers little-endian: digest of the rules in the root (u64) · number of inspected directories
//! (u32) · inspected directories · directories.
//!
//! - Inspected directory: path (sized) · whether it is skipped (u8).
//! - Directory: length of the following fields (u32) · path (sized) · stamp (four times 8 bytes) · number of files
//!   (u32) · files.
//! - File: name (sized) · size (varint) · ctime and inode minus those of the previous file, mtime minus ctime (zigzag).
//!   The first file is relative to the directory.

use std::ffi::OsStr;
use std::iter::Peekable;
use std::path::Path;

use aurora_codec::{ByteReader, put_sized, put_varint, put_zigzag};
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

/// Minimum number of files for which a directory is opened. An open directory makes `stat` of its files cheaper.
const MIN_FILES_OPEN: u32 = 4;
/// Maximum number of directories that one task compares.
const DIRECTORIES_PER_TASK: usize = 64;

/// The files of a walk, and the criteria of the walk for names and times.
pub(super) struct VisitedFiles<'a, F: Iterator<Item = (&'a str, FileMetadata)>> {
    /// The files that the walk found, sorted by path.
    pub(super) files: Peekable<F>,
    /// Whether files with this name are omitted without reading their metadata.
    pub(super) is_omitted: &'a dyn Fn(&str) -> bool,
    /// Whether directories with this name are skipped regardless of their contents.
    pub(super) is_skipped: &'a dyn Fn(&str) -> bool,
    /// Whether a file with this mtime or ctime, in nanoseconds since the epoch, would get a different time if it
    /// changed now.
    pub(super) is_settled: &'a dyn Fn(i64) -> bool,
}

/// Encodes the stat data of a walk over the tree at `root` with the given listing.
///
/// Returns `None` if the stat data would not show every change. This is the case if some times are unreliable or too
/// recent, if a repository is below the root, or if a name must not be stored because it contains a secret.
pub(super) fn encode<'a, F: Iterator<Item = (&'a str, FileMetadata)>>(
    root: &Path,
    listing: &DirectoryListing<'_>,
    files: VisitedFiles<'a, F>,
) -> Option<Vec<u8>> {
    let root = DirectoryHandle::open(root).ok()?;
    let mut encoder = Encoder { root, files, inspected: Vec::new(), inspected_count: 0, directories: Vec::new() };
    let rules = encoder.directory(&mut String::new(), listing)?;
    let mut out = rules.to_le_bytes().to_vec();
    out.extend_from_slice(&encoder.inspected_count.to_le_bytes());
    out.append(&mut encoder.inspected);
    out.append(&mut encoder.directories);
    Some(out)
}

struct Encoder<'a, F: Iterator<Item = (&'a str, FileMetadata)>> {
    root: DirectoryHandle,
    /// The files that are not encoded yet.
    files: VisitedFiles<'a, F>,
    inspected: Vec<u8>,
    inspected_count: u32,
    directories: Vec<u8>,
}

impl<'a, F: Iterator<Item = (&'a str, FileMetadata)>> Encoder<'a, F> {
    /// Encodes a directory and its subdirectories, and returns the digest of its rules. `path` ends in `/`, or is empty
    /// for the root.
    fn directory(&mut self, path: &mut String, listing: &DirectoryListing<'_>) -> Option<u64> {
        let (validity, entries) = listing.entries()?;
        if validity.stamp == DirectoryStamp::default() {
            return None;
        }
        let mut bytes = Vec::new();
        put_sized(&mut bytes, path.as_bytes());
        let DirectoryStamp { device, inode, changed, modified } = validity.stamp;
        for number in [device, inode, changed as u64, modified as u64] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let mut previous = PreviousStamp { changed, inode };
        let (length, count_at, mut count) = (path.len(), bytes.len(), 0u32);
        bytes.extend_from_slice(&count.to_le_bytes());
        for entry in &*entries {
            let name = match entry.name.to_str() {
                Some(name) if has_secret(name) || name == ".git" && length > 0 => return None,
                Some(name) => name,
                None if entry.kind == FileKind::Directory && !entry.is_ignored => return None,
                // The walk omits the entry because its name is not UTF-8.
                None => continue,
            };
            path.truncate(length);
            path.push_str(name);
            match (entry.kind, &entry.below) {
                (FileKind::File, _) if is_ignore_file(name) || !entry.is_ignored => {
                    if let Some(FileMetadata { size, stamp }) = self.metadata(path, name)? {
                        put_sized(&mut bytes, name.as_bytes());
                        put_varint(&mut bytes, size);
                        previous.put(&mut bytes, stamp);
                        count += 1;
                    }
                }
                (FileKind::Directory, below) => {
                    // A linked work tree is omitted because of a file inside it, not because of its name.
                    let is_named = entry.is_ignored || skip::needs_inspection(name) || (self.files.is_skipped)(name);
                    if below.is_none() && !is_named {
                        return None;
                    }
                    if skip::needs_inspection(name) && !entry.is_ignored {
                        put_sized(&mut self.inspected, path.as_bytes());
                        self.inspected.push(u8::from(below.is_none()));
                        self.inspected_count += 1;
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
        bytes[count_at..][..size_of::<u32>()].copy_from_slice(&count.to_le_bytes());
        self.directories.extend_from_slice(&u32::try_from(bytes.len()).ok()?.to_le_bytes());
        self.directories.append(&mut bytes);
        Some(validity.rules)
    }

    /// Returns the metadata of a file, or `Some(None)` if the walk needed only its name. Returns `None` if the file
    /// does not exist, or could change without a change of its metadata.
    fn metadata(&mut self, path: &str, name: &str) -> Option<Option<FileMetadata>> {
        let VisitedFiles { files, is_omitted, is_settled, .. } = &mut self.files;
        let metadata = match files.next_if(|(found, _)| *found == path) {
            Some((_, metadata)) => metadata,
            None if !is_ignore_file(name) && is_omitted(name) => return Some(None),
            // The walk did not read the metadata. If the file has changed since the walk, its times are too recent.
            None => self.root.metadata(OsStr::new(path)).ok()?,
        };
        let FileStamp { modified, changed, .. } = metadata.stamp;
        (is_settled(modified) && is_settled(changed)).then_some(Some(metadata))
    }
}

/// Whether a walk of `tree` would return the same result as the walk whose stat data is in `table`. Returns false if
/// this is unknown or if `cancel` ends the comparison.
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
        let rules = reader.u64()?;
        let inspected: Vec<(&str, bool)> =
            (0..reader.u32()?).map(|_| Some((reader.text()?, reader.byte()? == 1))).collect::<Option<_>>()?;
        let mut directories = Vec::new();
        while !reader.is_empty() {
            let length = reader.u32()?;
            directories.push(reader.take(length as usize)?);
        }
        let are_rules_same = || {
            rules_of_root(tree) == Some(rules)
                && inspected.iter().all(|&(path, is_skipped)| is_skipped_as_before(path, is_skipped, tree, repository))
        };
        let are_same = |some: &[&[u8]]| {
            // Each task opens the root itself, because threads that share one handle would contend for its reference
            // count.
            let root = DirectoryHandle::open(tree.root.path()).ok();
            let Some(root) = root.filter(|_| !cancel.is_cancelled()) else { return false };
            some.iter().all(|directory| is_directory_unchanged(&root, directory).is_some())
        };
        let are_same = || directories.par_chunks(DIRECTORIES_PER_TASK).all(are_same);
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().ok()?;
        // Reading the rules may wait for git, so compare the directories in parallel.
        let (directories, rules) = pool.install(|| rayon::join(are_same, are_rules_same));
        (directories && rules).then_some(())
    };
    is_current().is_some()
}

/// Returns the digest of the rules in the root, or `None` if an ignore file cannot be read.
fn rules_of_root(tree: &SourceTree) -> Option<u64> {
    let mut warnings = Vec::new();
    let rules = Rules::above(tree.root.path(), &mut warnings);
    let rules = rules.within(tree.root.path(), &tree.root, IgnoreFiles::ALL).ok()?;
    warnings.is_empty().then(|| rules.digest())
}

/// Whether a walk would make the same decision to skip a directory as before.
fn is_skipped_as_before(path: &str, is_skipped: bool, tree: &SourceTree, repository: &Repository) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    skip::is_skipped_directory(&tree.root.path().join(path), name, || repository.tracks(path)) == is_skipped
}

/// Compares the encoded stat data of a directory and its files with the current stat data. Returns `None` if they
/// differ.
fn is_directory_unchanged(root: &DirectoryHandle, directory: &[u8]) -> Option<()> {
    let mut reader = ByteReader::new(directory);
    let path = reader.text()?.trim_end_matches('/');
    let (device, inode) = (reader.u64()?, reader.u64()?);
    let stamp = DirectoryStamp { device, inode, changed: reader.i64()?, modified: reader.i64()? };
    let mut previous = PreviousStamp { changed: stamp.changed, inode };
    let directory = if path.is_empty() { root.clone() } else { root.inner(OsStr::new(path)) };
    let directory = if reader.u32()? < MIN_FILES_OPEN { directory } else { directory.opened().ok()? };
    if directory.stamp()? != stamp {
        return None;
    }
    while !reader.is_empty() {
        let name = OsStr::new(reader.text()?);
        let (size, stamp) = (reader.varint()?, previous.read(&mut reader)?);
        if directory.metadata(name).ok()? != (FileMetadata { size, stamp }) {
            return None;
        }
    }
    Some(())
}

/// The previous stamp, relative to which the next stamp is encoded.
struct PreviousStamp {
    changed: i64,
    inode: u64,
}

impl PreviousStamp {
    fn put(&mut self, out: &mut Vec<u8>, stamp: FileStamp) {
        let FileStamp { modified, changed, inode } = stamp;
        put_zigzag(out, changed.wrapping_sub(self.changed));
        put_zigzag(out, modified.wrapping_sub(changed));
        put_zigzag(out, inode.wrapping_sub(self.inode) as i64);
        *self = Self { changed, inode };
    }

    fn read(&mut self, reader: &mut ByteReader<'_>) -> Option<FileStamp> {
        let changed = self.changed.wrapping_add(reader.zigzag()?);
        let modified = changed.wrapping_add(reader.zigzag()?);
        let inode = self.inode.wrapping_add(reader.zigzag()? as u64);
        *self = Self { changed, inode };
        Some(FileStamp { modified, changed, inode })
    }
}
