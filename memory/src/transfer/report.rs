//! The report of a transfer.

use std::collections::BTreeMap;

use serde::Serialize;

use super::decision::Decision;
use super::problem::{TransferEffect, TransferProblem};

/// Maximum number of listed problems. Each mistake in a document also counts as one.
const MAX_LISTED: usize = 20_000;

/// The effects of a transfer or of a dry run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TransferReport {
    /// Number of entries that did not exist before.
    pub added: u64,
    /// Number of entries whose stored document was replaced.
    pub replaced: u64,
    /// Number of entries that were already stored with the same document.
    pub unchanged: u64,
    /// Number of entries whose stored document differs and was kept, because it is not older.
    pub kept: u64,
    /// Number of entries that were not stored, because their score is too low.
    pub not_stored: u64,
    /// Number of items that could not be imported, by reason.
    pub unmapped: BTreeMap<&'static str, u64>,
    /// Number of differences between stored entries and their sources, by reason.
    pub altered: BTreeMap<&'static str, u64>,
    /// Number of entries whose access record has changed; 0 in a dry run.
    pub accesses: u64,
    /// The problems in the order in which they were found. The number of listed problems is limited.
    pub problems: Vec<TransferProblem>,
    /// Number of problems that are not listed, because the limit was reached.
    pub more_problems: u64,
    /// Number of problems and mistakes so far.
    #[serde(skip)]
    listed: usize,
}

impl TransferReport {
    /// Returns the number of transferred entries that the memory contains after the transfer.
    pub fn entries(&self) -> u64 {
        self.added + self.replaced + self.unchanged + self.kept
    }

    /// Returns the number of items that could not be imported.
    pub fn unmapped_count(&self) -> u64 {
        self.unmapped.values().sum()
    }

    pub(super) fn count(&mut self, decision: Decision) {
        *match decision {
            Decision::Add => &mut self.added,
            Decision::Replace { .. } => &mut self.replaced,
            Decision::Nothing => &mut self.unchanged,
            Decision::Keep => &mut self.kept,
        } += 1;
    }

    pub(super) fn add(&mut self, problem: TransferProblem) {
        match problem.effect {
            TransferEffect::NotStored => self.not_stored += 1,
            TransferEffect::Unmapped => *self.unmapped.entry(problem.reason).or_default() += 1,
            TransferEffect::Altered => *self.altered.entry(problem.reason).or_default() += 1,
        }
        self.listed += 1 + problem.mistakes.iter().len();
        if self.listed <= MAX_LISTED {
            self.problems.push(problem);
        } else {
            self.more_problems += 1;
        }
    }
}
