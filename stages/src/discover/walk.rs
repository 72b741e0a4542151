//! The parallel walk: from a root directory to a sorted list of candidate files and a count of
//! everything else.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::UNIX_EPOCH;

use ignore::{DirEntry, ParallelVisitor, ParallelVisitorBuilder, WalkBuilder, WalkState};

use super::skip;
use crate::columns::RelativePath;
use crate::index::INDEX_DIRECTORY;
use crate::languages;

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
    pub(super) reason: String,
    /// Whether it should have been read and could not be.
    pub(super) is_error: bool,
}

/// What a walk found, both lists sorted by path.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) candidates: Vec<Candidate>,
    pub(super) omissions: Vec<Omission>,
}

pub(super) struct WalkOptions<'a> {
    pub(super) root: &'a Path,
    pub(super) threads: usize,
    pub(super) max_file_size: u64,
    pub(super) skip_directories: &'a [String],
    /// Whether git tracks a file below a directory.
    pub(super) is_tracked: Arc<dyn Fn(&str) -> bool + Send + Sync>,
    pub(super) cancelled: &'a (dyn Fn() -> bool + Sync),
}

/// Walks the tree below the root. Symbolic links are not followed, so that a loop of them cannot
/// hold the walk up; ignore files are honoured whether or not there is a git repository.
pub(super) fn walk(options: &WalkOptions<'_>) -> Found {
    let extra: Arc<[String]> = options.skip_directories.into();
    let pruned: Arc<Mutex<Vec<String>>> = Arc::default();
    let walker = WalkBuilder::new(options.root)
        .threads(options.threads)
        .hidden(false)
        .follow_links(false)
        .require_git(false)
        .add_custom_ignore_filename(".auroraignore")
        .filter_entry({
            let pruned = Arc::clone(&pruned);
            let root = options.root.to_path_buf();
            let is_tracked = Arc::clone(&options.is_tracked);
            move |entry| keep_directory(entry, &root, &extra, &*is_tracked, &pruned)
        })
        .build_parallel();
    let shared = Mutex::new(Vec::new());
    walker.visit(&mut Visitors { options, shared: &shared });

    let mut found = Found::default();
    let mut listed: HashMap<String, usize> = HashMap::new();
    for part in shared.into_inner().unwrap_or_else(PoisonError::into_inner) {
        found.candidates.extend(part.found.candidates);
        found.omissions.extend(part.found.omissions);
        for (directory, seen) in part.seen {
            *listed.entry(directory).or_default() += seen;
        }
    }
    for path in pruned.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
        let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
        if name == INDEX_DIRECTORY {
            continue;
        }
        *listed.entry(parent(&path).to_owned()).or_default() += 1;
        found.omissions.push(Omission { path, reason: format!("directory `{name}` is not indexed"), is_error: false });
    }
    if !(options.cancelled)() {
        count_ignored(options.root, &listed, &mut found.omissions);
    }
    found.candidates.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    found.omissions.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    found
}

fn keep_directory(
    entry: &DirEntry,
    root: &Path,
    extra: &[String],
    is_tracked: &dyn Fn(&str) -> bool,
    pruned: &Mutex<Vec<String>>,
) -> bool {
    if entry.depth() == 0 || !entry.file_type().is_some_and(|kind| kind.is_dir()) {
        return true;
    }
    let Some(name) = entry.file_name().to_str() else { return true };
    let path = relative_lossy(root, entry.path());
    let skipped =
        skip::is_skipped_directory(entry.path(), name, || is_tracked(&path)) || extra.iter().any(|other| other == name);
    if skipped {
        pruned.lock().unwrap_or_else(PoisonError::into_inner).push(path);
    }
    !skipped
}

/// The walker passes over what ignore files name without a word. What a directory holds beyond
/// what was seen in it was ignored.
fn count_ignored(root: &Path, listed: &HashMap<String, usize>, omissions: &mut Vec<Omission>) {
    for (directory, seen) in listed {
        let Ok(entries) = std::fs::read_dir(root.join(directory)) else { continue };
        let entries = entries.filter(|entry| !entry.as_ref().is_ok_and(|entry| entry.file_name() == INDEX_DIRECTORY));
        let ignored = entries.count().saturating_sub(*seen);
        omissions.extend((0..ignored).map(|_| Omission {
            path: if directory.is_empty() { ".".into() } else { format!("{directory}/") },
            reason: "named in an ignore file".into(),
            is_error: false,
        }));
    }
}

