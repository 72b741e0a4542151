//! Estimates whether an update for given changes is quick enough.
//!
//! The constants were measured with a release build on one core of a server from 2020, and rounded up. Skipping an
//! update is better than delaying a search.

use std::time::{Duration, Instant};

use aurora_storage::Manifest;

/// The changes in the tree since it was indexed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TreeChanges {
    /// Number of files that are new, modified or renamed.
    changed: u64,
    /// Number of renamed files.
    renamed: u64,
    /// Number of indexed paths that no longer exist, including the old paths of renamed files.
    pub(super) deleted: u64,
    /// Number of files that had to be read to determine that they are unchanged.
    pub(super) touched: u64,
    /// Total size of all changed files, in bytes.
    bytes: u64,
    /// Size of the largest changed file, in bytes.
    largest: u64,
}

impl TreeChanges {
    /// Adds a file that is new or modified.
    pub(super) fn add(&mut self, bytes: u64) {
        self.changed += 1;
        self.bytes += bytes;
        self.largest = self.largest.max(bytes);
    }

    /// Adds a renamed file. The old path must be counted in `deleted`.
    pub(super) fn add_renamed(&mut self, bytes: u64) {
        self.add(bytes);
        self.renamed += 1;
    }

    /// Returns the number of files that differ.
    pub(super) fn files(&self) -> u64 {
        self.changed + self.deleted.saturating_sub(self.renamed)
    }

    /// Whether there is nothing to update. A few touched files are not worth a new generation. Many touched files are,
    /// because every check reads these files again until their new times are stored.
    pub(super) fn is_empty(&self) -> bool {
        self.files() == 0 && self.touched < MIN_TOUCHED
    }
}

/// Minimum number of touched files that justify an update.
const MIN_TOUCHED: u64 = 64;

/// Time of a run without the time for files: opening the index, building the stages and publishing.
const RUN_COST: Duration = Duration::from_millis(50);
/// Time per changed file, without the time for its content.
const FILE_COST: Duration = Duration::from_micros(500);
/// Time per deleted file.
const DELETION_COST: Duration = Duration::from_micros(200);
/// Time per touched file. Only the row of the file is written.
const TOUCHED_FILE_COST: Duration = Duration::from_micros(10);
/// Time per KiB of text with the built-in model.
const TEXT_COST_PER_KIB: Duration = Duration::from_micros(400);
/// Time per KiB of text with an installed model.
const OTHER_MODEL_TEXT_COST_PER_KIB: Duration = Duration::from_millis(20);
/// Time to load an installed model.
const OTHER_MODEL_LOAD_COST: Duration = Duration::from_millis(500);
/// Time to validate 1 MiB of an index that has changed since this user's last run.
const VALIDATION_COST_PER_MIB: Duration = Duration::from_micros(250);

/// The time budget of an update, and the factors that determine the cost of the update.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowance {
    begun: Instant,
    budget: Duration,
    threads: u32,
    /// Whether the vectors come from an installed model and not from the built-in model.
    has_another_model: bool,
    /// Number of bytes of the index that have to be validated before the first write.
    unvalidated: u64,
}

impl Allowance {
    /// Creates the allowance for an index of which `unvalidated` bytes have to be validated.
    pub(super) fn new(begun: Instant, budget: Duration, threads: usize, manifest: &Manifest, unvalidated: u64) -> Self {
        let threads = u32::try_from(threads.max(1)).unwrap_or(u32::MAX);
        let has_another_model = manifest.model.as_ref().is_some_and(|model| model.id != model.tokens);
        Self { begun, budget, threads, has_another_model, unvalidated }
    }

    /// Returns the time at which the budget is used up.
    pub(super) fn end(&self) -> Instant {
        self.begun + self.budget
    }

    /// Whether processing these changes alone exceeds the budget. Used while the check may still find more changes.
    pub(super) fn is_exceeded(&self, changes: &TreeChanges) -> bool {
        self.files_cost(changes) > self.budget
    }

    /// Whether there is time for an update after a check of the tree that took `check_time`. The update checks the tree
    /// again, so the time counts twice.
    pub(super) fn covers(&self, changes: &TreeChanges, check_time: Duration) -> bool {
        2 * check_time + self.update_cost(changes) <= self.budget
    }

