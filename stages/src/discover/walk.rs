//! The parallel walk: from a root directory to a sorted list of candidate files and of everything else.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rayon::ThreadPoolBuilder;
use rayon::prelude::*;

use super::listing::{self, Directory, Kind};
use super::rules::{IgnoreFiles, Rules};
use super::skip;
use crate::columns::RelativePath;
use crate::index::INDEX_DIRECTORY;
use crate::languages;

/// Bytes of a walking thread's stack; a tree may be as deep as paths are long.
const STACK: usize = 64 << 20;
/// Directories of this depth and more are opened by their whole path, so that not too many are open at a time.
const DEPTH_OPEN: usize = 16;

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
}

impl Found {
    fn append(&mut self, mut other: Self) {
        if self.candidates.is_empty() && self.omissions.is_empty() {
            *self = other;
        } else {
            self.candidates.append(&mut other.candidates);
            self.omissions.append(&mut other.omissions);
        }
    }
}

pub(super) struct WalkOptions<'a> {
    pub(super) root: &'a Path,
    pub(super) threads: usize,
    pub(super) max_file_size: u64,
    pub(super) skip_directories: &'a [String],
    /// Whether git tracks a file below a directory.
    pub(super) is_tracked: &'a (dyn Fn(&str) -> bool + Sync),
    pub(super) cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// Walks the tree below the root. Symbolic links are not followed, so that a loop of them cannot
/// hold the walk up; ignore files are honoured whether or not there is a git repository.
///
/// Every directory is read once: the walk of a tree in which nothing has changed is most of what a run on it costs.
pub(super) fn walk(options: &WalkOptions<'_>) -> Found {
    let root = || {
        let place = Place { path: options.root.to_owned(), relative: String::new(), is_text: true, depth: 0 };
        directory(options, &place, None, &Rules::above(options.root))
    };
    match ThreadPoolBuilder::new().num_threads(options.threads).stack_size(STACK).build() {
        Ok(pool) => pool.install(root),
        Err(_) => root(),
    }
}

/// A directory.
struct Place {
    path: PathBuf,
    /// The path below the root with `/` between its parts and at its end; empty for the root.
    relative: String,
    /// Whether that is the path, to the byte.
    is_text: bool,
    /// Number of directories between the root and this one, the root among them.
    depth: usize,
}

/// What an entry of a directory is to the walk.
enum Entry {
    File(Candidate),
    Omitted(Omission),
    Directory(Place),
}

/// Walks one directory and what is below it, which comes in the order of paths: that of the entries' names, a `/` behind
/// those of directories. `above` is the directory that holds this one.
fn directory(options: &WalkOptions<'_>, place: &Place, above: Option<&Directory>, outer: &Arc<Rules>) -> Found {
    if (options.cancelled)() {
        return Found::default();
    }
    let opened = above.map_or_else(|| Directory::open(&place.path), |above| above.open_inner(&place.path));
    let read = opened.and_then(|opened| {
        let (entries, rules) = entries(options, place, &opened, outer)?;
        Ok((opened, entries, rules))
    });
    let (opened, entries, rules) = match read {
        Ok(read) => read,
        Err(error) => {
            let path = if place.relative.is_empty() { "." } else { place.relative.trim_end_matches('/') };
            let omission = Omission { path: path.to_owned(), reason: error.to_string().into(), is_error: true };
            return Found { omissions: vec![omission], ..Found::default() };
        }
    };
    let opened = Some(opened).filter(|_| place.depth < DEPTH_OPEN);
    let inner = |place: &Place| directory(options, place, opened.as_ref(), &rules);
    let below: Vec<&Place> = entries
        .iter()
        .filter_map(|entry| if let Entry::Directory(place) = entry { Some(place) } else { None })
        .collect();
    let below: Vec<Found> = match below.as_slice() {
        [] => Vec::new(),
        [only] => vec![inner(only)],
        several => several.par_iter().copied().map(inner).collect(),
    };
    let mut below = below.into_iter();
    let mut found = Found::default();
    for entry in entries {
        match entry {
            Entry::File(candidate) => found.candidates.push(candidate),
            Entry::Omitted(omission) => found.omissions.push(omission),
            Entry::Directory(_) => below.next().into_iter().for_each(|part| found.append(part)),
        }
    }
    found
}

