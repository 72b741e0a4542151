//! The parallel walk: from a root directory to a sorted list of candidate files and of everything else.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use aurora_confined as confined;
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::kept::{self, Conditions, KeptDirectory, KeptEntry, KeptWalk, Seen, SeenEntry};
use super::listing::{self, Directory, Kind, Stamp};
use super::rules::{IgnoreFiles, Rules, UnreadableRules};
use super::skip;
use crate::columns::RelativePath;
use crate::index::INDEX_DIRECTORY;
use crate::kept_file::KeptFile;
use crate::{formats, unread};

/// Bytes of a walking thread's stack; a tree may be as deep as paths are long.
const STACK: usize = 64 << 20;
/// Directories of this depth and more stay open no longer than they are read, so that not too many are open at a time.
const DEPTH_OPEN: usize = 16;
/// It pays to open a directory that need not be read if it has so many entries.
const ENTRIES_OPEN: usize = 4;

/// A file that may be indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) path: RelativePath,
    pub(super) size: u64,
    /// Nanoseconds since the epoch.
    pub(super) mtime: i64,
    pub(super) language: &'static str,
}

/// Something that is not indexed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Omission {
    pub(super) path: String,
    pub(super) reason: Cow<'static, str>,
    /// Whether it should have been read and could not be.
    pub(super) is_error: bool,
}

/// What a walk found: files sorted by path, the rest in an order that is the same every time.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) candidates: Vec<Candidate>,
    pub(super) omissions: Vec<Omission>,
    /// Paths outside the tree, and what a user should know of them.
    pub(super) warnings: Vec<(String, String)>,
}

impl Found {
    /// Adds what a walk came upon, in order.
    fn add(&mut self, entries: Vec<Entry<'_>>) {
        for entry in entries {
            match entry {
                Entry::File(candidate) => self.candidates.push(candidate),
                Entry::Omitted(omission) => self.omissions.push(omission),
                Entry::Walked(walked) => self.add(walked.entries),
                Entry::Directory(_) | Entry::Index => {}
            }
        }
    }
}

pub(super) struct WalkOptions<'a> {
    pub(super) root: &'a confined::Directory,
    pub(super) threads: usize,
    pub(super) max_file_size: u64,
    pub(super) skip_directories: &'a [String],
    /// The file that keeps what was seen between walks, if one is to.
    pub(super) kept: Option<&'a KeptFile>,
    /// Whether what is there of it may be used.
    pub(super) trusts_kept: bool,
    /// Whether git tracks a file below a directory.
    pub(super) is_tracked: &'a (dyn Fn(&str) -> bool + Sync),
    /// Whether what changed at a time, in nanoseconds since the epoch, would have another time if it changed again.
    pub(super) is_settled: &'a (dyn Fn(i64) -> bool + Sync),
    pub(super) cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// Walks the tree below the root. Symbolic links are not followed, so that a loop of them cannot
/// hold the walk up; ignore files are honoured whether or not there is a git repository.
///
/// Every directory is read once at most, and not at all if it still has the stamp under which an earlier walk has kept its
/// entries.
pub(super) fn walk(options: &WalkOptions<'_>) -> Found {
    // Trees may be so deep that nothing that goes down them has room on the stack of another thread.
    match ThreadPoolBuilder::new().num_threads(options.threads).stack_size(STACK).build() {
        Ok(pool) => pool.install(|| walk_and_keep(options)),
        Err(_) => walk_and_keep(options),
    }
}

fn walk_and_keep(options: &WalkOptions<'_>) -> Found {
    let kept = options.kept.filter(|_| options.trusts_kept).and_then(KeptWalk::read);
    let mut found = Found::default();
    let walked = walk_root(options, kept.as_ref().and_then(KeptWalk::root), &mut found);
    if let (Some(file), Some(seen @ Seen::New(..)), false) = (options.kept, walked.seen, (options.cancelled)()) {
        // Without it the next walk reads every directory.
        let _ = kept::write(file, &seen);
    }
    found.add(walked.entries);
    found
}

fn walk_root<'k>(options: &WalkOptions<'_>, kept: Option<KeptDirectory<'k>>, found: &mut Found) -> Walked<'k> {
    let (path, relative) = (options.root.path().to_owned(), String::new());
    let directory = match Directory::open(&path) {
        Ok(directory) => directory,
        Err(error) => return Walked::omitted(&relative, (error.to_string().into(), true)),
    };
    let device = options.kept.and_then(|_| directory.device_with_stamps());
    let place = Place { path, relative, is_text: true, depth: 0, directory, kept };
    let rules = Rules::above(options.root.path(), &mut found.warnings);
    Walk { options, device }.directory(&place, &rules)
}

