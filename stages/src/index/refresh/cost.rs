//! Estimates from the changes whether an update is quick enough.
//!
//! The constants are for a release build on one core of a server of 2020, and rather too high: skipping an update costs
//! less than delaying a search.

use std::time::{Duration, Instant};

use aurora_storage::Manifest;

/// The changes in the tree since it was indexed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TreeChanges {
    /// Number of files that are new, differ, or have another path.
    changed: u64,
    /// Number of these files that have another path.
    renamed: u64,
    /// Number of indexed files that are gone, including the old paths of renamed files.
    pub(super) deleted: u64,
    /// Number of files that had to be read to determine that they are unchanged.
    pub(super) touched: u64,
    /// Size of all changed files and of the largest changed file, in bytes.
    bytes: u64,
    largest: u64,
}

impl TreeChanges {
    /// Adds a file that is new or differs.
    pub(super) fn add(&mut self, bytes: u64) {
        self.changed += 1;
        self.bytes += bytes;
        self.largest = self.largest.max(bytes);
    }

    /// Adds a file that has another path. Its old path counts as a deleted file.
    pub(super) fn add_renamed(&mut self, bytes: u64) {
        self.add(bytes);
        self.renamed += 1;
    }

    /// Returns the number of files that differ.
    pub(super) fn files(&self) -> u64 {
        self.changed + self.deleted.saturating_sub(self.renamed)
    }

    /// Whether there is nothing to update. The new times of a few touched files are not worth a generation, but those
    /// of many files are, because every check of the tree reads these files again.
    pub(super) fn is_empty(&self) -> bool {
        self.files() == 0 && self.touched < MIN_TOUCHED
    }
}

/// Minimum number of touched files that are worth an update.
const MIN_TOUCHED: u64 = 64;

/// Time of a run apart from files: opening, building the stages, publishing.
const RUN_COST: Duration = Duration::from_millis(50);
/// Time per file apart from its content, and time per deleted file.
const FILE_COST: Duration = Duration::from_micros(500);
const DELETION_COST: Duration = Duration::from_micros(200);
/// Time per touched file, whose row is written.
const TOUCHED_FILE_COST: Duration = Duration::from_micros(10);
/// Time per KiB of text with the embedded model, and with a model that the user installed.
const TEXT_COST_PER_KIB: Duration = Duration::from_micros(400);
const OTHER_MODEL_TEXT_COST_PER_KIB: Duration = Duration::from_millis(20);
/// Time to load a model that the user installed.
const OTHER_MODEL_LOAD_COST: Duration = Duration::from_millis(500);
/// Time to validate 1 MiB of an index that was written since this user's last run.
const VALIDATION_COST_PER_MIB: Duration = Duration::from_micros(250);

/// The time budget of an update, and the factors that determine the cost of the update.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowance {
    begun: Instant,
    budget: Duration,
    threads: u32,
    /// Whether the vectors come from a model that the user installed.
    has_another_model: bool,
    /// Number of bytes of the index that have to be validated before it is written.
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

    /// Whether these changes alone exceed the budget. There may be more changes.
    pub(super) fn is_exceeded(&self, changes: &TreeChanges) -> bool {
        self.files_cost(changes) > self.budget
    }

    /// Whether there is time for an update after a check of the tree that took `looked`. The update checks the tree
    /// again.
    pub(super) fn covers(&self, changes: &TreeChanges, looked: Duration) -> bool {
        2 * looked + self.update_cost(changes) <= self.budget
    }

    fn update_cost(&self, changes: &TreeChanges) -> Duration {
        let model = if self.has_another_model && changes.changed > 0 { OTHER_MODEL_LOAD_COST } else { Duration::ZERO };
        RUN_COST + model + times(VALIDATION_COST_PER_MIB, self.unvalidated >> 20) + self.files_cost(changes)
    }

    /// Returns the time for files. They are processed in parallel, but the largest one on a single thread.
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

    const LOOK: Duration = Duration::from_millis(20);

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
    fn few_files_are_covered_and_many_are_not() {
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
            assert_eq!(default.covers(&changes, LOOK), is_covered, "{changes:?}");
        }
        assert!(allowance(60_000).covers(&files(2_000, 5_000), LOOK));
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
        assert!(!allowance(20).covers(&some, LOOK) && !allowance(20).is_exceeded(&some));
        assert!(allowance(300).is_exceeded(&files(10_000, 5_000)));
    }

    #[test]
    fn another_model_and_validation_add_to_the_cost() {
        let slow = Allowance { has_another_model: true, ..allowance(300) };
        assert!(!slow.covers(&files(1, 1_000), LOOK));
        assert!(slow.covers(&TreeChanges { deleted: 1, ..TreeChanges::default() }, LOOK));
        assert!(Allowance { has_another_model: true, ..allowance(2_000) }.covers(&files(1, 5_000), LOOK));
        assert!(!Allowance { unvalidated: 2 << 30, ..allowance(300) }.covers(&files(1, 1_000), LOOK));
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
