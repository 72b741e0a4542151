//! The differences between a run and the previous run.

use std::collections::BTreeSet;
use std::time::Duration;

use aurora_stages::index::{RunRecord, RunStage};
use serde::Serialize;

use crate::units;

/// Maximum ratio of a difference to the earlier value that is shown as a percentage.
const MAX_RATIO: f64 = 10.0;

/// A value of a run and of the previous run.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Change {
    /// Name of the value, such as `chunks` or `stage parse`.
    pub name: String,
    /// Unit of both numbers.
    pub unit: ChangeUnit,
    /// The value of the previous run; `None` if it has no such value.
    pub before: Option<f64>,
    /// The value of this run; `None` if it has no such value.
    pub now: Option<f64>,
}

/// The unit of a [`Change`].
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ChangeUnit {
    /// A number of things.
    Count,
    /// Bytes.
    Bytes,
    /// Milliseconds.
    Milliseconds,
    /// A share from 0 to 1.
    Share,
    /// A metric from 0 to 1.
    Metric,
}

impl ChangeUnit {
    /// Formats a number for people.
    pub(super) fn format(self, value: f64) -> String {
        match self {
            Self::Count => units::count(value.max(0.0) as u64),
            Self::Bytes => units::bytes(value.max(0.0) as u64),
            Self::Milliseconds => units::duration(Duration::from_secs_f64((value / 1e3).max(0.0))),
            // Round down, so that only complete coverage is displayed as 100 %.
            Self::Share => format!("{:.2} %", (value * 10_000.0).floor() / 100.0),
            Self::Metric => format!("{value:.3}"),
        }
    }
}

impl Change {
    /// The difference for people, such as `+12 (+3.1 %)`. Empty if the values are equal or one is missing.
    pub(super) fn difference(&self) -> String {
        let (Some(before), Some(now)) = (self.before, self.now) else { return String::new() };
        if before == now {
            return String::new();
        }
        let sign = if now > before { '+' } else { '−' };
        let size = (now - before).abs();
        match self.unit {
            ChangeUnit::Share => format!("{sign}{:.2} points", size * 100.0),
            ChangeUnit::Metric => format!("{sign}{size:.3}"),
            // A percentage of a value that was almost 0 is meaningless.
            unit if before < size / MAX_RATIO => format!("{sign}{}", unit.format(size)),
            unit => format!("{sign}{} ({sign}{:.1} %)", unit.format(size), size / before * 100.0),
        }
    }

    /// The value of the previous run for people.
    pub(super) fn before_text(&self) -> String {
        self.before.map_or_else(|| "–".to_owned(), |value| self.unit.format(value))
    }

    /// The value of this run for people.
    pub(super) fn now_text(&self) -> String {
        self.now.map_or_else(|| "–".to_owned(), |value| self.unit.format(value))
    }
}

/// Compares two runs.
pub(super) fn changes(before: &RunRecord, now: &RunRecord) -> Vec<Change> {
    let mut all = Vec::new();
    let mut add = |name: String, unit, before: Option<f64>, now: Option<f64>| {
        if before.is_some() || now.is_some() {
            all.push(Change { name, unit, before, now });
        }
    };
    let number = |value: u64| Some(value as f64);
    // Records of earlier versions do not have these numbers.
    let known = |value: u64| before.good.map(|_| value as f64);
    add("files in the index".to_owned(), ChangeUnit::Count, known(before.files), number(now.files));
    add("chunks".to_owned(), ChangeUnit::Count, number(before.chunks), number(now.chunks));
    add("index size".to_owned(), ChangeUnit::Bytes, known(before.index_bytes), number(now.index_bytes));
    add("coverage".to_owned(), ChangeUnit::Share, before.coverage, now.coverage);
    add("secrets masked".to_owned(), ChangeUnit::Count, known(before.secrets), number(now.secrets));
    add("errors".to_owned(), ChangeUnit::Count, number(before.errors), number(now.errors));
    add("warnings".to_owned(), ChangeUnit::Count, number(before.warnings), number(now.warnings));
    add("skipped".to_owned(), ChangeUnit::Count, number(before.skipped), number(now.skipped));
    let reasons: BTreeSet<&String> = before.skips.keys().chain(now.skips.keys()).collect();
    for reason in reasons {
        let count = |run: &RunRecord| Some(run.skips.get(reason).copied().unwrap_or(0) as f64);
        add(format!("skipped: {reason}"), ChangeUnit::Count, before.good.and(count(before)), count(now));
    }
    add("duration".to_owned(), ChangeUnit::Milliseconds, number(before.elapsed_ms), number(now.elapsed_ms));
    for stage in &now.stages {
        let earlier = before.stages.iter().find(|earlier| earlier.name == stage.name);
        let busy = |stage: &RunStage| stage.busy_ms;
        add(format!("stage {}", stage.name), ChangeUnit::Milliseconds, earlier.map(busy), Some(busy(stage)));
    }
    let memory = |run: &RunRecord| run.peak_memory_bytes.map(|bytes| bytes as f64);
    add("peak memory".to_owned(), ChangeUnit::Bytes, memory(before), memory(now));
    let mut names: Vec<&str> = Vec::new();
    for quality in now.quality.iter().chain(&before.quality) {
        if !names.contains(&quality.name.as_str()) {
            names.push(&quality.name);
        }
    }
    for name in names {
        let mean = |run: &RunRecord| run.quality.iter().find(|quality| quality.name == name).map(|found| found.mean);
        add(format!("quality {name}"), ChangeUnit::Metric, mean(before), mean(now));
    }
    all
}
