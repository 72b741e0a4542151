//! Reads and writes the files that contain golden sets.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use aurora_confined::{Directory, read_regular};
use rustc_hash::FxHashSet;

use crate::golden::question::Question;
use crate::golden::{jsonl, yaml};

/// An error in a golden file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1; 0 if the error concerns the file as a whole.
    pub line: usize,
    /// A description of the error and of the expected value.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path.display(), self.message),
            line => write!(f, "{}:{line}: {}", self.path.display(), self.message),
        }
    }
}

/// All errors in golden files, in the order of files and lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the golden set cannot be read:{}", .0.iter().map(|fault| format!("\n  - {fault}")).collect::<String>())]
pub struct GoldenErrors(pub Vec<Fault>);

/// Maximum size of a golden file, in bytes.
const MAX_FILE_BYTES: u64 = 256 << 20;

/// A golden file.
#[derive(Debug)]
pub struct GoldenSource {
    path: PathBuf,
    content: io::Result<Vec<u8>>,
}

impl GoldenSource {
    /// Reads the file at a path that the user has specified.
    pub fn named(path: &Path) -> Self {
        Self { path: path.to_owned(), content: read_regular(path, MAX_FILE_BYTES) }
    }

    /// Reads a file below a directory.
    pub fn below(directory: &Directory, path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        Self { path: directory.path().join(path), content: directory.read(path, MAX_FILE_BYTES) }
    }
}

/// Parses golden files: YAML if the name ends in `.yaml` or `.yml`, otherwise JSON Lines. A question that names no set
/// belongs to the set that is named after the file.
///
/// # Errors
/// Returns the errors of all files at once: files that cannot be read, lines that are not questions, and ids that occur
/// twice in a set.
pub fn read(sources: impl IntoIterator<Item = GoldenSource>) -> Result<Vec<Question>, GoldenErrors> {
    let mut faults = Vec::new();
    let mut questions: Vec<Question> = Vec::new();
    let mut ids: FxHashSet<(String, String)> = FxHashSet::default();
    for GoldenSource { path, content } in sources {
        let path = &path;
        let fault = |line, message: String| Fault { path: path.clone(), line, message };
        let text = match content.map(String::from_utf8) {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => {
                let line = error.as_bytes()[..error.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count();
                faults.push(fault(line + 1, "not UTF-8".to_owned()));
                continue;
            }
            Err(error) => {
                faults.push(fault(0, error.to_string()));
                continue;
            }
        };
        let read = if is_yaml(path) { yaml::read(&text, &stem(path)) } else { jsonl::read(&text, &stem(path)) };
        let mut found = 0;
        for (line, question) in read {
            found += 1;
            match question {
                Ok(question) if ids.insert((question.set.clone(), question.id.clone())) => questions.push(question),
                Ok(Question { id, set, .. }) => {
                    faults.push(fault(line, format!("id `{id}` occurs twice in set `{set}`")));
                }
                Err(messages) => faults.extend(messages.into_iter().map(|message| fault(line, message))),
            }
        }
        if found == 0 {
            faults.push(fault(0, "contains no questions".to_owned()));
        }
    }
    if faults.is_empty() { Ok(questions) } else { Err(GoldenErrors(faults)) }
}

/// Formats questions as JSON Lines, which [`read`] can parse.
pub fn to_jsonl(questions: &[Question]) -> String {
    questions.iter().map(jsonl::line).collect()
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|end| end.eq_ignore_ascii_case("yaml") || end.eq_ignore_ascii_case("yml"))
}

fn stem(path: &Path) -> String {
    path.file_stem().map_or_else(|| "golden".to_owned(), |stem| stem.to_string_lossy().into_owned())
}
