//! The report of a transfer.

use std::collections::BTreeMap;

use serde::Serialize;

use super::decision::Decision;
use super::problem::{TransferEffect, TransferProblem};

/// Maximum number of problems and mistakes of documents that are listed.
const MAX_LISTED: usize = 20_000;

/// The effect of a transfer, or of a planned transfer.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TransferReport {
    /// Number of entries that did not exist before.
    pub added: u64,
    /// Number of entries that existed with a different, older document and have a new version.
    pub replaced: u64,
    /// Number of entries that existed with the same document.
    pub unchanged: u64,
    /// Number of entries that existed with a different document that is not older, and are unchanged.
    pub kept: u64,
    /// Number of entries that are not stored because their score is too low.
    pub not_stored: u64,
    /// Number of items that are not entries of the memory, by reason.
    pub unmapped: BTreeMap<&'static str, u64>,
    /// Number of differences between stored entries and their sources, by reason.
    pub altered: BTreeMap<&'static str, u64>,
    /// Number of entries whose access history has grown; 0 if nothing was written.
    pub accesses: u64,
    /// The problems in the order in which they were found, up to a limit.
    pub problems: Vec<TransferProblem>,
    /// Number of problems beyond the limit.
    pub more_problems: u64,
    #[serde(skip)]
    listed: usize,
}

impl TransferReport {
    /// Returns the number of transferred entries that are in the memory afterwards, or would be.
    pub fn entries(&self) -> u64 {
        self.added + self.replaced + self.unchanged + self.kept
    }

    /// Returns the number of items that are not entries of the memory.
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
