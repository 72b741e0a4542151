//! What does a new HEAD cost with the caches of an earlier one, and does the result equal a walk of the whole history?

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

/// Attributions by path.
type Stored = HashMap<Vec<u8>, (EventKey, Arc<FileAttribution>)>;

/// Ranges of lines by path.
type Ranges = HashMap<Vec<u8>, Vec<Range<u32>>>;

/// A step from one HEAD to a later one.
pub struct Increment {
    /// Number of commits that only the later HEAD reaches.
    pub commits: usize,
    /// Number of files with a new key.
    pub files: usize,
    /// Cost of attributing everything at the earlier HEAD and writing the caches.
    pub first: Cost,
    /// Peak of anonymous memory during that step, in bytes.
    pub first_peak: u64,
    /// Cost of attributing everything at the later HEAD without caches.
    pub fresh: Cost,
    /// Size of the diff cache after the first step, in bytes.
    pub cache_bytes: u64,
    /// Cost of loading the caches, walking the new commits, attributing the files with a new key, and appending to the
    /// caches.
    pub cost: Cost,
    /// Files whose attribution at the later HEAD differs from a walk of the whole history.
    pub differing: Vec<String>,
}

/// A bare repository that borrows the objects of another one, so that its HEAD can be moved.
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

/// Attributes everything at the commit `back` first parents before HEAD, then HEAD based on the result.
pub fn increment(root: &Path, back: usize) -> Result<Increment, String> {
    let borrowed = Borrowed::new(root)?;
    let beside = Directory::open_root(&borrowed.path()).map_err(|error| error.to_string())?;
    let cache = |name| Some(CacheFile::new(beside.clone(), name, b"bench", u64::MAX));
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
    // The ranges of chunks are known from the text of the files.
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

/// The paragraphs of every file at HEAD, which stand in for chunks when touches are counted.
fn ranges(repository: &Path) -> Result<Ranges, String> {
    let paths = regular_files(repository)?;
    let texts = texts(repository, &paths)?;
    Ok(paths.into_iter().zip(texts.iter().map(|text| paragraphs(text))).collect())
}

/// The ranges of lines between empty lines.
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

/// The files at HEAD, and the attributions of files whose key differs from the stored one.
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
