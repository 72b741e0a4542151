//! A question with its answers.

use serde::{Serialize, Serializer};

/// Minimum grade of an answer that all metrics take into account. Only nDCG also uses lower grades.
pub(crate) const FOUND: u8 = 2;

/// A file, or lines of a file, that answer a question.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Answer {
    /// Path relative to the indexed root, with `/` as separator. In a YAML file, a path without `/` matches any file of
    /// that name.
    pub path: String,
    /// First and last line, from 1, both included; `None` for the whole file.
    #[serde(flatten, serialize_with = "serialize_lines")]
    pub lines: Option<(u32, u32)>,
    /// Name of the definition in these lines, for human readers.
    pub name: Option<String>,
    /// Relevance of the answer, from 0 (irrelevant) to 9. Only nDCG takes grades below 2 into account; for all other
    /// metrics, such an answer does not exist. `None` in ungraded questions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grade: Option<u8>,
    /// Whether a file of this name in any directory is an answer.
    #[serde(skip)]
    pub any_directory: bool,
}

/// Serialises the lines as two fields, which are null for a whole file.
fn serialize_lines<S: Serializer>(lines: &Option<(u32, u32)>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map([("line_start", lines.map(|lines| lines.0)), ("line_end", lines.map(|lines| lines.1))])
}

/// A question with its answers. It is serialised as in a golden file.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Question {
    /// Id of the question in reports, unique within its set.
    pub id: String,
    /// The set that the question belongs to.
    pub set: String,
    /// Words to search for.
    pub query: String,
    /// The answers. At least one of them has a grade of 2 or above, or no grade.
    pub relevant: Vec<Answer>,
    /// Notes for human readers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Topics that the answers should cover.
    #[serde(rename = "expected_topics", skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// Minimum share of the answers that the first ten results must contain, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_recall: Option<f64>,
}

impl Question {
    /// Returns `true` if any answer has a grade.
    pub fn is_graded(&self) -> bool {
        self.relevant.iter().any(|answer| answer.grade.is_some())
    }

    /// Returns `true` if every answer is a whole file. Then a ranking of files is evaluated: only the first result of
    /// each file counts.
    pub fn asks_for_files(&self) -> bool {
        self.relevant.iter().all(|answer| answer.lines.is_none())
    }
}
