//! The report of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::stage_error::StageError;

/// Maximum number of reasons that are counted separately. Events with any other reason are counted together.
const MAX_REASONS: usize = 1_000;
const FURTHER: &str = "further reasons";
/// Maximum number of example paths per reason.
const EXAMPLES: usize = 10;

/// The error that ended a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A stage returned an error.
    #[error("stage `{stage}` failed: {error}")]
    Stage {
        /// Name of the stage.
        stage: String,
        /// The error.
        #[source]
        error: StageError,
    },
    /// A stage panicked, which is a bug in the stage.
    #[error("stage `{stage}` panicked: {message}")]
    Panicked {
        /// Name of the stage.
        stage: String,
        /// The panic message.
        message: String,
    },
    /// A thread could not be spawned.
    #[error("cannot start a thread for stage `{stage}`: {source}; run with fewer jobs")]
    Thread {
        /// Name of the stage.
        stage: String,
        /// The error of the operating system.
        source: io::Error,
    },
}

impl RunError {
    /// The name of the stage that ended the run.
    pub fn stage(&self) -> &str {
        match self {
            Self::Stage { stage, .. } | Self::Panicked { stage, .. } | Self::Thread { stage, .. } => stage,
        }
    }
}

/// The way in which a run without errors ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The source has emitted all its batches.
    #[default]
    Completed,
    /// The run was cancelled. Batches in flight were still processed, except those that a transform dropped.
    Cancelled,
}

/// The report of a run. Durations are serialized as seconds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct RunReport {
    /// Whether the run was completed or cancelled.
    pub outcome: Outcome,
    /// Wall-clock time of the run.
    #[serde(serialize_with = "seconds")]
    pub elapsed: Duration,
    /// The stages in the order of the plan.
    pub stages: Vec<StageReport>,
    /// Name of the stage with the highest utilisation.
    pub bottleneck: Option<String>,
    /// Number of files that have reached the end of the pipeline or were dropped.
    pub files: u64,
    /// Number of chunks that have reached the end of the pipeline.
    pub chunks: u64,
    /// The memory budget, in bytes.
    pub memory_limit: u64,
    /// Peak memory used by batches in flight, in bytes. It can exceed the limit, because batches grow after their
    /// admission.
    pub memory_peak: u64,
    /// Files that were not indexed, by reason.
    pub skipped: Tally,
    /// Warnings, by reason.
    pub warnings: Tally,
    /// Files that could not be processed, by reason.
    pub errors: Tally,
    /// Rows that stages could not process, by stage and reason. These rows continue without values from the stage.
    pub failures: BTreeMap<String, Tally>,
    /// Failures that do not concern a row, as tuples of stage, path and reason.
    #[serde(skip)]
    pub failed_places: BTreeSet<(String, String, String)>,
    /// Text that stages save for the next run, by stage name.
    #[serde(skip)]
    pub kept: BTreeMap<String, String>,
    /// Counters of the stages, by name.
    pub counters: BTreeMap<String, u64>,
}

impl RunReport {
    /// Combines the reports of two runs of the same pipeline. `self` is the report of the second run, which continued
    /// the run of `earlier`. Findings that a source repeats in every run, such as skipped files, are taken from the
    /// second run only.
    #[must_use]
    pub fn after(self, earlier: Self) -> Self {
        let elapsed = earlier.elapsed + self.elapsed;
        let mut counters = earlier.counters;
        for (name, count) in self.counters {
            *counters.entry(name).or_default() += count;
        }
        let mut failures = earlier.failures;
        for (stage, rows) in self.failures {
            let merged = failures.remove(&stage).unwrap_or_default().and(rows);
            failures.insert(stage, merged);
        }
        let mut stages = self.stages;
        for stage in &mut stages {
            if let Some(before) = earlier.stages.iter().find(|before| before.name == stage.name) {
                stage.add_earlier(before, earlier.elapsed, elapsed);
            }
        }
        Self {
            elapsed,
            bottleneck: bottleneck(&stages),
            stages,
            chunks: earlier.chunks + self.chunks,
            memory_peak: earlier.memory_peak.max(self.memory_peak),
            warnings: earlier.warnings.and(self.warnings),
            failures,
            counters,
            ..self
        }
    }