/// A directory.
struct Place<'k> {
    path: PathBuf,
    /// The path below the root with `/` between its parts and at its end; empty for the root.
    relative: String,
    /// Whether that is the path, to the byte.
    is_text: bool,
    /// Number of directories between the root and this one, the root among them.
    depth: usize,
    directory: Directory,
    /// What an earlier walk saw of it.
    kept: Option<KeptDirectory<'k>>,
}

/// What an entry of a directory is to the walk.
enum Entry<'k> {
    File(Candidate),
    Omitted(Omission),
    /// A directory that is to be walked.
    Directory(Box<Place<'k>>),
    /// One that was.
    Walked(Walked<'k>),
    /// The index itself, which is passed over in silence.
    Index,
}

/// What a walk came upon in a directory, and what there is to keep of it.
#[derive(Default)]
struct Walked<'k> {
    /// In the order of paths.
    entries: Vec<Entry<'k>>,
    seen: Option<Seen<'k>>,
}

impl Walked<'_> {
    /// A directory of which nothing is known, nor of what is below it.
    fn omitted(relative: &str, (reason, is_error): Reason) -> Self {
        let path = if relative.is_empty() { unread::ROOT } else { relative.trim_end_matches('/') };
        Self { entries: vec![Entry::Omitted(Omission { path: path.to_owned(), reason, is_error })], seen: None }
    }
}

struct Walk<'a> {
    options: &'a WalkOptions<'a>,
    /// The device whose directories have stamps that can be relied on; nothing is kept of others.
    device: Option<u64>,
}

impl Walk<'_> {
    /// Walks one directory and what is below it, which comes in the order of paths: that of the entries' names, a `/`
    /// behind those of directories.
    fn directory<'k>(&self, place: &Place<'k>, outer: &Arc<Rules>) -> Walked<'k> {
        if (self.options.cancelled)() {
            return Walked::default();
        }
        let (mut listing, directory) = match self.list(place) {
            Ok(listed) => listed,
            Err(error) => return Walked::omitted(&place.relative, reason_of(&error)),
        };
        let (mut entries, rules) = match self.entries(place, &mut listing, &directory, outer) {
            Ok(judged) => judged,
            // Which entries are to be indexed cannot be told.
            Err(unreadable) => return Walked::omitted(&place.relative, (unreadable.to_string().into(), true)),
        };
        drop(directory);
        let mut below: Vec<&mut Entry<'k>> =
            entries.iter_mut().filter(|entry| matches!(entry, Entry::Directory(_))).collect();
        let descend = |entry: &mut Entry<'k>| {
            if let Entry::Directory(place) = entry {
                *entry = Entry::Walked(self.directory(place, &rules));
            }
        };
        match below.as_mut_slice() {
            [only] => descend(only),
            several => several.par_iter_mut().for_each(|entry| descend(entry)),
        }
        let seen = self.device.and_then(|_| listing.seen(place.kept, &mut entries));
        Walked { entries, seen }
    }

    /// The entries of a directory, and the directory as their metadata is asked for.
    fn list<'k>(&self, place: &Place<'k>) -> io::Result<(Listing<'k>, Directory)> {
        let stays_open = place.depth < DEPTH_OPEN;
        if self.device.is_some()
            && let Some(listing) = place.kept.and_then(|kept| Listing::kept(kept, place.directory.stamp()?))
        {
            let pays = stays_open && listing.entries.len() >= ENTRIES_OPEN;
            let directory = if pays { place.directory.opened()? } else { place.directory.clone() };
            return Ok((listing, directory));
        }
        let directory = place.directory.opened()?;
        // Taken before the entries are read: what changes meanwhile changes it.
        let is_reliable = |stamp: &Stamp| Some(stamp.device) == self.device && (self.options.is_settled)(stamp.changed);
        let stamp = self.device.and_then(|_| directory.stamp()).filter(is_reliable).unwrap_or_default();
        let listing = Listing::read(stamp, directory.entries()?, place.kept);
        Ok((listing, if stays_open { directory } else { place.directory.clone() }))
    }

    /// What each entry of a directory is, and the rules that hold in it.
    ///
    /// # Errors
    /// When an ignore file is there that cannot be read.
    fn entries<'k>(
        &self,
        place: &Place<'k>,
        listing: &mut Listing<'k>,
        directory: &Directory,
        outer: &Arc<Rules>,
    ) -> Result<(Vec<Entry<'k>>, Arc<Rules>), UnreadableRules> {
        let mut present = IgnoreFiles::default();
        listing.entries.iter().for_each(|listed| present.note(&listed.name, listed.kind.as_ref().ok().copied()));
        let rules = outer.within(&place.path, self.options.root, present)?;
        if listing.rules.replace(rules.digest()) != Some(rules.digest()) {
            let mut path = place.path.join("");
            for listed in &mut listing.entries {
                path.push(&listed.name);
                listed.is_ignored = rules.ignores(&path, matches!(listed.kind, Ok(Kind::Directory)));
                path.pop();
            }
        }
        let mut judge = Judge { options: self.options, place, directory, relative: place.relative.clone() };
        Ok((listing.entries.iter().map(|listed| judge.entry(listed)).collect(), rules))
    }
}

