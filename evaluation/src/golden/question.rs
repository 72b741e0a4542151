//! A question with its answers.

use serde::Serialize;

/// Minimum grade of an answer that counts as found.
pub(crate) const FOUND: u8 = 2;

/// A place that answers a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Path relative to the indexed root, with `/`. In a YAML file, a path without `/` matches any file of that name.
    pub path: String,
    /// First and last line, from 1, both included; `None` for the whole file.
    pub lines: Option<(u32, u32)>,
    /// Name of the definition there, for human readers.
    pub name: Option<String>,
    /// The quality of the answer, from 0 (no answer) to 9; from 2 on it counts as found. `None` in ungraded questions.
    pub grade: Option<u8>,
    /// Whether a file of this name in any directory is an answer.
    #[serde(skip)]
    pub any_directory: bool,
}

/// A question with its answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Question {
    /// Identifies the question in reports; unique within its set.
    pub id: String,
    /// The query to search for.
    pub query: String,
    /// The set that the question belongs to.
    pub set: String,
    /// At least one answer, of which at least one counts as found.
    pub relevant: Vec<Answer>,
    /// Notes about the question.
    pub tags: Vec<String>,
    /// Topics that the answers should cover.
    pub topics: Vec<String>,
    /// Minimum share of the answers among the first ten results, 0..1.
    pub min_recall: Option<f64>,
}

impl Question {
    /// Whether any answer has a grade.
    pub fn is_graded(&self) -> bool {
        self.relevant.iter().any(|answer| answer.grade.is_some())
    }

    /// Whether every answer is a whole file, so that files are ranked instead of chunks.
    pub fn asks_for_files(&self) -> bool {
        self.relevant.iter().all(|answer| answer.lines.is_none())
    }
}