    fn update_cost(&self, changes: &TreeChanges) -> Duration {
        let model = if self.has_another_model && changes.changed > 0 { OTHER_MODEL_LOAD_COST } else { Duration::ZERO };
        RUN_COST + model + times(VALIDATION_COST_PER_MIB, self.unvalidated >> 20) + self.files_cost(changes)
    }

    /// Returns the estimated time for files. Files are processed in parallel, but one file is processed by a single
    /// thread.
    fn files_cost(&self, changes: &TreeChanges) -> Duration {
        let text_cost = if self.has_another_model { OTHER_MODEL_TEXT_COST_PER_KIB } else { TEXT_COST_PER_KIB };
        let threads = self.threads.min(u32::try_from(changes.changed.max(1)).unwrap_or(u32::MAX));
        let total_cost = times(FILE_COST, changes.changed) + times(text_cost, changes.bytes.div_ceil(1024));
        let largest_cost = times(text_cost, changes.largest.div_ceil(1024));
        let rows_cost = times(DELETION_COST, changes.deleted) + times(TOUCHED_FILE_COST, changes.touched);
        (total_cost / threads).max(largest_cost) + rows_cost
    }
}

fn times(duration: Duration, count: u64) -> Duration {
    duration.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECK_TIME: Duration = Duration::from_millis(20);

    fn allowance(budget_ms: u64) -> Allowance {
        let (begun, budget) = (Instant::now(), Duration::from_millis(budget_ms));
        Allowance { begun, budget, threads: 4, has_another_model: false, unvalidated: 0 }
    }

    fn files(count: u64, bytes: u64) -> TreeChanges {
        let mut changes = TreeChanges::default();
        (0..count).for_each(|_| changes.add(bytes));
        changes
    }

    #[test]
    fn the_budget_covers_few_files_but_not_many() {
        let default = allowance(300);
        for (changes, is_covered) in [
            (files(1, 5_000), true),
            (files(100, 5_000), true),
            (files(2_000, 5_000), false),
            // A large file is processed on one thread.
            (files(1, 2 << 20), false),
            (TreeChanges { deleted: 100, ..TreeChanges::default() }, true),
            (TreeChanges { deleted: 10_000, ..TreeChanges::default() }, false),
            (TreeChanges { touched: 5_000, ..TreeChanges::default() }, true),
        ] {
            assert_eq!(default.covers(&changes, CHECK_TIME), is_covered, "{changes:?}");
        }
        assert!(allowance(60_000).covers(&files(2_000, 5_000), CHECK_TIME));
        assert!(!allowance(0).covers(&files(1, 1), Duration::ZERO));
    }

    #[test]
    fn the_time_of_the_check_counts_twice() {
        let one = files(1, 1_000);
        assert!(allowance(300).covers(&one, Duration::from_millis(100)));
        assert!(!allowance(300).covers(&one, Duration::from_millis(150)));
    }

    #[test]
    fn a_check_stops_only_if_the_files_alone_take_too_long() {
        let some = files(1, 1_000);
        assert!(!allowance(20).covers(&some, CHECK_TIME) && !allowance(20).is_exceeded(&some));
        assert!(allowance(300).is_exceeded(&files(10_000, 5_000)));
    }

    #[test]
    fn another_model_and_validation_add_to_the_cost() {
        let slow = Allowance { has_another_model: true, ..allowance(300) };
        assert!(!slow.covers(&files(1, 1_000), CHECK_TIME));
        assert!(slow.covers(&TreeChanges { deleted: 1, ..TreeChanges::default() }, CHECK_TIME));
        assert!(Allowance { has_another_model: true, ..allowance(2_000) }.covers(&files(1, 5_000), CHECK_TIME));
        assert!(!Allowance { unvalidated: 2 << 30, ..allowance(300) }.covers(&files(1, 1_000), CHECK_TIME));
    }

    #[test]
    fn a_renamed_file_counts_once() {
        let mut changes = TreeChanges { deleted: 2, ..TreeChanges::default() };
        changes.add_renamed(10);
        changes.add(10);
        assert_eq!(changes.files(), 3);
        assert!(TreeChanges { touched: 3, ..TreeChanges::default() }.is_empty());
        assert!(!TreeChanges { touched: 1_000, ..TreeChanges::default() }.is_empty());
    }
}
