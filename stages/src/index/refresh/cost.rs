//! Whether an update is quick enough: an estimate from what has changed.
//!
//! The figures are for a release build on one core of a server of 2020, rather too high: an update that is not made costs less
//! than a search that waits.

use std::time::{Duration, Instant};

use aurora_storage::Manifest;

/// What has changed in the tree since it was indexed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct TreeChanges {
    /// Files that are new, differ, or have another path.
    changed: u64,
    /// Those of them that have another path.
    renamed: u64,
    /// Indexed files that are gone, the old paths of renamed ones included.
    pub(super) deleted: u64,
    /// Files that had to be read to see that they are as they were.
    pub(super) touched: u64,
    /// Bytes of the changed files, and of the largest one.
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

    /// Adds a file that has another path; its old path is a deleted file.
    pub(super) fn add_renamed(&mut self, bytes: u64) {
        self.add(bytes);
        self.renamed += 1;
    }

    /// How many files differ.
    pub(super) fn files(&self) -> u64 {
        self.changed + self.deleted.saturating_sub(self.renamed)
    }

    /// Whether there is nothing to update. The times of a few touched files are not worth a generation; those of many are, because
    /// every look at the tree reads the files again.
    pub(super) fn is_none(&self) -> bool {
        self.files() == 0 && self.touched < MANY_TOUCHED
    }
}

/// Touched files that are worth an update.
const MANY_TOUCHED: u64 = 64;

/// What a run takes apart from files: opening, building the stages, publishing.
const OF_A_RUN: Duration = Duration::from_millis(50);
/// What a file takes apart from its content, and its removal.
const OF_A_FILE: Duration = Duration::from_micros(500);
const OF_A_DELETION: Duration = Duration::from_micros(200);
/// What a touched file takes: its row is written.
const OF_A_TOUCHED_FILE: Duration = Duration::from_micros(10);
/// What 1 KiB of text takes with the embedded model, and with one that the user has added.
const OF_TEXT: Duration = Duration::from_micros(400);
const OF_TEXT_WITH_ANOTHER_MODEL: Duration = Duration::from_millis(20);
/// What it takes to load such a model.
const OF_ANOTHER_MODEL: Duration = Duration::from_millis(500);
/// What it takes to validate 1 MiB of an index that was written since this user's last run.
const OF_VALIDATION: Duration = Duration::from_micros(250);

/// How much time there is, and what decides how far it goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Allowance {
    begun: Instant,
    budget: Duration,
    threads: u32,
    /// Whether the vectors are those of a model that the user has added.
    has_another_model: bool,
    /// Bytes of the index that have to be validated before it is written.
    unvalidated: u64,
}

impl Allowance {
    /// The time for an index of which so many bytes have to be validated.
    pub(super) fn new(begun: Instant, budget: Duration, threads: usize, manifest: &Manifest, unvalidated: u64) -> Self {
        let threads = u32::try_from(threads.max(1)).unwrap_or(u32::MAX);
        let has_another_model = manifest.model.as_ref().is_some_and(|model| model.id != model.tokens);
        Self { begun, budget, threads, has_another_model, unvalidated }
    }

    /// When the time is up.
    pub(super) fn end(&self) -> Instant {
        self.begun + self.budget
    }

    /// Whether these changes alone, of which there may be more, are too many.
    pub(super) fn is_exceeded(&self, changes: &TreeChanges) -> bool {
        self.of_files(changes) > self.budget
    }

    /// Whether there is time for an update after a look at the tree that took `looked`: the update looks again.
    pub(super) fn covers(&self, changes: &TreeChanges, looked: Duration) -> bool {
        2 * looked + self.of_update(changes) <= self.budget
    }

    fn of_update(&self, changes: &TreeChanges) -> Duration {
        let model = if self.has_another_model && changes.changed > 0 { OF_ANOTHER_MODEL } else { Duration::ZERO };
        OF_A_RUN + model + times(OF_VALIDATION, self.unvalidated >> 20) + self.of_files(changes)
    }

    /// Files are processed side by side, the largest one on one thread.
    fn of_files(&self, changes: &TreeChanges) -> Duration {
        let of_text = if self.has_another_model { OF_TEXT_WITH_ANOTHER_MODEL } else { OF_TEXT };
        let threads = self.threads.min(u32::try_from(changes.changed.max(1)).unwrap_or(u32::MAX));
        let of_all = times(OF_A_FILE, changes.changed) + times(of_text, changes.bytes.div_ceil(1024));
        let of_largest = times(of_text, changes.largest.div_ceil(1024));
        let of_rows = times(OF_A_DELETION, changes.deleted) + times(OF_A_TOUCHED_FILE, changes.touched);
        (of_all / threads).max(of_largest) + of_rows
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
    fn what_the_look_at_the_tree_takes_is_taken_twice() {
        let one = files(1, 1_000);
        assert!(allowance(300).covers(&one, Duration::from_millis(100)));
        assert!(!allowance(300).covers(&one, Duration::from_millis(150)));
    }

    #[test]
    fn a_look_ends_only_when_the_files_alone_take_too_long() {
        let some = files(1, 1_000);
        assert!(!allowance(20).covers(&some, LOOK) && !allowance(20).is_exceeded(&some));
        assert!(allowance(300).is_exceeded(&files(10_000, 5_000)));
    }

    #[test]
    fn another_model_and_validation_take_their_time() {
        let slow = Allowance { has_another_model: true, ..allowance(300) };
        assert!(!slow.covers(&files(1, 1_000), LOOK));
        assert!(slow.covers(&TreeChanges { deleted: 1, ..TreeChanges::default() }, LOOK));
        assert!(Allowance { has_another_model: true, ..allowance(2_000) }.covers(&files(1, 5_000), LOOK));
        assert!(!Allowance { unvalidated: 2 << 30, ..allowance(300) }.covers(&files(1, 1_000), LOOK));
    }

    #[test]
    fn a_renamed_file_is_one_file() {
        let mut changes = TreeChanges { deleted: 2, ..TreeChanges::default() };
        changes.add_renamed(10);
        changes.add(10);
        assert_eq!(changes.files(), 3);
        assert!(TreeChanges { touched: 3, ..TreeChanges::default() }.is_none());
        assert!(!TreeChanges { touched: 1_000, ..TreeChanges::default() }.is_none());
    }
}
