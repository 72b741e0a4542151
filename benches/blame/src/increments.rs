//! What does an update to a new HEAD cost with the caches of an earlier HEAD? Is the result the same as after a full
//! walk of the history?

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use aurora_cachefile::CacheFile;
use aurora_confined::Directory;
use aurora_history::{EventIndex, EventKey, FileAttribution, History, Options};
use rayon::prelude::*;

use crate::files::{regular_files, texts};
use crate::measure::{Cost, anonymous_peak, cost};

/// The attributions of files, by path.
type Stored = HashMap<Vec<u8>, (EventKey, Arc<FileAttribution>)>;

/// The line ranges of files, by path.
type Ranges = HashMap<Vec<u8>, Vec<Range<u32>>>;

/// Measurements of an update from one HEAD to a later HEAD.
pub struct Increment {
    /// Number of commits that only the later HEAD reaches.
    pub commits: usize,
    /// Number of files whose key changed, so that they were attributed again.
    pub files: usize,
    /// Cost of attributing all files at the earlier HEAD and writing the caches.
    pub first: Cost,
    /// Peak of anonymous memory while the files were attributed at the earlier HEAD, in bytes.
    pub first_peak: u64,
    /// Cost of attributing all files at the later HEAD without caches.
    pub fresh: Cost,
    /// Size of the diff cache before the update, in bytes.
    pub cache_bytes: u64,
    /// Cost of the update: loading the caches, walking the new commits, attributing the files whose key changed, and
    /// appending to the caches.
    pub cost: Cost,
    /// Files whose attribution after the update differs from that of a full walk.
    pub differing: Vec<String>,
}

/// A bare repository that borrows the objects of another repository, so that the bench can move its HEAD.
struct Borrowed(tempfile::TempDir);

impl Borrowed {
    fn new(root: &Path) -> Result<Self, String> {
        let directory = tempfile::tempdir().map_err(|error| error.to_string())?;
        let root = root.canonicalize().map_err(|error| error.to_string())?;
        let mut clone = Command::new("git");
        clone.args(["clone", "--quiet", "--bare", "--shared"]).arg(root).arg(directory.path().join("repository"));
        succeed(clone)?;
        Ok(Self(directory))
    }

    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("repository")
    }

    fn git(&self, arguments: &[&str]) -> Result<String, String> {
        let mut git = Command::new("git");
        git.arg("-C").arg(self.path()).args(arguments);
        succeed(git)
    }
}

fn succeed(mut command: Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("git: {error}"))?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Attributes all files at the `back`-th first-parent ancestor of HEAD, then updates the result to HEAD.
pub fn increment(root: &Path, back: usize) -> Result<Increment, String> {
    let borrowed = Borrowed::new(root)?;
    let directory = Directory::open_root(&borrowed.path()).map_err(|error| error.to_string())?;
    let cache = |name| Some(CacheFile::new(directory.clone(), name, b"bench", u64::MAX));
    let caches = Options { walk_cache: cache("walk"), diff_cache: cache("comparisons"), mask: None };
    let tip = borrowed.git(&["rev-parse", "HEAD"])?;
    let old = borrowed.git(&["rev-parse", &format!("HEAD~{back}")])?;
    let commits = borrowed.git(&["rev-list", "--count", &format!("{old}..{tip}")])?;
    borrowed.git(&["update-ref", "--no-deref", "HEAD", &old])?;
    let at_old = ranges(&borrowed.path())?;
    let everything = || attribute(&borrowed.path(), caches.clone(), &Stored::new(), &at_old);
    let ((made, first), first_peak) = anonymous_peak(|| cost(everything));
    let (_, stored) = made?;
    let cache_bytes = std::fs::metadata(borrowed.path().join("comparisons")).map_or(0, |file| file.len());
    borrowed.git(&["update-ref", "--no-deref", "HEAD", &tip])?;
    // In an index run, the line ranges of chunks are known before attribution. Therefore, computing them here is not
    // measured.
    let ranges = ranges(&borrowed.path())?;
    let (made, step) = cost(|| attribute(&borrowed.path(), caches.clone(), &stored, &ranges));
    let (paths, new) = made?;
    let (made, fresh) = cost(|| attribute(&borrowed.path(), Options::default(), &Stored::new(), &ranges));
    let (_, expected) = made?;
    let at_tip = |path: &Vec<u8>| new.get(path).or_else(|| stored.get(path)).map(|(_, blame)| blame);
    let differs = |path: &&Vec<u8>| at_tip(path) != expected.get(*path).map(|(_, blame)| blame);
    let differing = paths.iter().filter(differs).map(|path| String::from_utf8_lossy(path).into_owned());
    Ok(Increment {
        commits: commits.parse().unwrap_or(0),
        files: new.len(),
        first,
        first_peak,
        fresh,
        cache_bytes,
        cost: step,
        differing: differing.collect(),
    })
}

/// Returns the paragraphs of every file at HEAD. They take the place of chunks, for which touch counts are computed.
fn ranges(repository: &Path) -> Result<Ranges, String> {
    let paths = regular_files(repository)?;
    let texts = texts(repository, &paths)?;
    Ok(paths.into_iter().zip(texts.iter().map(|text| paragraphs(text))).collect())
}

/// Returns the line ranges between empty lines.
fn paragraphs(text: &[u8]) -> Vec<Range<u32>> {
    let mut found: Vec<Range<u32>> = Vec::new();
    for (number, line) in (0u32..).zip(text.split(|&byte| byte == b'\n')) {
        match found.last_mut() {
            _ if line.trim_ascii().is_empty() => {}
            Some(last) if last.end == number => last.end += 1,
            _ => found.push(number..number + 1),
        }
    }
    found
}

/// Returns the files at HEAD, and new attributions of the files whose key differs from the stored key.
fn attribute(
    repository: &Path,
    options: Options,
    stored: &Stored,
    ranges: &Ranges,
) -> Result<(Vec<Vec<u8>>, Stored), String> {
    let history = History::open(repository, options).map_err(|error| error.to_string())?.ok_or("no repository")?;
    let index = history.index_events(&AtomicBool::new(false), &|_, _| ()).map_err(|error| error.to_string())?;
    let paths = regular_files(repository)?;
    let changed = changed(&index, &paths, stored);
    let known = |path: &[u8], key: &EventKey| {
        stored.get(path).filter(|(known, _)| known == key).map(|(_, blame)| Arc::clone(blame))
    };
    let blame = |(path, key): &(&Vec<u8>, EventKey)| {
        let found = history.attribute(&index, &known, path, None, ranges.get(*path)?).ok()?;
        Some((path.to_vec(), (*key, Arc::new(found.blame.committed))))
    };
    let attributed = changed.par_iter().filter_map(blame).collect();
    history.save_diff_cache();
    Ok((paths, attributed))
}

fn changed<'p>(index: &EventIndex, paths: &'p [Vec<u8>], stored: &Stored) -> Vec<(&'p Vec<u8>, EventKey)> {
    let key = |path: &'p Vec<u8>| Some((path, index.latest(path)?));
    let is_new = |(path, key): &(&Vec<u8>, EventKey)| stored.get(*path).is_none_or(|(known, _)| known != key);
    paths.iter().filter_map(key).filter(is_new).collect()
}
