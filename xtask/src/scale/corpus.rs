//! The files that `aur` indexes and that the bare loop parses.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};

use crate::exact;

/// Number of queries in a batch. Also the number of files from which the queries are sampled.
const QUERIES: usize = 200;

pub(super) struct Corpus {
    pub(super) name: String,
    pub(super) root: PathBuf,
    /// Paths of the files below the root.
    pub(super) paths: Vec<PathBuf>,
    /// Input of the bare loop: a language, a tab and an absolute path in each line.
    pub(super) list: String,
}

impl Corpus {
    /// Links the files of a directory once or several times. Skips `.git` and `.aurora`.
    pub(super) fn link(from: &Path, root: &Path, copies: usize) -> Result<Self, String> {
        let failed = |error: io::Error| format!("cannot link the files of {}: {error}", from.display());
        let found = files(from).map_err(failed)?;
        let mut paths = Vec::new();
        for copy in 1..=copies {
            let below = if copies == 1 { PathBuf::new() } else { format!("copy-{copy}").into() };
            for path in &found {
                link(&from.join(path), &root.join(&below).join(path)).map_err(failed)?;
                paths.push(below.join(path));
            }
        }
        paths.sort_unstable();
        Ok(Self { name: "all".into(), root: root.to_owned(), paths, list: String::new() })
    }

    /// Removes files and directories from the corpus.
    pub(super) fn remove(&mut self, removed: &HashSet<PathBuf>) {
        self.paths.retain(|path| !path.ancestors().any(|path| removed.contains(path)));
    }

    pub(super) fn bytes(&self) -> Result<u64, String> {
        self.paths.iter().map(|path| size(&self.root.join(path))).sum()
    }

    /// Returns names of definitions, or of files if no definition is found, in an order that depends only on the files.
    pub(super) fn queries(&self) -> Result<Vec<String>, String> {
        let sample = spread(&self.paths.iter().collect::<Vec<_>>());
        let sample: Vec<String> = sample.iter().map(|path| path.to_string_lossy().into_owned()).collect();
        let files = sample.iter().map(|path| path.rsplit('/').next().unwrap_or(path).to_owned()).collect();
        let mut names: BTreeSet<String> = exact::names(&self.root, sample)?.into_iter().collect();
        if names.is_empty() {
            names = files;
        }
        Ok(spread(&names.into_iter().collect::<Vec<_>>()))
    }

    /// Returns a corpus for each of the `count` languages with the most bytes in the list of the bare loop.
    pub(super) fn languages(&self, count: usize, below: &Path) -> Result<Vec<Self>, String> {
        let mut lists: HashMap<&str, (u64, Vec<&str>)> = HashMap::new();
        for line in self.list.lines() {
            let (language, path) = line.split_once('\t').ok_or("a line of the list has no language")?;
            let (bytes, lines) = lists.entry(language).or_default();
            *bytes += size(Path::new(path))?;
            lines.push(line);
        }
        let mut lists: Vec<_> = lists.into_iter().collect();
        lists.sort_unstable_by_key(|(language, (bytes, _))| (Reverse(*bytes), *language));
        let corpora = lists.into_iter().take(count).map(|(language, (_, lines))| {
            let root = below.join(language);
            let absolute = lines.iter().filter_map(|line| Some(Path::new(line.split_once('\t')?.1)));
            let paths: Vec<_> =
                absolute.filter_map(|path| Some(path.strip_prefix(&self.root).ok()?.to_owned())).collect();
            let linked = paths.iter().try_for_each(|path| link(&self.root.join(path), &root.join(path)));
            linked.map_err(|error| format!("cannot link the files of {language}: {error}"))?;
            Ok(Self { name: language.to_owned(), root, paths, list: lines.join("\n") })
        });
        corpora.collect()
    }
}

/// Returns the paths of all files below a directory. Symbolic links are not followed.
fn files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut directories = vec![PathBuf::new()];
    while let Some(directory) = directories.pop() {
        for entry in std::fs::read_dir(root.join(&directory))? {
            let (path, kind) = entry.and_then(|entry| Ok((directory.join(entry.file_name()), entry.file_type()?)))?;
            if kind.is_file() {
                files.push(path);
            } else if kind.is_dir() && !path.ends_with(".git") && !path.ends_with(".aurora") {
                directories.push(path);
            }
        }
    }
    Ok(files)
}

/// Creates a hard link to a file, or a copy on another file system.
fn link(from: &Path, to: &Path) -> io::Result<()> {
    to.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::hard_link(from, to).or_else(|_| std::fs::copy(from, to).map(drop))
}

fn size(path: &Path) -> Result<u64, String> {
    std::fs::metadata(path).map(|file| file.len()).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns elements at even intervals, or all elements if there are few.
fn spread<T: Clone>(all: &[T]) -> Vec<T> {
    let count = all.len().min(QUERIES);
    (0..count).map(|index| all[index * all.len() / count].clone()).collect()
}
