//! The parallel walk from a root directory to a sorted list of source files and a list of omissions.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use aurora_confined as confined;
use aurora_storage::{FileStamp, ProjectDirectory, UserDirectory};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::listing::{self, DirectoryHandle, DirectoryStamp, FileKind, FileMetadata};
use super::listing_cache::{self, CachedDirectory, CachedEntry, DirectoryListing, ListedEntry, ListingCache, Validity};
use super::rules::{IgnoreFiles, Rules, UnreadableRules, is_checkout, is_linked_work_tree};
use super::skip;
use super::stat_table::{self, VisitedFiles};
use crate::columns::{LanguageName, RelativePath};
use crate::formats::FormatTable;
use crate::services;
use aurora_cachefile::CacheFile;

/// Stack size of a walking thread, in bytes. The walk recurses once for each component of a path.
const STACK_BYTES: usize = 64 << 20;
/// Depth from which directories are closed after they are read, to limit the number of open files.
const MAX_OPEN_DEPTH: usize = 16;
/// Minimum number of entries for which a directory with a cached listing is opened. An open directory makes `stat` of
/// its entries cheaper.
const MIN_ENTRIES_OPEN: usize = 4;

/// A file that may be indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WalkedFile {
    pub(super) path: RelativePath,
    pub(super) size: u64,
    pub(super) stamp: FileStamp,
    pub(super) language: LanguageName,
}

impl WalkedFile {
    /// Whether the file is a conversation log, which is outside the tree.
    pub(super) fn is_log(&self) -> bool {
        self.path.starts_with(UserDirectory::CONVERSATIONS_PREFIX)
    }

    fn path_and_metadata(&self) -> (&str, FileMetadata) {
        (&self.path, FileMetadata { size: self.size, stamp: self.stamp })
    }
}

/// A path that is not indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Omission {
    pub(super) path: String,
    pub(super) reason: Cow<'static, str>,
    /// Whether the path should have been read but could not be.
    pub(super) is_error: bool,
}

/// The result of a walk: files sorted by path, and omissions in a deterministic order.
#[derive(Debug, Default)]
pub(super) struct WalkOutput {
    pub(super) files: Vec<WalkedFile>,
    pub(super) omissions: Vec<Omission>,
    /// Warnings about paths outside the tree.
    pub(super) warnings: Vec<(String, String)>,
    /// Digest of the documents outside the tree.
    pub(super) documents: [u8; 32],
    /// Stat data of the walk, see [`stat_table`].
    pub(super) stat_table: Option<Vec<u8>>,
}

impl WalkOutput {
    /// Adds the entries of a directory and, recursively, of its subdirectories, in order.
    fn add(&mut self, entries: Vec<WalkEntry<'_>>) {
        for entry in entries {
            match entry {
                WalkEntry::File(file) => self.files.push(file),
                WalkEntry::Omitted(omission) => self.omissions.push(omission),
                WalkEntry::Walked(walked) => self.add(walked.entries),
                WalkEntry::Directory(_) | WalkEntry::Index => {}
            }
        }
    }
}

pub(super) struct WalkOptions<'a> {
    pub(super) root: &'a confined::Directory,
    pub(super) threads: usize,
    pub(super) max_file_size: u64,
    pub(super) skip_directories: &'a [String],
    /// The only file to find, if the walk is restricted. All other entries of its parent directories are omitted
    /// without a report.
    pub(super) only: Option<&'a str>,
    /// Formats of the files that are indexed.
    pub(super) formats: &'a FormatTable,
    /// The cache of directory listings, or `None` to use no cache.
    pub(super) cache: Option<&'a CacheFile>,
    /// Whether the walk may use the content of the cache. The walk writes the cache in any case.
    pub(super) uses_cache: bool,
    /// Whether to produce a [`stat_table`].
    pub(super) has_stat_table: bool,
    /// Returns whether git tracks a file below a directory.
    pub(super) is_tracked: &'a (dyn Fn(&str) -> bool + Sync),
    /// Returns whether a directory with this ctime, in nanoseconds since the epoch, would get a different ctime if it
    /// changed now.
    pub(super) is_settled: &'a (dyn Fn(i64) -> bool + Sync),
    pub(super) cancelled: &'a (dyn Fn() -> bool + Sync),
}

impl WalkOptions<'_> {
    /// Whether the configuration skips directories with this name.
    fn skips_directories_named(&self, name: &str) -> bool {
        self.skip_directories.iter().any(|other| other == name)
    }

    /// Returns the language of a file, or the reason why files with this name are not indexed.
    pub(super) fn language_of(&self, name: &str) -> Result<LanguageName, &'static str> {
        if let Some(reason) = skip::skipped_file(name) {
            return Err(reason);
        }
        match self.formats.format_of(name) {
            Some(language) => Ok(language),
            None => skip::skipped_extension(name).map_or_else(|| Ok(self.formats.unknown()), Err),
        }
    }
}