/// The entries of a directory.
struct Listing<'k> {
    /// The default one if none can be relied on.
    stamp: Stamp,
    /// The digest of the rules by which entries are ignored or not; nothing before these are asked.
    rules: Option<u64>,
    /// In the order of paths.
    entries: Vec<Listed<'k>>,
}

/// An entry, and what an earlier walk saw of it if it is a directory.
struct Listed<'k> {
    name: Cow<'k, OsStr>,
    kind: io::Result<Kind>,
    is_ignored: bool,
    kept: Option<KeptDirectory<'k>>,
}

impl<'k> Listing<'k> {
    /// What an earlier walk saw, if the directory still has the same stamp.
    fn kept(directory: KeptDirectory<'k>, stamp: Stamp) -> Option<Self> {
        let (known, entries) = directory.read()?;
        if known.stamp != stamp {
            return None;
        }
        let mut listed = Vec::with_capacity(entries.size_hint().0);
        for entry in entries {
            let KeptEntry { name, kind, is_ignored, below } = entry?;
            listed.push(Listed { name: Cow::Borrowed(name), kind: Ok(kind), is_ignored, kept: below });
        }
        Some(Self { stamp, rules: Some(known.rules), entries: listed })
    }

    /// What a directory holds now. Of directories in it an earlier walk may have seen something, whatever else has changed.
    fn read(stamp: Stamp, entries: Vec<listing::Entry>, kept: Option<KeptDirectory<'k>>) -> Self {
        let known = kept.and_then(KeptDirectory::read).map(|(_, entries)| entries);
        let known = known.into_iter().flatten().flatten().filter_map(|entry| Some((entry.name, entry.below?)));
        let known: HashMap<&OsStr, KeptDirectory<'k>> = known.collect();
        let listed = |(name, kind): listing::Entry| {
            let kept = if known.is_empty() { None } else { known.get(name.as_os_str()).copied() };
            Listed { name: Cow::Owned(name), kind, is_ignored: false, kept }
        };
        let mut entries: Vec<Listed<'k>> = entries.into_iter().map(listed).collect();
        entries.sort_unstable_by(path_order);
        Self { stamp, rules: None, entries }
    }

    /// What there is to keep for the next walk. `kept` is what there was; the entries are what has become of these.
    fn seen(self, kept: Option<KeptDirectory<'k>>, entries: &mut [Entry<'k>]) -> Option<Seen<'k>> {
        let is_new = |entry: &Entry<'k>| matches!(entry, Entry::Walked(Walked { seen: Some(Seen::New(..)), .. }));
        if let Some(kept) = kept.filter(|kept| !entries.iter().any(is_new) && self.is_as_in(*kept)) {
            return Some(Seen::Kept(kept));
        }
        let entry = |(listed, entry): (Listed<'k>, &mut Entry<'k>)| {
            let below = if let Entry::Walked(walked) = entry { walked.seen.take() } else { None };
            let Listed { name, kind, is_ignored, .. } = listed;
            Some(SeenEntry { name, kind: kind.ok()?, is_ignored, below })
        };
        let conditions = self.conditions();
        Some(Seen::New(conditions, self.entries.into_iter().zip(entries).map(entry).collect::<Option<_>>()?))
    }

    fn conditions(&self) -> Conditions {
        Conditions { stamp: self.stamp, rules: self.rules.unwrap_or(0) }
    }

    fn is_as_in(&self, kept: KeptDirectory<'k>) -> bool {
        let Some((conditions, mut known)) = kept.read() else { return false };
        let is_same = |(listed, known): (&Listed<'k>, Option<KeptEntry<'k>>)| {
            known.is_some_and(|known| known.name == listed.name && listed.kind.as_ref().ok() == Some(&known.kind))
        };
        // Where there is no stamp to rely on, all that is left is to look.
        conditions == self.conditions()
            && (self.stamp != Stamp::default()
                || (self.entries.iter().zip(known.by_ref()).all(is_same) && known.next().is_none()))
    }
}

