//! The report of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::time::Duration;

use serde::{Serialize, Serializer};

use crate::stage_error::StageError;

/// Maximum number of reasons that are counted separately. Further reasons are counted together.
const MAX_REASONS: usize = 1_000;
const FURTHER: &str = "further reasons";
/// Maximum number of paths that are kept per reason.
const EXAMPLES: usize = 10;

/// The error that ended a run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A stage could not continue.
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
        /// The panic's message.
        message: String,
    },
    /// A thread could not be spawned.
    #[error("cannot start a thread for stage `{stage}`: {source}; run with fewer jobs")]
    Thread {
        /// Name of the stage.
        stage: String,
        /// The system's error.
        source: io::Error,
    },
}

impl RunError {
    /// The stage that ended the run.
    pub fn stage(&self) -> &str {
        match self {
            Self::Stage { stage, .. } | Self::Panicked { stage, .. } | Self::Thread { stage, .. } => stage,
        }
    }
}

/// The ending of a successful run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The source has emitted everything.
    Completed,
    /// The run was cancelled; batches in flight were processed.
    Cancelled,
}

/// The report of a run. Serializes with durations in seconds.
#[derive(Clone, Debug, Serialize)]
pub struct RunReport {
    /// Completed or cancelled.
    pub outcome: Outcome,
    /// Wall time.
    #[serde(serialize_with = "seconds")]
    pub elapsed: Duration,
    /// The stages in the order of the plan.
    pub stages: Vec<StageReport>,
    /// The stage with the highest utilisation.
    pub bottleneck: Option<String>,
    /// Number of files that have reached the end of the pipeline, or were left out.
    pub files: u64,
    /// Number of chunks that have reached the end of the pipeline.
    pub chunks: u64,
    /// The memory budget, in bytes.
    pub memory_limit: u64,
    /// Peak number of bytes held by batches in flight. It exceeds the limit if batches grew on their way.
    pub memory_peak: u64,
    /// Files left out, by reason.
    pub skipped: Tally,
    /// Warnings, by reason.
    pub warnings: Tally,
    /// Files that could not be processed, by reason.
    pub errors: Tally,
    /// Rows that stages could not process, by stage and reason. The rows are kept without the values of that stage.
    pub failures: BTreeMap<String, Tally>,
    /// Failures that do not concern a row, as stage, place and reason.
    #[serde(skip)]
    pub failed_places: BTreeSet<(String, String, String)>,
    /// State that stages keep for the next run, by stage name.
    #[serde(skip)]
    pub kept: BTreeMap<String, String>,
    /// Counters of the stages.
    pub counters: BTreeMap<String, u64>,
}

impl RunReport {
    /// Combines the reports of two runs of one pipeline, where the second run continued the first. Findings that a
    /// source repeats in every run, such as files that are left out, come from the second run.
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