/// Walks the tree below the root. Symbolic links are not followed, so there are no loops. Ignore files apply with and
/// without a git repository.
///
/// Every directory is read at most once, and not at all if its stamp equals the stamp in the cache.
pub(super) fn walk(options: &WalkOptions<'_>) -> WalkOutput {
    // The recursion into a deep tree needs more stack than a thread has by default.
    match ThreadPoolBuilder::new().num_threads(options.threads).stack_size(STACK_BYTES).build() {
        Ok(pool) => pool.install(|| walk_with_cache(options)),
        Err(_) => walk_with_cache(options),
    }
}

fn walk_with_cache(options: &WalkOptions<'_>) -> WalkOutput {
    let cached = options.cache.filter(|_| options.uses_cache).and_then(ListingCache::read);
    let mut found = WalkOutput::default();
    let walked = walk_root(options, cached.as_ref().and_then(ListingCache::root), &mut found);
    found.add(walked.entries);
    if let (Some(file), Some(seen), false) = (options.cache, walked.seen, (options.cancelled)()) {
        if options.has_stat_table {
            let visited = VisitedFiles {
                files: found.files.iter().map(WalkedFile::path_and_metadata).peekable(),
                is_omitted: &|name| options.language_of(name).is_err(),
                is_skipped: &|name| options.skips_directories_named(name) || skip::is_always_skipped(name),
                is_settled: options.is_settled,
            };
            found.stat_table = stat_table::encode(options.root.path(), &seen, visited);
        }
        if matches!(seen, DirectoryListing::Fresh(..)) {
            // If this fails, the next walk reads every directory.
            let _ = listing_cache::write(file, &seen);
        }
    }
    found
}

fn walk_root<'k>(
    options: &WalkOptions<'_>,
    cached: Option<CachedDirectory<'k>>,
    found: &mut WalkOutput,
) -> WalkedDirectory<'k> {
    let (path, relative) = (options.root.path().to_owned(), String::new());
    let directory = match DirectoryHandle::open(&path) {
        Ok(directory) => directory,
        Err(error) => return WalkedDirectory::omitted(&relative, (error.to_string().into(), true)),
    };
    let device = options.cache.and_then(|_| directory.device_with_stamps());
    let is_in_checkout = path.ancestors().skip(1).any(is_checkout);
    let pending = PendingDirectory { path, relative, is_text: true, depth: 0, is_in_checkout, directory, cached };
    let rules = Rules::above(options.root.path(), &mut found.warnings);
    TreeWalk { options, device }.walk_directory(&pending, &rules)
}

/// A directory to walk.
struct PendingDirectory<'k> {
    path: PathBuf,
    /// Path relative to the root, ending in `/`. Empty for the root.
    relative: String,
    /// Whether the path is UTF-8. If it is not, `relative` contains replacement characters.
    is_text: bool,
    /// Number of ancestors up to and including the root.
    depth: usize,
    /// Whether an ancestor is a work tree.
    is_in_checkout: bool,
    directory: DirectoryHandle,
    /// The cached listing of the directory, or `None` if the directory is not in the cache.
    cached: Option<CachedDirectory<'k>>,
}

/// An entry of a directory after classification.
enum WalkEntry<'k> {
    File(WalkedFile),
    Omitted(Omission),
    /// A directory that is not walked yet.
    Directory(Box<PendingDirectory<'k>>),
    /// A directory that was walked.
    Walked(WalkedDirectory<'k>),
    /// The project directory `.aurora`, which is skipped without a report.
    Index,
}

/// The result of walking a directory.
#[derive(Default)]
struct WalkedDirectory<'k> {
    /// Entries in the order of paths.
    entries: Vec<WalkEntry<'k>>,
    /// The listing to cache, or `None` if the directory cannot be cached.
    seen: Option<DirectoryListing<'k>>,
}

impl WalkedDirectory<'_> {
    /// Returns the result for a directory that could not be read.
    fn omitted(relative: &str, (reason, is_error): Reason) -> Self {
        let path = if relative.is_empty() { services::ROOT } else { relative.trim_end_matches('/') };
        Self { entries: vec![WalkEntry::Omitted(Omission { path: path.to_owned(), reason, is_error })], seen: None }
    }
}