    /// Returns the report with `mask` applied to every path and reason. Reasons that become equal are merged.
    #[must_use]
    pub fn masked(self, mask: impl Fn(String) -> String) -> Self {
        let place = |(stage, place, reason)| (stage, mask(place), mask(reason));
        Self {
            skipped: self.skipped.masked(&mask),
            warnings: self.warnings.masked(&mask),
            errors: self.errors.masked(&mask),
            failures: self.failures.into_iter().map(|(stage, rows)| (stage, rows.masked(&mask))).collect(),
            failed_places: self.failed_places.into_iter().map(place).collect(),
            ..self
        }
    }
}

/// Returns the stage with the highest utilisation. If several are equal, returns the first.
pub(crate) fn bottleneck(stages: &[StageReport]) -> Option<String> {
    let busiest = stages.iter().rev().max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
    busiest.filter(|stage| stage.utilisation > 0.0).map(|stage| stage.name.clone())
}

/// Measurements of one stage.
#[derive(Clone, Debug, Serialize)]
pub struct StageReport {
    /// Name of the stage.
    pub name: String,
    /// Number of workers.
    pub workers: usize,
    /// Whether the stage has one worker regardless of the number of threads of the run.
    pub single_worker: bool,
    /// Number of batches that the stage processed or emitted.
    pub batches: u64,
    /// Number of file rows received.
    pub files_in: u64,
    /// Number of file rows forwarded.
    pub files_out: u64,
    /// Number of chunk rows forwarded.
    pub chunks_out: u64,
    /// Time from the start of the run to the start of the first piece of work.
    #[serde(serialize_with = "seconds")]
    pub first: Duration,
    /// Time from the start of the run to the end of the last piece of work.
    #[serde(serialize_with = "seconds")]
    pub last: Duration,
    /// Processing time, summed over all workers.
    #[serde(serialize_with = "seconds")]
    pub busy: Duration,
    /// CPU time of the worker threads, summed over all workers. Zero if the system does not report it. Excludes threads
    /// that a worker starts.
    #[serde(serialize_with = "seconds")]
    pub cpu: Duration,
    /// Time that workers waited because their input queue was empty, summed over all workers.
    #[serde(serialize_with = "seconds")]
    pub input_empty: Duration,
    /// Time that workers waited because the next queue was full, summed over all workers.
    #[serde(serialize_with = "seconds")]
    pub output_full: Duration,
    /// Time that the stage waited for the memory budget before it could emit a batch.
    #[serde(serialize_with = "seconds")]
    pub memory_wait: Duration,
    /// Fraction of the run's duration that a worker spent processing, from 0 to 1, averaged over the workers.
    pub utilisation: f64,
}

impl StageReport {
    /// Adds the measurements of the same stage in an earlier run of duration `offset`. Both runs together took
    /// `elapsed`.
    fn add_earlier(&mut self, earlier: &Self, offset: Duration, elapsed: Duration) {
        self.batches += earlier.batches;
        self.files_in += earlier.files_in;
        self.files_out += earlier.files_out;
        self.chunks_out += earlier.chunks_out;
        self.first = earlier.first;
        self.last += offset;
        self.busy += earlier.busy;
        self.cpu += earlier.cpu;
        self.input_empty += earlier.input_empty;
        self.output_full += earlier.output_full;
        self.memory_wait += earlier.memory_wait;
        let available = elapsed.as_secs_f64() * self.workers as f64;
        self.utilisation = if available > 0.0 { (self.busy.as_secs_f64() / available).min(1.0) } else { 0.0 };
    }
}

/// Events, counted by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Tally {
    reasons: BTreeMap<String, TallyEntry>,
}

