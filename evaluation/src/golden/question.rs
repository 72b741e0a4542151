//! A question with its answers.

use serde::Serialize;

/// The grade from which on an answer counts as found.
pub(crate) const FOUND: u8 = 2;

/// A place that answers a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Path relative to the indexed root, with `/`. A path without `/` in a YAML file means any file of that name.
    pub path: String,
    /// First and last line, from 1, both included; `None` for the whole file.
    pub lines: Option<(u32, u32)>,
    /// Name of the definition there, for people.
    pub name: Option<String>,
    /// How well it answers, from 0 (not at all) to 9; from 2 on it counts as found. `None` in ungraded questions.
    pub grade: Option<u8>,
    /// Whether any file of this name, in any directory, will do.
    #[serde(skip)]
    pub any_directory: bool,
}

/// A question with its answers.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Question {
    /// Names the question in reports, unique in its set.
    pub id: String,
    /// What is searched for.
    pub query: String,
    /// The set that it is counted with.
    pub set: String,
    /// At least one answer, and at least one that counts as found.
    pub relevant: Vec<Answer>,
    /// A note about the question.
    pub tags: Vec<String>,
    /// Topics that the answers should cover.
    pub topics: Vec<String>,
    /// The share of the answers that the first ten results must hold, 0..1.
    pub min_recall: Option<f64>,
}

impl Question {
    /// Whether some answer has a grade.
    pub fn is_graded(&self) -> bool {
        self.relevant.iter().any(|answer| answer.grade.is_some())
    }

    /// Whether every answer is a whole file, so that files are ranked instead of chunks.
    pub fn asks_for_files(&self) -> bool {
        self.relevant.iter().all(|answer| answer.lines.is_none())
    }
}