struct TreeWalk<'a> {
    options: &'a WalkOptions<'a>,
    /// Device of the root, if its file system has reliable stamps. Listings on other devices are not cached.
    device: Option<u64>,
}

impl TreeWalk<'_> {
    /// Walks a directory recursively. Entries are sorted by path: by name, with `/` appended to the names of
    /// directories.
    fn walk_directory<'k>(&self, pending: &PendingDirectory<'k>, outer: &Arc<Rules>) -> WalkedDirectory<'k> {
        if (self.options.cancelled)() {
            return WalkedDirectory::default();
        }
        let (mut listing, directory) = match self.list(pending) {
            Ok(listed) => listed,
            Err(error) => return WalkedDirectory::omitted(&pending.relative, reason_of(&error)),
        };
        let mut present = IgnoreFiles::default();
        listing.entries.iter().for_each(|listed| present.note(&listed.name, listed.kind.as_ref().ok().copied()));
        if present.git && pending.depth > 0 && pending.is_in_checkout && is_linked_work_tree(&pending.path) {
            return WalkedDirectory::omitted(&pending.relative, (LINKED_WORK_TREE.into(), false));
        }
        let (mut entries, rules) = match self.entries(pending, &mut listing, &directory, present, outer) {
            Ok(classified) => classified,
            // Without the rules, it is unknown which entries are ignored, so the whole directory is omitted.
            Err(unreadable) => {
                return WalkedDirectory::omitted(&pending.relative, (unreadable.to_string().into(), true));
            }
        };
        drop(directory);
        let mut below: Vec<&mut WalkEntry<'k>> =
            entries.iter_mut().filter(|entry| matches!(entry, WalkEntry::Directory(_))).collect();
        let descend = |entry: &mut WalkEntry<'k>| {
            if let WalkEntry::Directory(pending) = entry {
                *entry = WalkEntry::Walked(self.walk_directory(pending, &rules));
            }
        };
        match below.as_mut_slice() {
            [only] => descend(only),
            several => several.par_iter_mut().for_each(|entry| descend(entry)),
        }
        let seen = self.device.and_then(|_| listing.into_cache_entry(pending.cached, &mut entries));
        WalkedDirectory { entries, seen }
    }

    /// Returns the entries of a directory, and the handle for reading their metadata.
    fn list<'k>(&self, pending: &PendingDirectory<'k>) -> io::Result<(Listing<'k>, DirectoryHandle)> {
        let stays_open = pending.depth < MAX_OPEN_DEPTH;
        if self.device.is_some()
            && let Some(listing) =
                pending.cached.and_then(|cached| Listing::from_cache(cached, pending.directory.stamp()?))
        {
            let pays = stays_open && listing.entries.len() >= MIN_ENTRIES_OPEN;
            let directory = if pays { pending.directory.opened()? } else { pending.directory.clone() };
            return Ok((listing, directory));
        }
        let directory = pending.directory.opened()?;
        // Read the stamp before the entries, so that a concurrent change makes the stamp outdated.
        let is_reliable =
            |stamp: &DirectoryStamp| Some(stamp.device) == self.device && (self.options.is_settled)(stamp.changed);
        let stamp = self.device.and_then(|_| directory.stamp()).filter(is_reliable).unwrap_or_default();
        let listing = Listing::read(stamp, directory.entries()?, pending.cached);
        Ok((listing, if stays_open { directory } else { pending.directory.clone() }))
    }

    /// Classifies the entries of a directory. Returns the classified entries and the rules that apply in the directory.
    ///
    /// # Errors
    /// Fails if an ignore file cannot be read.
    fn entries<'k>(
        &self,
        pending: &PendingDirectory<'k>,
        listing: &mut Listing<'k>,
        directory: &DirectoryHandle,
        present: IgnoreFiles,
        outer: &Arc<Rules>,
    ) -> Result<(Vec<WalkEntry<'k>>, Arc<Rules>), UnreadableRules> {
        let rules = outer.within(&pending.path, self.options.root, present)?;
        if let Some(path) = self.options.only {
            let name =
                path.strip_prefix(&pending.relative).and_then(|below| below.split('/').next()).unwrap_or_default();
            listing.entries.retain(|listed| *listed.name == *name);
        }
        if listing.rules.replace(rules.digest()) != Some(rules.digest()) {
            let mut path = pending.path.join("");
            for listed in &mut listing.entries {
                path.push(&listed.name);
                listed.is_ignored = rules.ignores(&path, matches!(listed.kind, Ok(FileKind::Directory)));
                path.pop();
            }
        }
        let is_in_checkout = pending.is_in_checkout || present.git && is_checkout(&pending.path);
        let relative = pending.relative.clone();
        let mut filter = EntryFilter { options: self.options, pending, is_in_checkout, directory, relative };
        Ok((listing.entries.iter().map(|listed| filter.entry(listed)).collect(), rules))
    }
}

