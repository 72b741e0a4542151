//! Resolution of the names by which users refer to chunks: a key, or a line of a file.

use std::path::{Component, Path, PathBuf};

use aurora_query::{Cancelled, QueryError, Searcher, WorkBudget};
use aurora_storage::{ChunkId, FileRecord, Label, Snapshot, StorageError};

use crate::error::ProjectError;

/// Maximum number of ids that an error suggests.
const MAX_SUGGESTIONS: usize = 3;
/// Maximum number of chunks with the same name that are examined for suggestions.
const MAX_NAMESAKES: usize = 1_000;
/// Maximum number of chunks, from files with a similar path, that are compared for suggestions.
const MAX_NEIGHBOURS: usize = 4_000;
/// Maximum length in bytes of a name that is compared with others for suggestions. The time of a comparison grows with
/// the length.
pub(crate) const MAX_COMPARED_BYTES: usize = 512;

/// Resolver for names of chunks and paths of files in an index.
#[derive(Clone, Copy)]
pub struct Names<'a> {
    /// The generation to search.
    pub snapshot: &'a Snapshot,
    /// The indexed directory.
    pub root: &'a Path,
    /// An additional directory against which relative paths are resolved; `None` to resolve them only against the root.
    pub from: Option<&'a Path>,
    /// The work budget of the request, which reports whether the request was cancelled.
    pub work: Option<&'a WorkBudget>,
}

impl<'a> Names<'a> {
    /// Creates a resolver for the index of a project.
    pub fn for_searcher(searcher: &'a Searcher) -> Self {
        let root = searcher.root().unwrap_or(Path::new(""));
        Self { snapshot: searcher.snapshot(), root, from: None, work: None }
    }

    /// Sets the work budget of a request that can be cancelled.
    #[must_use]
    pub fn within(self, work: &'a WorkBudget) -> Self {
        Self { work: Some(work), ..self }
    }

    /// Returns an error if the request was cancelled.
    pub(crate) fn check(&self) -> Result<(), ProjectError> {
        match self.work {
            Some(work) if work.is_cancelled() => Err(QueryError::from(Cancelled).into()),
            _ => Ok(()),
        }
    }

    /// Returns the chunk that `id` refers to, and its key. `id` is a key or a location, `path:line` or
    /// `path:first-last`.
    ///
    /// # Errors
    /// Returns [`ProjectError::UnknownChunk`], [`ProjectError::NoChunkAtLine`] or [`ProjectError::OutsideRoot`] if
    /// there is no such chunk. Also fails if the index cannot be read or the request was cancelled.
    pub fn chunk(&self, id: &str) -> Result<(ChunkId, String), ProjectError> {
        if let Some(found) = self.find_chunk(id)? {
            return Ok(found);
        }
        if let Some((path, line)) = parse_location(id)
            && let Some(file) = self.find_file(path)?
        {
            return Err(ProjectError::NoChunkAtLine { path: file.path, line });
        }
        self.check_location(id)?;
        Err(ProjectError::UnknownChunk { id: id.to_owned(), near: self.similar(id)? })
    }

    /// Like [`Self::chunk`], but returns `None` if there is no such chunk.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn find_chunk(&self, id: &str) -> Result<Option<(ChunkId, String)>, StorageError> {
        if let Some((found, _)) = self.snapshot.chunk_by_key(id)? {
            return Ok(Some((found, id.to_owned())));
        }
        let Some((path, line)) = parse_location(id) else { return Ok(None) };
        match self.find_file(path)? {
            Some(file) => self.innermost(&file, line),
            None => Ok(None),
        }
    }

    /// Returns the record of the file that `path` refers to.
    ///
    /// # Errors
    /// Returns [`ProjectError::OutsideRoot`] or [`ProjectError::UnknownFile`] if there is no such file. Also fails if
    /// the index cannot be read.
    pub fn file(&self, path: &str) -> Result<FileRecord, ProjectError> {
        if let Some(file) = self.find_file(path)? {
            return Ok(file);
        }
        self.check_inside(path)?;
        Err(ProjectError::UnknownFile { path: path.to_owned() })
    }

    /// Returns an error for a path outside the root.
    pub(crate) fn check_inside(&self, path: &str) -> Result<(), ProjectError> {
        match spellings(self.root, self.from, path).is_empty() {
            true => Err(ProjectError::OutsideRoot { path: path.to_owned(), root: self.root.to_owned() }),
            false => Ok(()),
        }
    }

    /// Returns an error if `id` is a location whose path is outside the root.
    pub(crate) fn check_location(&self, id: &str) -> Result<(), ProjectError> {
        parse_location(id).map_or(Ok(()), |(path, _)| self.check_inside(path))
    }

    /// Like [`Self::file`], but returns `None` if there is no such file.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    pub fn find_file(&self, path: &str) -> Result<Option<FileRecord>, StorageError> {
        for path in spellings(self.root, self.from, path) {
            if let Some(file) = self.snapshot.file(&path)? {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }

    /// Returns the smallest chunk of a file that contains a line.
    fn innermost(&self, file: &FileRecord, line: u32) -> Result<Option<(ChunkId, String)>, StorageError> {
        let mut best: Option<(u32, String, ChunkId)> = None;
        for &id in &file.chunks {
            let Some(chunk) = self.snapshot.chunk(id)? else { continue };
            let (first, last) = (chunk.line_start(), chunk.line_end());
            let this = (last.saturating_sub(first), chunk.key().into_owned(), id);
            if (first..=last).contains(&line) && best.as_ref().is_none_or(|best| this < *best) {
                best = Some(this);
            }
        }
        Ok(best.map(|(_, key, id)| (id, key)))
    }

    /// Returns keys similar to `id`, nearest first. The candidates are the keys of chunks in files with a similar path,
    /// and of chunks with the same name. Empty if `id` is longer than [`MAX_COMPARED_BYTES`].
    fn similar(&self, id: &str) -> Result<Vec<String>, ProjectError> {
        if id.len() > MAX_COMPARED_BYTES {
            return Ok(Vec::new());
        }
        let path = |id: &str| id.split(':').find(|part| part.contains(['/', '.'])).unwrap_or(id).to_owned();
        let wanted = path(id);
        let (most, ending) = (wanted.chars().count() / 4, format!("/{wanted}"));
        let mut files = Vec::new();
        for file in self.snapshot.files() {
            self.check()?;
            let file = file?;
            let near = aurora_suggest::distance_within(&file.path, &wanted, most);
            if near.is_some() || file.path.ends_with(&ending) {
                files.push((near.unwrap_or(usize::MAX), file));
            }
        }
        files.sort_by_key(|(distance, _)| *distance);
        let of_files = files.into_iter().flat_map(|(_, file)| file.chunks).take(MAX_NEIGHBOURS);
        let name = id.rsplit(':').next().unwrap_or(id).to_lowercase();
        let of_name = self.snapshot.label(Label::Defines(&name))?.into_iter().take(MAX_NAMESAKES).map(ChunkId);
        let mut keys = Vec::new();
        for id_of_chunk in of_files.chain(of_name) {
            self.check()?;
            if let Some(chunk) = self.snapshot.chunk(id_of_chunk)? {
                let key = chunk.key().into_owned();
                keys.push((aurora_suggest::distance(&key, id), key));
            }
        }
        keys.sort();
        keys.dedup();
        // Do not suggest candidates that are much less similar than the nearest one.
        let farthest = keys.first().map_or(0, |(nearest, _)| 2 * nearest + 2);
        keys.retain(|(distance, _)| *distance <= farthest);
        keys.truncate(MAX_SUGGESTIONS);
        Ok(keys.into_iter().map(|(_, key)| key).collect())
    }
}