/// How two entries of a directory are ordered, so that what is below them comes in the order of paths.
fn path_order(a: &Listed<'_>, b: &Listed<'_>) -> Ordering {
    let (a_name, b_name) = (a.name.as_encoded_bytes(), b.name.as_encoded_bytes());
    let shared = a_name.len().min(b_name.len());
    let next = |name: &[u8], kind: &io::Result<Kind>| {
        let slash = matches!(kind, Ok(Kind::Directory)).then_some(b'/');
        name.get(shared).copied().or(slash)
    };
    a_name[..shared].cmp(&b_name[..shared]).then_with(|| next(a_name, &a.kind).cmp(&next(b_name, &b.kind)))
}

/// Why something is left out, and whether it should have been read and could not be.
type Reason = (Cow<'static, str>, bool);

/// Why something is left out that was there when its directory was listed.
fn reason_of(error: &io::Error) -> Reason {
    if unread::is_gone(error) { ("vanished during the run".into(), false) } else { (error.to_string().into(), true) }
}

/// Decides about the entries of one directory.
struct Judge<'a, 'k> {
    options: &'a WalkOptions<'a>,
    place: &'a Place<'k>,
    directory: &'a Directory,
    /// Where paths of entries below the root are put together: that of the directory, `/` between the parts and at the end.
    relative: String,
}

impl<'k> Judge<'_, 'k> {
    fn entry(&mut self, listed: &Listed<'k>) -> Entry<'k> {
        let (place, name) = (self.place, &*listed.name);
        let relative = || {
            // Room for the separator behind a directory.
            let mut relative = String::with_capacity(place.relative.len() + name.len() + 1);
            relative.push_str(&place.relative);
            relative.push_str(&name.to_string_lossy());
            relative
        };
        let omitted = |(reason, is_error)| Entry::Omitted(Omission { path: relative(), reason, is_error });
        let kind = match &listed.kind {
            Ok(kind) => *kind,
            Err(error) => return omitted(reason_of(error)),
        };
        let is_directory = kind == Kind::Directory;
        if is_directory && name == INDEX_DIRECTORY {
            return Entry::Index;
        }
        if listed.is_ignored {
            return omitted(("named in an ignore file".into(), false));
        }
        let judged = match kind {
            Kind::File => self.file(name).map(Entry::File),
            Kind::Directory => self.directory(listed, relative()).map(|place| Entry::Directory(Box::new(place))),
            Kind::Link => Err(("symbolic link".into(), false)),
            Kind::Other => Err(("not a regular file".into(), false)),
        };
        judged.unwrap_or_else(omitted)
    }

    fn directory(&self, listed: &Listed<'k>, mut relative: String) -> Result<Place<'k>, Reason> {
        let (name, kept) = (&*listed.name, listed.kept);
        let (path, depth) = (self.place.path.join(name), self.place.depth + 1);
        if let Some(text) = name.to_str() {
            let named = self.options.skip_directories.iter().any(|other| other == text);
            if named || skip::is_skipped_directory(&path, text, || (self.options.is_tracked)(&relative)) {
                return Err((format!("directory `{text}` is not indexed").into(), false));
            }
        }
        relative.push('/');
        let is_text = self.place.is_text && name.to_str().is_some();
        Ok(Place { path, relative, is_text, depth, directory: self.directory.inner(name), kept })
    }

    fn file(&mut self, name: &OsStr) -> Result<Candidate, Reason> {
        let skip = |reason: &'static str| Err((reason.into(), false));
        let Some(text) = name.to_str().filter(|_| self.place.is_text) else {
            return skip("path is not UTF-8");
        };
        if let Some(reason) = skip::skipped_file(text) {
            return skip(reason);
        }
        let Some(language) = formats::format_of(text) else {
            return skip("no parser for this kind of file");
        };
        let metadata = self.directory.metadata(name).map_err(|error| reason_of(&error))?;
        if metadata.size > self.options.max_file_size {
            return skip("larger than max_file_size");
        }
        self.relative.push_str(text);
        let path = self.relative.as_str().into();
        self.relative.truncate(self.place.relative.len());
        Ok(Candidate { path, size: metadata.size, mtime: metadata.mtime, language })
    }
}