/// The entries of a directory.
struct Listing<'k> {
    /// Stamp of the directory. The default stamp means that the listing must not be reused.
    stamp: DirectoryStamp,
    /// Digest of the rules with which `is_ignored` was computed, or `None` if it was not computed.
    rules: Option<u64>,
    /// Entries in the order of paths.
    entries: Vec<ListingEntry<'k>>,
}

/// An entry and, if it is a directory, its listing in the cache.
struct ListingEntry<'k> {
    name: Cow<'k, OsStr>,
    kind: io::Result<FileKind>,
    is_ignored: bool,
    cached: Option<CachedDirectory<'k>>,
}

impl<'k> Listing<'k> {
    /// Returns the cached listing if the stamp of the directory is unchanged.
    fn from_cache(directory: CachedDirectory<'k>, stamp: DirectoryStamp) -> Option<Self> {
        let (known, entries) = directory.read()?;
        if known.stamp != stamp {
            return None;
        }
        let mut listed = Vec::with_capacity(entries.size_hint().0);
        for entry in entries {
            let CachedEntry { name, kind, is_ignored, below } = entry?;
            listed.push(ListingEntry { name: Cow::Borrowed(name), kind: Ok(kind), is_ignored, cached: below });
        }
        Some(Self { stamp, rules: Some(known.rules), entries: listed })
    }

    /// Creates the listing from the current entries of a directory. Subdirectories can have cached listings even if the
    /// directory has changed.
    fn read(stamp: DirectoryStamp, entries: Vec<listing::RawEntry>, cached: Option<CachedDirectory<'k>>) -> Self {
        let known = cached.and_then(CachedDirectory::read).map(|(_, entries)| entries);
        let known = known.into_iter().flatten().flatten().filter_map(|entry| Some((entry.name, entry.below?)));
        let known: HashMap<&OsStr, CachedDirectory<'k>> = known.collect();
        let listed = |(name, kind): listing::RawEntry| {
            let cached = if known.is_empty() { None } else { known.get(name.as_os_str()).copied() };
            ListingEntry { name: Cow::Owned(name), kind, is_ignored: false, cached }
        };
        let mut entries: Vec<ListingEntry<'k>> = entries.into_iter().map(listed).collect();
        entries.sort_unstable_by(path_order);
        Self { stamp, rules: None, entries }
    }

    /// Returns the listing to cache for the next walk. `cached` is the old listing, and `entries` are the walked
    /// entries of this listing.
    fn into_cache_entry(
        self,
        cached: Option<CachedDirectory<'k>>,
        entries: &mut [WalkEntry<'k>],
    ) -> Option<DirectoryListing<'k>> {
        let is_new = |entry: &WalkEntry<'k>| {
            matches!(entry, WalkEntry::Walked(WalkedDirectory { seen: Some(DirectoryListing::Fresh(..)), .. }))
        };
        if let Some(cached) = cached.filter(|cached| !entries.iter().any(is_new) && self.equals(*cached)) {
            return Some(DirectoryListing::Cached(cached));
        }
        let entry = |(listed, entry): (ListingEntry<'k>, &mut WalkEntry<'k>)| {
            let below = if let WalkEntry::Walked(walked) = entry { walked.seen.take() } else { None };
            let ListingEntry { name, kind, is_ignored, .. } = listed;
            Some(ListedEntry { name, kind: kind.ok()?, is_ignored, below })
        };
        let validity = self.validity();
        Some(DirectoryListing::Fresh(
            validity,
            self.entries.into_iter().zip(entries).map(entry).collect::<Option<_>>()?,
        ))
    }

    fn validity(&self) -> Validity {
        Validity { stamp: self.stamp, rules: self.rules.unwrap_or(0) }
    }

    fn equals(&self, cached: CachedDirectory<'k>) -> bool {
        let Some((validity, mut known)) = cached.read() else { return false };
        let is_same = |(listed, known): (&ListingEntry<'k>, Option<CachedEntry<'k>>)| {
            known.is_some_and(|known| known.name == listed.name && listed.kind.as_ref().ok() == Some(&known.kind))
        };
        // Without a reliable stamp, the entries have to be compared.
        validity == self.validity()
            && (self.stamp != DirectoryStamp::default()
                || (self.entries.iter().zip(known.by_ref()).all(is_same) && known.next().is_none()))
    }
}