/// Splits a location into its path and its first line: `src/a.py` and 12 for `src/a.py:12` and `src/a.py:12-20`.
fn parse_location(id: &str) -> Option<(&str, u32)> {
    let (path, lines) = id.rsplit_once(':')?;
    let first = lines.split_once('-').map_or(lines, |(first, _)| first);
    Some((path, first.parse().ok()?))
}

/// Returns the paths relative to `root` that `path` may refer to, as the index stores them. `path` is resolved
/// against the root and the directory `from`. `path` may be absolute and may contain `.`, `..` and Windows separators.
/// The result is empty if `path` is outside the root.
pub fn spellings(root: &Path, from: Option<&Path>, path: &str) -> Vec<String> {
    let slashed = path.replace('\\', "/");
    let mut found = Vec::new();
    for base in [Some(root), from].into_iter().flatten() {
        for text in [path, &slashed] {
            let place = base.join(text);
            let below = below(root, &place);
            // Resolve symbolic links only if the path comes from the user, in which case `from` is given.
            let through_links = || from.filter(|_| place.is_absolute()).and_then(|_| below_resolved(root, &place));
            found.extend(below.or_else(through_links).filter(|path| !found.contains(path)));
        }
    }
    found
}

fn below_resolved(root: &Path, path: &Path) -> Option<String> {
    below(root, &without_links(path))
}

/// Returns `path` relative to `root`; `None` if it is outside the root.
fn below(root: &Path, path: &Path) -> Option<String> {
    let path = without_dots(path);
    let parts = path.strip_prefix(root).ok()?.components().map(|part| part.as_os_str().to_string_lossy());
    Some(parts.collect::<Vec<_>>().join("/"))
}

/// Resolves symbolic links in the existing part of a path.
pub(crate) fn without_links(path: &Path) -> PathBuf {
    let canonical = |above: &Path| {
        let (real, rest) = (above.canonicalize().ok()?, path.strip_prefix(above).ok()?);
        // Joining an empty path would append a separator.
        Some(if rest.as_os_str().is_empty() { real } else { real.join(rest) })
    };
    path.ancestors().find_map(canonical).unwrap_or_else(|| path.to_owned())
}

fn without_dots(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_resolved_against_the_root_and_the_current_directory() {
        let root = Path::new("/work/app");
        let nowhere: [&str; 0] = [];
        for path in ["src/a.py", "./src/a.py", "src/../src/a.py", "src//a.py", "/work/app/src/a.py", "src/a.py/"] {
            assert_eq!(spellings(root, None, path), ["src/a.py"], "{path}");
        }
        assert_eq!(spellings(root, None, r"src\a.py").last().map(String::as_str), Some("src/a.py"));
        assert_eq!(spellings(root, Some(Path::new("/work/app/src")), "a.py"), ["a.py", "src/a.py"]);
        assert_eq!(spellings(root, Some(Path::new("/work/app/src")), "../a.py"), ["a.py"]);
        for path in ["../a.py", "/work/application/a.py", "/etc/passwd", "src/../../b"] {
            assert_eq!(spellings(root, None, path), nowhere, "{path}");
        }
    }
}
