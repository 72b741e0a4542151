//! The report of a verification.

use serde::Serialize;

use crate::error::StorageError;

/// Maximum number of problems that are listed.
const MAX_LISTED: usize = 100;

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Number of file rows that were read.
    pub files: u64,
    /// Number of chunk records that were read.
    pub chunks: u64,
    /// Number of dictionary entries that were read, including labels.
    pub terms: u64,
    /// Number of postings that were read, including those of deleted chunks.
    pub postings: u64,
    /// Number of vectors of live chunks.
    pub vectors: u64,
    /// Descriptions of the first problems, at most 100.
    pub problems: Vec<String>,
    /// Number of all problems.
    pub problem_count: u64,
    /// Number of problems in the keyword index, which can be rebuilt from the stored chunks.
    pub keyword_problems: u64,
}

impl VerifyReport {
    /// Whether there are no problems.
    pub fn is_ok(&self) -> bool {
        self.problem_count == 0
    }

    /// Whether there are problems, and all of them are in the keyword index. [`crate::Environment::rebuild_keywords`]
    /// repairs such an index.
    pub fn has_only_keyword_problems(&self) -> bool {
        self.problem_count > 0 && self.keyword_problems == self.problem_count
    }

    /// Adds a problem.
    pub(super) fn problem(&mut self, problem: String) {
        self.problem_count += 1;
        if self.problems.len() < MAX_LISTED {
            self.problems.push(problem);
        }
    }

    /// Adds a problem unless `holds` is true.
    pub(super) fn expect(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.problem(problem());
        }
    }

    /// Adds the counts and the problems of another report.
    pub(super) fn append(&mut self, other: Self) {
        self.files += other.files;
        self.chunks += other.chunks;
        self.terms += other.terms;
        self.postings += other.postings;
        self.vectors += other.vectors;
        self.problem_count += other.problem_count;
        self.problems.extend(other.problems);
        self.problems.truncate(MAX_LISTED);
    }

    /// Adds the error of a check as a problem. Returns whether the check succeeded.
    pub(super) fn note_errors(&mut self, check: impl FnOnce(&mut Self) -> Result<(), StorageError>) -> bool {
        check(self).map_err(|error| self.problem(problem_message(error))).is_ok()
    }
}

/// Returns the problem that an error describes, without the path of the index.
pub(super) fn problem_message(error: StorageError) -> String {
    match error {
        StorageError::Damaged { what, .. } => what,
        error => error.to_string(),
    }
}