/// Orders two entries of a directory such that a recursive walk visits paths in order.
fn path_order(a: &ListingEntry<'_>, b: &ListingEntry<'_>) -> Ordering {
    let (a_name, b_name) = (a.name.as_encoded_bytes(), b.name.as_encoded_bytes());
    let shared = a_name.len().min(b_name.len());
    let next = |name: &[u8], kind: &io::Result<FileKind>| {
        let slash = matches!(kind, Ok(FileKind::Directory)).then_some(b'/');
        name.get(shared).copied().or(slash)
    };
    a_name[..shared].cmp(&b_name[..shared]).then_with(|| next(a_name, &a.kind).cmp(&next(b_name, &b.kind)))
}

/// The reason for skipping a linked work tree inside another work tree.
const LINKED_WORK_TREE: &str = "git work tree of another branch, which is a separate project";

/// The reason for an omission, and whether the omission is an error.
type Reason = (Cow<'static, str>, bool);

/// Returns the reason for omitting an entry after an error. The entry existed when its directory was listed.
fn reason_of(error: &io::Error) -> Reason {
    if services::is_gone(error) { ("vanished during the run".into(), false) } else { (error.to_string().into(), true) }
}

/// Decides which entries of a directory are walked or indexed.
struct EntryFilter<'a, 'k> {
    options: &'a WalkOptions<'a>,
    pending: &'a PendingDirectory<'k>,
    /// Whether the directory is a work tree or is inside one.
    is_in_checkout: bool,
    directory: &'a DirectoryHandle,
    /// Buffer for the relative path of an entry. Between uses, contains the path of the directory.
    relative: String,
}

impl<'k> EntryFilter<'_, 'k> {
    fn entry(&mut self, listed: &ListingEntry<'k>) -> WalkEntry<'k> {
        let (pending, name) = (self.pending, &*listed.name);
        let relative = || {
            // Reserve room for the separator after the name of a directory.
            let mut relative = String::with_capacity(pending.relative.len() + name.len() + 1);
            relative.push_str(&pending.relative);
            relative.push_str(&name.to_string_lossy());
            relative
        };
        let omitted = |(reason, is_error)| WalkEntry::Omitted(Omission { path: relative(), reason, is_error });
        let kind = match &listed.kind {
            Ok(kind) => *kind,
            Err(error) => return omitted(reason_of(error)),
        };
        let is_directory = kind == FileKind::Directory;
        if is_directory && name == ProjectDirectory::NAME {
            return WalkEntry::Index;
        }
        if listed.is_ignored {
            return omitted(("named in an ignore file".into(), false));
        }
        let classified = match kind {
            FileKind::File => self.file(name).map(WalkEntry::File),
            FileKind::Directory => {
                self.directory(listed, relative()).map(|pending| WalkEntry::Directory(Box::new(pending)))
            }
            FileKind::Link => Err(("symbolic link".into(), false)),
            FileKind::Other => Err(("not a regular file".into(), false)),
        };
        classified.unwrap_or_else(omitted)
    }

    fn directory(&self, listed: &ListingEntry<'k>, mut relative: String) -> Result<PendingDirectory<'k>, Reason> {
        let (name, cached) = (&*listed.name, listed.cached);
        let (path, depth) = (self.pending.path.join(name), self.pending.depth + 1);
        if let Some(text) = name.to_str()
            && (self.options.skips_directories_named(text)
                || skip::is_skipped_directory(&path, text, || (self.options.is_tracked)(&relative)))
        {
            return Err((format!("directory `{text}` is not indexed").into(), false));
        }
        relative.push('/');
        let is_text = self.pending.is_text && name.to_str().is_some();
        let (is_in_checkout, directory) = (self.is_in_checkout, self.directory.inner(name));
        Ok(PendingDirectory { path, relative, is_text, depth, is_in_checkout, directory, cached })
    }

    fn file(&mut self, name: &OsStr) -> Result<WalkedFile, Reason> {
        let skip = |reason: &'static str| Err((reason.into(), false));
        let Some(text) = name.to_str().filter(|_| self.pending.is_text) else {
            return skip("path is not UTF-8");
        };
        let language = match self.options.language_of(text) {
            Ok(language) => language,
            Err(reason) => return skip(reason),
        };
        let metadata = self.directory.metadata(name).map_err(|error| reason_of(&error))?;
        if metadata.size > self.options.max_file_size {
            return skip("larger than max_file_size");
        }
        self.relative.push_str(text);
        let path = self.relative.as_str().into();
        self.relative.truncate(self.pending.relative.len());
        Ok(WalkedFile { path, size: metadata.size, stamp: metadata.stamp, language })
    }
}