/// What one thread of the walk has gathered, with the number of entries seen per directory.
#[derive(Default)]
struct Part {
    found: Found,
    seen: HashMap<String, usize>,
}

struct Visitors<'a> {
    options: &'a WalkOptions<'a>,
    shared: &'a Mutex<Vec<Part>>,
}

impl<'s> ParallelVisitorBuilder<'s> for Visitors<'s> {
    fn build(&mut self) -> Box<dyn ParallelVisitor + 's> {
        Box::new(Visitor { options: self.options, shared: self.shared, part: Part::default() })
    }
}

struct Visitor<'a> {
    options: &'a WalkOptions<'a>,
    shared: &'a Mutex<Vec<Part>>,
    part: Part,
}

impl Drop for Visitor<'_> {
    fn drop(&mut self) {
        let part = std::mem::take(&mut self.part);
        self.shared.lock().unwrap_or_else(PoisonError::into_inner).push(part);
    }
}

impl ParallelVisitor for Visitor<'_> {
    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        if (self.options.cancelled)() {
            return WalkState::Quit;
        }
        match entry {
            Ok(entry) => self.entry(&entry),
            Err(error) => self.omit(path_of(&error, self.options.root), error.to_string(), true),
        }
        WalkState::Continue
    }
}

impl Visitor<'_> {
    fn entry(&mut self, entry: &DirEntry) {
        let lossy = relative_lossy(self.options.root, entry.path());
        if entry.depth() > 0 {
            *self.part.seen.entry(parent(&lossy).to_owned()).or_default() += 1;
        }
        let Some(kind) = entry.file_type() else { return };
        if kind.is_dir() {
            // An empty directory, or one of which everything is ignored, counts as well.
            self.part.seen.entry(lossy).or_default();
            return;
        }
        match self.judge(entry, kind) {
            Ok(candidate) => self.part.found.candidates.push(candidate),
            Err((reason, is_error)) => self.omit(lossy, reason, is_error),
        }
    }

    fn judge(&self, entry: &DirEntry, kind: std::fs::FileType) -> Result<Candidate, (String, bool)> {
        let skip = |reason: &str| Err((reason.to_owned(), false));
        if kind.is_symlink() {
            return skip("symbolic link");
        }
        if !kind.is_file() {
            return skip("not a regular file");
        }
        let (Some(path), Some(name)) = (relative(self.options.root, entry.path()), entry.file_name().to_str()) else {
            return skip("path is not UTF-8");
        };
        if let Some(reason) = skip::skipped_file(name) {
            return skip(reason);
        }
        let Some(language) = languages::format_of(&path) else {
            return skip("no parser for this kind of file");
        };
        let metadata = entry.metadata().map_err(|error| (error.to_string(), true))?;
        if metadata.len() > self.options.max_file_size {
            return skip("larger than max_file_size");
        }
        Ok(Candidate { path: path.into(), size: metadata.len(), mtime: mtime_ns(&metadata), language })
    }

    fn omit(&mut self, path: String, reason: String, is_error: bool) {
        self.part.found.omissions.push(Omission { path, reason, is_error });
    }
}

fn path_of(error: &ignore::Error, root: &Path) -> String {
    match error {
        ignore::Error::WithPath { path, .. } => relative_lossy(root, path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => path_of(err, root),
        _ => String::from("."),
    }
}

/// The path below the root with `/` between its parts; nothing where it is not UTF-8.
fn relative(root: &Path, path: &Path) -> Option<String> {
    let below = path.strip_prefix(root).unwrap_or(path).to_str()?;
    Some(if std::path::MAIN_SEPARATOR == '/' {
        below.to_owned()
    } else {
        below.replace(std::path::MAIN_SEPARATOR, "/")
    })
}

fn relative_lossy(root: &Path, path: &Path) -> String {
    relative(root, path).unwrap_or_else(|| path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned())
}

fn parent(path: &str) -> &str {
    path.rfind('/').map_or("", |slash| &path[..slash])
}

/// Nanoseconds since the epoch; zero where the file system has no such time.
pub(super) fn mtime_ns(metadata: &std::fs::Metadata) -> i64 {
    let modified = metadata.modified().ok();
    let since = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.and_then(|time| i64::try_from(time.as_nanos()).ok()).unwrap_or(0)
}
