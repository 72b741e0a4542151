//! The report of a verification.

use serde::Serialize;

use crate::error::StorageError;

/// Maximum number of problems that are put into words.
const MAX_LISTED: usize = 100;

/// The result of a verification.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// File rows that were read.
    pub files: u64,
    /// Chunk records that were read.
    pub chunks: u64,
    /// Dictionary entries that were read, labels included.
    pub terms: u64,
    /// Postings that were read, those of dead chunks included.
    pub postings: u64,
    /// Vectors of live chunks.
    pub vectors: u64,
    /// The first problems, in words.
    pub problems: Vec<String>,
    /// Number of all problems.
    pub problem_count: u64,
    /// Number of problems in the keyword index, which can be made anew from the stored chunks.
    pub keyword_problems: u64,
}

impl VerifyReport {
    /// Whether nothing is wrong.
    pub fn is_ok(&self) -> bool {
        self.problem_count == 0
    }

    /// Whether something is wrong, and all of it in the keyword index: see [`crate::Environment::rebuild_keywords`].
    pub fn only_keywords(&self) -> bool {
        self.problem_count > 0 && self.keyword_problems == self.problem_count
    }

    /// Adds a problem.
    pub(super) fn problem(&mut self, problem: String) {
        self.problem_count += 1;
        if self.problems.len() < MAX_LISTED {
            self.problems.push(problem);
        }
    }

    /// Adds a problem unless a condition holds.
    pub(super) fn expect(&mut self, holds: bool, problem: impl FnOnce() -> String) {
        if !holds {
            self.problem(problem());
        }
    }

    /// Adds the figures and the problems of another report.
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

    /// Adds an error as a problem.
    pub(super) fn note(&mut self, result: Result<(), StorageError>) {
        if let Err(error) = result {
            self.problem(problem_of(error));
        }
    }
}

/// The problem that an error is, in words.
pub(super) fn problem_of(error: StorageError) -> String {
    match error {
        StorageError::Damaged { what, .. } => what,
        error => error.to_string(),
    }
}
