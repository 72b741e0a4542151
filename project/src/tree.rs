//! Statistics of an index by directory.

use std::collections::BTreeMap;

use aurora_storage::{FileOutcome, FileRecord, Snapshot, StorageError};
use serde::Serialize;

/// Maximum number of files in the report of a directory. The largest files are listed.
const MAX_FILES: usize = 1_000;

/// A directory of the index with its subdirectories, for programs.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TreeReport {
    /// The requested directory, with its subdirectories.
    pub directory: DirectoryReport,
    /// The files directly in the directory, largest first; at most a thousand.
    pub files: Vec<FileEntry>,
}

/// Statistics of a directory and everything below it.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct DirectoryReport {
    /// Path below the root; empty for the root.
    pub path: String,
    /// Number of indexed files.
    pub files: u64,
    /// Number of chunks in these files.
    pub chunks: u64,
    /// Number of lines in these files.
    pub lines: u64,
    /// Number of bytes in these files.
    pub bytes: u64,
    /// Indexed files by language, most bytes first.
    pub languages: Vec<LanguageShare>,
    /// Files that were read but left out, by reason, most files first.
    pub skipped: Vec<ReasonShare>,
    /// The direct subdirectories, sorted by path; `None` at the maximum depth.
    #[cfg_attr(feature = "schema", schema(no_recursion))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directories: Option<Vec<DirectoryReport>>,
}

/// The files in one language.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LanguageShare {
    /// Name of the language; empty if it was not recognised.
    pub language: String,
    /// Number of indexed files.
    pub files: u64,
    /// Number of chunks.
    pub chunks: u64,
    /// Number of lines.
    pub lines: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// The files that were left out for one reason.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct ReasonShare {
    /// The reason.
    pub reason: String,
    /// Number of files.
    pub files: u64,
    /// Number of bytes.
    pub bytes: u64,
}

/// A file of a [`TreeReport`].
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileEntry {
    /// Path below the root.
    pub path: String,
    /// Name of the language; empty if it was not recognised.
    pub language: String,
    /// Number of chunks.
    pub chunks: u64,
    /// Number of lines.
    pub lines: u64,
    /// Size in bytes.
    pub bytes: u64,
    /// The reason why the file was left out, if it was.
    pub skipped: Option<String>,
}

/// Creates the report of a directory of the index (`""` for the root), with subdirectories down to `depth` levels.
/// Returns `None` if the index has no file below the directory. The root always has a report.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn tree(snapshot: &Snapshot, path: &str, depth: u32) -> Result<Option<TreeReport>, StorageError> {
    let path = path.trim_matches('/');
    let (mut totals, mut files) = (Totals::default(), Vec::new());
    let mut is_known = path.is_empty();
    for file in snapshot.files() {
        let file = file?;
        let Some(below) = below(&file.path, path) else { continue };
        is_known = true;
        totals.add(&file, below, depth);
        if !below.contains('/') {
            files.push(FileEntry::new(&file));
        }
    }
    files.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.path.cmp(&b.path)));
    files.truncate(MAX_FILES);
    Ok(is_known.then(|| TreeReport { directory: totals.report(path.to_owned(), depth), files }))
}

/// Returns the part of a file's path below a directory; `None` if the file is not below it.
fn below<'p>(file: &'p str, directory: &str) -> Option<&'p str> {
    if directory.is_empty() { Some(file) } else { file.strip_prefix(directory)?.strip_prefix('/') }
}

impl FileEntry {
    fn new(file: &FileRecord) -> Self {
        let skipped = match &file.outcome {
            FileOutcome::Indexed => None,
            FileOutcome::Skipped(reason) => Some(reason.clone()),
        };
        Self {
            path: file.path.clone(),
            language: file.language.clone(),
            chunks: file.chunks.len() as u64,
            lines: file.lines.into(),
            bytes: file.size,
            skipped,
        }
    }
}

/// Sums over the files in a directory and its subdirectories.
#[derive(Default)]
struct Totals {
    languages: BTreeMap<String, LanguageShare>,
    skipped: BTreeMap<String, ReasonShare>,
    directories: BTreeMap<String, Totals>,
}