/// Events that have the same reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TallyEntry {
    /// Number of events.
    pub count: u64,
    /// The first few paths in alphabetical order. The order in which the events were added does not matter.
    pub examples: BTreeSet<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, reason: &str, path: &str) {
        // The number of reasons is limited because a custom stage may derive reasons from its data.
        let is_new = !self.reasons.contains_key(reason);
        let reason = if is_new && self.reasons.len() >= MAX_REASONS { FURTHER } else { reason };
        if !self.reasons.contains_key(reason) {
            self.reasons.insert(reason.to_owned(), TallyEntry::default());
        }
        if let Some(entry) = self.reasons.get_mut(reason) {
            entry.count += 1;
            let full = entry.examples.len() == EXAMPLES;
            if !full || entry.examples.last().is_some_and(|last| path < last.as_str()) {
                entry.examples.insert(path.to_owned());
            }
            if entry.examples.len() > EXAMPLES {
                entry.examples.pop_last();
            }
        }
    }

    /// Combines two tallies. If both have an identical entry for a reason, its events are counted once, because a
    /// source reports some events in every run.
    fn and(mut self, other: Self) -> Self {
        for (reason, entry) in other.reasons {
            let known = self.reasons.entry(reason).or_default();
            if *known != entry {
                known.count += entry.count;
                known.examples.extend(entry.examples);
                while known.examples.len() > EXAMPLES {
                    known.examples.pop_last();
                }
            }
        }
        self
    }

    fn masked(self, mask: &impl Fn(String) -> String) -> Self {
        let mut masked = Self::default();
        for (reason, TallyEntry { count, examples }) in self.reasons {
            let entry = masked.reasons.entry(mask(reason)).or_default();
            entry.count += count;
            entry.examples.extend(examples.into_iter().map(mask));
            while entry.examples.len() > EXAMPLES {
                entry.examples.pop_last();
            }
        }
        masked
    }

    /// The total number of events.
    pub fn total(&self) -> u64 {
        self.reasons.values().map(|reason| reason.count).sum()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    /// The events that have a given reason.
    pub fn get(&self, reason: &str) -> Option<&TallyEntry> {
        self.reasons.get(reason)
    }

    /// Iterates over the reasons in alphabetical order, with their events.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &TallyEntry)> {
        self.reasons.iter().map(|(reason, entry)| (reason.as_str(), entry))
    }
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_reasons_is_limited() {
        let mut tally = Tally::default();
        (0..MAX_REASONS + 5).for_each(|n| tally.add(&n.to_string(), "a"));
        assert_eq!((tally.total(), tally.iter().count()), (MAX_REASONS as u64 + 5, MAX_REASONS + 1));
        assert_eq!(tally.get(FURTHER).map(|entry| entry.count), Some(5));
    }

    #[test]
    fn masks_apply_to_paths_and_reasons() {
        let mut tally = Tally::default();
        [("no key1", "b/key1"), ("no key2", "b/key2"), ("empty", "a")]
            .iter()
            .for_each(|(reason, path)| tally.add(reason, path));
        let masked = tally.masked(&|text: String| text.replace(char::is_numeric, "_"));
        let entry = masked.get("no key_").expect("two events have this reason after masking");
        assert_eq!((entry.count, entry.examples.iter().map(String::as_str).collect::<Vec<_>>()), (2, vec!["b/key_"]));
        assert_eq!((masked.total(), masked.get("empty").map(|entry| entry.count)), (3, Some(1)));
    }

    #[test]
    fn the_number_of_examples_is_limited_and_they_do_not_depend_on_the_order() {
        let paths: Vec<String> = (0..100).map(|n| format!("{:02}", (n * 37) % 100)).collect();
        let (mut forward, mut backward) = (Tally::default(), Tally::default());
        paths.iter().for_each(|path| forward.add("too large", path));
        paths.iter().rev().for_each(|path| backward.add("too large", path));
        assert_eq!(forward, backward);
        let reason = forward.get("too large").expect("all events have this reason");
        assert_eq!(reason.count, 100);
        let examples: Vec<&str> = reason.examples.iter().map(String::as_str).collect();
        assert_eq!(examples, ["00", "01", "02", "03", "04", "05", "06", "07", "08", "09"]);
    }
}