/// The entries of a directory, sorted, and the rules that hold in it.
fn entries(
    options: &WalkOptions<'_>,
    place: &Place,
    opened: &Directory,
    outer: &Arc<Rules>,
) -> io::Result<(Vec<Entry>, Arc<Rules>)> {
    let mut listed = opened.entries()?;
    let mut present = IgnoreFiles::default();
    listed.iter().for_each(|(name, _)| present.note(name));
    listed.sort_unstable_by(path_order);
    let rules = outer.within(&place.path, present);
    let (path, relative) = (place.path.join(""), place.relative.clone());
    let rules_here = (!rules.is_empty()).then_some(&*rules);
    let mut judge = Judge { options, place, opened, rules: rules_here, path, relative };
    let mut entries = Vec::with_capacity(listed.len());
    entries.extend(listed.into_iter().filter_map(|(name, kind)| judge.entry(&name, kind)));
    Ok((entries, rules))
}

/// How two entries of a directory are ordered, so that what is below them comes in the order of paths.
fn path_order(a: &listing::Entry, b: &listing::Entry) -> Ordering {
    let (a_name, b_name) = (a.0.as_encoded_bytes(), b.0.as_encoded_bytes());
    let shared = a_name.len().min(b_name.len());
    let next = |name: &[u8], kind: &io::Result<Kind>| {
        let slash = matches!(kind, Ok(Kind::Directory)).then_some(b'/');
        name.get(shared).copied().or(slash)
    };
    a_name[..shared].cmp(&b_name[..shared]).then_with(|| next(a_name, &a.1).cmp(&next(b_name, &b.1)))
}

/// Why something is left out, and whether it should have been read and could not be.
type Reason = (Cow<'static, str>, bool);

/// Decides about the entries of one directory.
struct Judge<'a> {
    options: &'a WalkOptions<'a>,
    place: &'a Place,
    opened: &'a Directory,
    rules: Option<&'a Rules>,
    /// Where paths of entries are put together: the path of the directory, with a separator at the end.
    path: PathBuf,
    /// The same for paths below the root, `/` between the parts.
    relative: String,
}

impl Judge<'_> {
    /// What an entry is; nothing for the index itself.
    fn entry(&mut self, name: &OsStr, kind: io::Result<Kind>) -> Option<Entry> {
        let place = self.place;
        let relative = || format!("{}{}", place.relative, name.to_string_lossy());
        let omitted = |(reason, is_error)| Entry::Omitted(Omission { path: relative(), reason, is_error });
        let kind = match kind {
            Ok(kind) => kind,
            Err(error) => return Some(omitted((error.to_string().into(), true))),
        };
        let is_directory = kind == Kind::Directory;
        if is_directory && name == INDEX_DIRECTORY {
            return None;
        }
        if let Some(rules) = self.rules {
            self.path.push(name);
            let is_ignored = rules.ignores(&self.path, is_directory);
            self.path.pop();
            if is_ignored {
                return Some(omitted(("named in an ignore file".into(), false)));
            }
        }
        let judged = match kind {
            Kind::File => self.file(name).map(Entry::File),
            Kind::Directory => self.directory(name, relative()).map(Entry::Directory),
            Kind::Link => Err(("symbolic link".into(), false)),
            Kind::Other => Err(("not a regular file".into(), false)),
        };
        Some(judged.unwrap_or_else(omitted))
    }

    fn directory(&self, name: &OsStr, mut relative: String) -> Result<Place, Reason> {
        let (path, depth) = (self.place.path.join(name), self.place.depth + 1);
        let Some(text) = name.to_str() else {
            relative.push('/');
            return Ok(Place { path, relative, is_text: false, depth });
        };
        let named = self.options.skip_directories.iter().any(|other| other == text);
        if named || skip::is_skipped_directory(&path, text, || (self.options.is_tracked)(&relative)) {
            return Err((format!("directory `{text}` is not indexed").into(), false));
        }
        relative.push('/');
        Ok(Place { path, relative, is_text: self.place.is_text, depth })
    }

    fn file(&mut self, name: &OsStr) -> Result<Candidate, Reason> {
        let skip = |reason: &'static str| Err((reason.into(), false));
        let Some(text) = name.to_str().filter(|_| self.place.is_text) else {
            return skip("path is not UTF-8");
        };
        if let Some(reason) = skip::skipped_file(text) {
            return skip(reason);
        }
        let Some(language) = languages::format_of(text) else {
            return skip("no parser for this kind of file");
        };
        let metadata = self.opened.metadata(name).map_err(|error| (error.to_string().into(), true))?;
        if metadata.size > self.options.max_file_size {
            return skip("larger than max_file_size");
        }
        self.relative.push_str(text);
        let path = self.relative.as_str().into();
        self.relative.truncate(self.place.relative.len());
        Ok(Candidate { path, size: metadata.size, mtime: metadata.mtime, language })
    }
}