    /// The same report, with `mask` applied to every path and every reason. Reasons that become equal are counted
    /// together.
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

/// The stage with the highest utilisation. Of equal stages, the last one.
pub(crate) fn bottleneck(stages: &[StageReport]) -> Option<String> {
    let busiest = stages.iter().rev().max_by(|a, b| a.utilisation.total_cmp(&b.utilisation));
    busiest.filter(|stage| stage.utilisation > 0.0).map(|stage| stage.name.clone())
}

/// The figures of one stage.
#[derive(Clone, Debug, Serialize)]
pub struct StageReport {
    /// Name of the stage.
    pub name: String,
    /// Number of workers.
    pub workers: usize,
    /// Whether the stage always has one worker, for any number of jobs.
    pub single_worker: bool,
    /// Number of batches processed, or emitted by a source.
    pub batches: u64,
    /// Number of file rows received.
    pub files_in: u64,
    /// Number of file rows sent on.
    pub files_out: u64,
    /// Number of chunk rows sent on.
    pub chunks_out: u64,
    /// Time from the start of the run to the start of the first piece of work.
    #[serde(serialize_with = "seconds")]
    pub first: Duration,
    /// Time from the start of the run to the end of the last piece of work.
    #[serde(serialize_with = "seconds")]
    pub last: Duration,
    /// Time spent processing, summed over all workers.
    #[serde(serialize_with = "seconds")]
    pub busy: Duration,
    /// CPU time of the workers' threads, summed; zero if the system does not report it. Threads that a worker starts
    /// are not included.
    #[serde(serialize_with = "seconds")]
    pub cpu: Duration,
    /// Time that the workers waited for input because their queue was empty, summed.
    #[serde(serialize_with = "seconds")]
    pub input_empty: Duration,
    /// Time that the workers waited to send because the next queue was full, summed.
    #[serde(serialize_with = "seconds")]
    pub output_full: Duration,
    /// Time that a source waited for the memory budget.
    #[serde(serialize_with = "seconds")]
    pub memory_wait: Duration,
    /// Share of the run that the workers spent processing, averaged over the workers, from 0 to 1.
    pub utilisation: f64,
}

impl StageReport {
    /// Adds the figures of the same stage in an earlier run that took `offset`. Both runs together took `elapsed`.
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

/// Events by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Tally {
    reasons: BTreeMap<String, TallyEntry>,
}

/// The events with the same reason.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TallyEntry {
    /// Exact number of events.
    pub count: u64,
    /// The first few paths in alphabetical order, independent of the order in which they were added.
    pub examples: BTreeSet<String>,
}

impl Tally {
    pub(crate) fn add(&mut self, reason: &str, path: &str) {
        // Reasons are fixed phrases in built-in stages, but not necessarily in custom stages.
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

    /// Combines the events of both. Events in both are counted once, because a source finds some of them in every run.
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

    /// All events.
    pub fn total(&self) -> u64 {
        self.reasons.values().map(|reason| reason.count).sum()
    }

    /// Whether there are no events.
    pub fn is_empty(&self) -> bool {
        self.reasons.is_empty()
    }

    /// The events with a reason.
    pub fn get(&self, reason: &str) -> Option<&TallyEntry> {
        self.reasons.get(reason)
    }

    /// Reasons in alphabetical order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &TallyEntry)> {
        self.reasons.iter().map(|(reason, entry)| (reason.as_str(), entry))
    }
}

/// The reports of all stages during a run.
#[derive(Default)]
pub(crate) struct RunTallies {
    pub(crate) skipped: Tally,
    pub(crate) warnings: Tally,
    pub(crate) errors: Tally,
    /// Failed rows by stage.
    pub(crate) failures: BTreeMap<String, Tally>,
    pub(crate) kept: BTreeMap<String, String>,
    pub(crate) failed_places: BTreeSet<(String, String, String)>,
    pub(crate) counters: BTreeMap<String, u64>,
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_bounded() {
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
        let entry = masked.get("no key_").expect("reported");
        assert_eq!((entry.count, entry.examples.iter().map(String::as_str).collect::<Vec<_>>()), (2, vec!["b/key_"]));
        assert_eq!((masked.total(), masked.get("empty").map(|entry| entry.count)), (3, Some(1)));
    }

    #[test]
    fn examples_are_bounded_and_do_not_depend_on_the_order() {
        let paths: Vec<String> = (0..100).map(|n| format!("{:02}", (n * 37) % 100)).collect();
        let (mut forward, mut backward) = (Tally::default(), Tally::default());
        paths.iter().for_each(|path| forward.add("too large", path));
        paths.iter().rev().for_each(|path| backward.add("too large", path));
        assert_eq!(forward, backward);
        let reason = forward.get("too large").expect("reported");
        assert_eq!(reason.count, 100);
        let examples: Vec<&str> = reason.examples.iter().map(String::as_str).collect();
        assert_eq!(examples, ["00", "01", "02", "03", "04", "05", "06", "07", "08", "09"]);
    }
}
