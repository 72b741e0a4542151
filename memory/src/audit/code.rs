//! References of entries to code that is gone or has changed.

use std::collections::BTreeSet;
use std::path::Path;

use aurora_confined::Directory;
use aurora_memory_schema::{Entry, Kind, searchable};
use aurora_storage::Snapshot;

use super::finding::FindingKind;
use crate::error::MemoryError;
use crate::report::rfc3339;

/// Maximum number of references of an entry that are checked.
const MAX_REFERENCES: usize = 64;
/// Maximum length of a file extension in characters.
const MAX_EXTENSION_CHARS: usize = 10;
/// Maximum number of missing references that a finding names.
const MAX_NAMED: usize = 3;

/// The code of a project: its index, and its directory.
pub struct ProjectCode {
    snapshot: Snapshot,
    root: Directory,
}

/// A reference to a file, or to a definition in a file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Reference {
    /// The path relative to the project.
    path: String,
    /// The name of the definition, as in the ids of chunks.
    name: Option<String>,
    /// Whether the entry refers to the code by its id, so that the reference cannot be another kind of text.
    is_id: bool,
}

impl ProjectCode {
    /// Creates the value for the index of the project in the directory `root`.
    ///
    /// # Errors
    /// Fails if the directory cannot be opened.
    pub fn new(snapshot: Snapshot, root: &Path) -> std::io::Result<Self> {
        Ok(Self { snapshot, root: Directory::open_root(root)? })
    }

    /// Returns the findings about the code to which an entry refers. `time` is the time of the last change of the
    /// entry, in Unix seconds.
    pub(super) fn findings(&self, entry: &Entry, time: i64) -> Result<Vec<(FindingKind, String)>, MemoryError> {
        let (mut missing, mut newest) = (Vec::new(), None);
        for reference in references(entry) {
            match self.newest_commit(&reference)? {
                Some(commit) => newest = newest.max(commit.map(|commit| (commit, reference))),
                None if self.is_missing(&reference) => missing.push(reference.to_string()),
                None => {}
            }
        }
        let mut findings = Vec::new();
        if !missing.is_empty() {
            let more = missing.len().saturating_sub(MAX_NAMED);
            missing.truncate(MAX_NAMED);
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            findings
                .push((FindingKind::MissingCode, format!("names {}{more}, which does not exist", missing.join(", "))));
        }
        if let Some((commit, reference)) = newest.filter(|(commit, _)| *commit > time) {
            let date = rfc3339(commit);
            let date = date.split('T').next().unwrap_or_default();
            let detail = format!("a commit of {date} changed {reference} after the last change of the entry");
            findings.push((FindingKind::ChangedCode, detail));
        }
        Ok(findings)
    }

    /// Returns the time of the newest commit that changed the code, if the code is in the index. The inner value is
    /// `None` if git does not track the code.
    fn newest_commit(&self, reference: &Reference) -> Result<Option<Option<i64>>, MemoryError> {
        if reference.name.is_some() {
            let found = self.snapshot.chunk_by_key(&reference.to_key())?;
            return Ok(found.map(|(_, chunk)| chunk.newest_commit_time()));
        }
        let Some(file) = self.snapshot.file(&reference.path)? else { return Ok(None) };
        let mut newest = None;
        for id in file.chunks {
            newest = newest.max(self.snapshot.chunk(id)?.and_then(|chunk| chunk.newest_commit_time()));
        }
        Ok(Some(newest))
    }

    /// Whether code that is not in the index is gone. A file that exists was left out of the index. A text that only
    /// looks like a path is no reference to the project, unless the first directory of the path exists.
    fn is_missing(&self, reference: &Reference) -> bool {
        let exists = |path: &str| self.root.contains(path).unwrap_or(true);
        match (exists(&reference.path), &reference.name) {
            (true, name) => name.is_some() && reference.is_id && self.has_file(&reference.path),
            (false, _) if reference.is_id => true,
            (false, _) => reference.path.split_once('/').is_some_and(|(first, _)| exists(first)),
        }
    }

    fn has_file(&self, path: &str) -> bool {
        self.snapshot.file(path).is_ok_and(|file| file.is_some_and(|file| !file.chunks.is_empty()))
    }
}

impl Reference {
    /// Returns the key of the chunk.
    fn to_key(&self) -> String {
        let Self { path, name, .. } = self;
        format!("{}{path}{}", Kind::Code.prefix(), name.as_ref().map(|name| format!(":{name}")).unwrap_or_default())
    }

    /// Parses the id of a chunk, such as `code:src/http.py:retry`.
    fn from_id(id: &str) -> Option<Self> {
        let rest = id.strip_prefix(Kind::Code.prefix())?;
        let (path, name) = rest.split_once(':').map_or((rest, None), |(path, name)| (path, Some(name)));
        let name = name.filter(|name| !is_line(name)).map(str::to_owned);
        is_inside(path).then(|| Self { path: path.to_owned(), name, is_id: true })
    }

    /// Parses a word of a text: an id, or a path with at least one `/` and an extension.
    fn from_word(word: &str) -> Option<Self> {
        let word = word.trim_matches(|c: char| !c.is_alphanumeric() && !"._/".contains(c)).trim_end_matches(['.', ':']);
        if let Some(reference) = Self::from_id(word) {
            return Some(Self { is_id: reference.name.is_some(), ..reference });
        }
        let path = word.split(':').next().unwrap_or_default().trim_start_matches("./");
        let (directory, file) = path.rsplit_once('/')?;
        let (stem, extension) = file.rsplit_once('.')?;
        let is_path = !word.contains("://")
            && !directory.is_empty()
            && !stem.is_empty()
            && (1..=MAX_EXTENSION_CHARS).contains(&extension.chars().count())
            && extension.chars().all(char::is_alphanumeric)
            && path.chars().all(|c| c.is_alphanumeric() || "._-/+@".contains(c))
            && is_inside(path);
        is_path.then(|| Self { path: path.to_owned(), name: None, is_id: false })
    }
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{}:{name}", self.path),
            None => f.write_str(&self.path),
        }
    }
}

fn is_line(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_digit() || c == '-')
}

/// Whether a relative path stays inside the project.
fn is_inside(path: &str) -> bool {
    !path.is_empty()
        && !path.starts_with('/')
        && !path.split('/').any(|part| part.is_empty() || part == ".." || part == ".")
}

fn references(entry: &Entry) -> BTreeSet<Reference> {
    let links = entry.links();
    let of_links = links.iter().filter_map(|link| Reference::from_id(link.to));
    let text = searchable(entry).text;
    let of_text =
        text.split(|c: char| c.is_whitespace() || "`'\"()[]{}<>,;|".contains(c)).filter_map(Reference::from_word);
    of_links.chain(of_text).take(MAX_REFERENCES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_paths_or_ids_are_references() {
        let check = |word: &str, expected: Option<&str>| {
            assert_eq!(
                Reference::from_word(word).map(|reference| reference.to_string()).as_deref(),
                expected,
                "{word}"
            );
        };
        check("src/http.py", Some("src/http.py"));
        check("./src/http.py:12-40.", Some("src/http.py"));
        check("**src/http.py**:", Some("src/http.py"));
        check("code:src/http.py:retry", Some("src/http.py:retry"));
        check("code:src/http.py:12", Some("src/http.py"));
        for word in
            ["http.py", "and/or", "https://example.org/a.html", "/etc/hosts.conf", "../a/b.py", "a/.b", "1/2.", ""]
        {
            check(word, None);
        }
    }
}
