//! What a transfer has done.

use std::collections::BTreeMap;

use serde::Serialize;

use super::decision::Decision;
use super::problem::{TransferEffect, TransferProblem};

/// Most problems, and mistakes of documents, that are listed.
const MOST_LISTED: usize = 20_000;

/// What a transfer has done, or would do.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct TransferReport {
    /// Entries that were not there.
    pub added: u64,
    /// Entries that were there with another, older document, and have a new version.
    pub replaced: u64,
    /// Entries that were there with the same document.
    pub unchanged: u64,
    /// Entries that were there with another document which is not older, and stay as they are.
    pub kept: u64,
    /// Entries that are not stored, since their score is too low.
    pub not_stored: u64,
    /// What is no entry of the memory, counted by reason.
    pub unmapped: BTreeMap<&'static str, u64>,
    /// What differs in an entry from what was read, counted by reason.
    pub altered: BTreeMap<&'static str, u64>,
    /// Entries whose access history has grown; 0 where nothing was written.
    pub accesses: u64,
    /// All of that which is to be reported, in the order in which it was found, up to a bound.
    pub problems: Vec<TransferProblem>,
    /// How many more problems there are.
    pub more_problems: u64,
    #[serde(skip)]
    listed: usize,
}

impl TransferReport {
    /// Entries that the transfer was given and that are in the memory now, or would be.
    pub fn entries(&self) -> u64 {
        self.added + self.replaced + self.unchanged + self.kept
    }

    /// How many things are no entries of the memory.
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
        if self.listed <= MOST_LISTED {
            self.problems.push(problem);
        } else {
            self.more_problems += 1;
        }
    }
}