impl Totals {
    /// Adds a file, given by its path below the directory. The depth of the recursion is the depth of the report.
    fn add(&mut self, file: &FileRecord, below: &str, depth: u32) {
        match &file.outcome {
            FileOutcome::Indexed => {
                let share = self.languages.entry(file.language.clone()).or_default();
                share.files += 1;
                share.chunks += file.chunks.len() as u64;
                share.lines += u64::from(file.lines);
                share.bytes += file.size;
            }
            FileOutcome::Skipped(reason) => {
                let share = self.skipped.entry(reason.clone()).or_default();
                share.files += 1;
                share.bytes += file.size;
            }
        }
        if let Some((directory, rest)) = below.split_once('/').filter(|_| depth > 0) {
            self.directories.entry(directory.to_owned()).or_default().add(file, rest, depth - 1);
        }
    }

    fn report(self, path: String, depth: u32) -> DirectoryReport {
        let languages = self.languages.into_iter().map(|(language, share)| LanguageShare { language, ..share });
        let mut languages: Vec<_> = languages.collect();
        languages.sort_by_key(|share| std::cmp::Reverse(share.bytes));
        let mut skipped: Vec<_> =
            self.skipped.into_iter().map(|(reason, share)| ReasonShare { reason, ..share }).collect();
        skipped.sort_by_key(|share| std::cmp::Reverse(share.files));
        let full = |name: String| if path.is_empty() { name } else { format!("{path}/{name}") };
        let directories =
            self.directories.into_iter().map(|(name, totals)| totals.report(full(name), depth.saturating_sub(1)));
        DirectoryReport {
            files: languages.iter().map(|share| share.files).sum(),
            chunks: languages.iter().map(|share| share.chunks).sum(),
            lines: languages.iter().map(|share| share.lines).sum(),
            bytes: languages.iter().map(|share| share.bytes).sum(),
            directories: (depth > 0).then(|| directories.collect()),
            path: path.clone(),
            languages,
            skipped,
        }
    }
}

#[cfg(test)]
mod tests {
    use aurora_storage::FileStamp;

    use super::*;

    fn totals(files: &[(&str, &str, u64)], depth: u32) -> Totals {
        let mut totals = Totals::default();
        for (path, language, size) in files {
            let outcome = match language.strip_prefix('!') {
                Some(reason) => FileOutcome::Skipped(reason.to_owned()),
                None => FileOutcome::Indexed,
            };
            let file = FileRecord {
                path: (*path).to_owned(),
                size: *size,
                stamp: FileStamp::default(),
                blob: Vec::new(),
                hash: [0; 32],
                language: (*language).to_owned(),
                outcome,
                history_key: Vec::new(),
                chunks: Vec::new(),
                lines: 2,
                warnings: Vec::new(),
                unfinished: Vec::new(),
            };
            totals.add(&file, path, depth);
        }
        totals
    }

    #[test]
    fn the_counts_of_a_directory_include_its_subdirectories() {
        let files =
            [("a/b/x.py", "python", 5), ("a/y.go", "go", 7), ("a/z.bin", "!binary", 9), ("r.md", "markdown", 1)];
        let whole = totals(&files, 1).report(String::new(), 1);
        assert_eq!((whole.files, whole.bytes, whole.lines), (3, 13, 6));
        let [a] = whole.directories.as_deref().expect("the report has subdirectories") else { panic!("{whole:?}") };
        assert_eq!((a.path.as_str(), a.files, a.bytes, &a.directories), ("a", 2, 12, &None));
        let languages: Vec<_> = a.languages.iter().map(|share| (share.language.as_str(), share.bytes)).collect();
        assert_eq!(languages, [("go", 7), ("python", 5)]);
        assert_eq!(a.skipped, [ReasonShare { reason: "binary".to_owned(), files: 1, bytes: 9 }]);
        let deep = totals(&files, 2).report("src".to_owned(), 2);
        let below = &deep.directories.as_deref().expect("the report has subdirectories")[0]
            .directories
            .as_deref()
            .expect("the report has subdirectories")[0];
        assert_eq!(below.path, "src/a/b");
    }

    #[test]
    fn a_directory_does_not_match_a_prefix_of_a_name() {
        assert_eq!(below("src/a.rs", "src"), Some("a.rs"));
        assert_eq!(below("srcs/a.rs", "src"), None);
        assert_eq!(below("src/a.rs", ""), Some("src/a.rs"));
    }
}
