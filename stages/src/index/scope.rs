//! How much of an index has to be made again, from the fingerprints of the stages.

use std::collections::{BTreeMap, BTreeSet};

use aurora_pipeline::{Fingerprint, Pipeline};

use crate::columns::{BLAME, RECORD};
use crate::services::RunScope;

/// The entry of the manifest's fingerprints for HEAD and everything else that attribution depends on.
pub(super) const HISTORY: &str = "history";

/// Marks the entries of stages that chunks depend on. The output of all other stages is made from stored chunks.
const MAKES_CHUNKS: &str = "makes chunks";
const DERIVED: &str = "derived";
/// Stands before the fingerprint of a stage that gave up on rows.
const INCOMPLETE: &str = "incomplete ";

/// The stages of one run as the manifest keeps them: names and states, in the order of the plan.
pub(super) type StageStates = Vec<(String, String)>;

/// The state of every stage: whether chunks depend on it, its fingerprint, and the stages that it reads from.
pub(super) fn states(pipeline: &Pipeline) -> StageStates {
    let makers = pipeline.makers_of(RECORD.name());
    let state = |fingerprint: Fingerprint| {
        let kind = if makers.contains(&fingerprint.name) { MAKES_CHUNKS } else { DERIVED };
        let from = pipeline.read_from(&fingerprint.name).collect::<Vec<_>>().join(", ");
        (fingerprint.name.clone(), format!("{kind}: {fingerprint} from {from}"))
    };
    pipeline.fingerprints().into_iter().map(state).collect()
}

/// Marks the output of a stage as one that lacks rows, on which the next run has to run the stage again.
pub(super) fn mark_incomplete(states: &mut StageStates, stage: &str) {
    for (_, state) in states.iter_mut().filter(|(name, _)| name == stage) {
        if let Some((kind, rest)) = state.split_once(": ") {
            *state = format!("{kind}: {INCOMPLETE}{rest}");
        }
    }
}

/// The state of a stage as it would be if the stage had not given up on rows; `None` if it has not.
fn completed(state: &str) -> Option<String> {
    let (kind, rest) = state.split_once(": ")?;
    rest.strip_prefix(INCOMPLETE).map(|rest| format!("{kind}: {rest}"))
}

/// Whether chunks depend on the stage with this state.
pub(super) fn makes_chunks(state: &str) -> bool {
    state.starts_with(MAKES_CHUNKS)
}

/// The parts of a state, for comparison.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StateParts {
    pub(super) is_incomplete: bool,
    pub(super) version: String,
    pub(super) settings: BTreeMap<String, String>,
    pub(super) from: String,
}

/// Divides a state into its parts.
pub(super) fn parts(state: &str) -> StateParts {
    let (_, rest) = state.split_once(": ").unwrap_or(("", state));
    let (is_incomplete, rest) = rest.strip_prefix(INCOMPLETE).map_or((false, rest), |rest| (true, rest));
    let (fingerprint, from) = rest.rsplit_once(" from ").unwrap_or((rest, ""));
    let mut words = fingerprint.splitn(3, ' ').skip(1);
    let version = words.next().unwrap_or_default().to_owned();
    let settings = words.next().map(Fingerprint::settings).unwrap_or_default();
    StateParts { is_incomplete, version, settings, from: from.to_owned() }
}

/// Prefix of the entries with what stages keep for the next run.
const KEPT: &str = "kept by ";

/// The entries for what stages keep.
pub(super) fn keeping(kept: &BTreeMap<String, String>) -> impl Iterator<Item = (String, String)> {
    kept.iter().map(|(stage, text)| (format!("{KEPT}{stage}"), text.clone()))
}

/// What stages have kept for the next run, by their names, given the fingerprints of a manifest.
pub fn kept(states: &[(String, String)]) -> BTreeMap<String, String> {
    let kept = states.iter().filter_map(|(name, text)| Some((name.strip_prefix(KEPT)?.to_owned(), text.clone())));
    kept.collect()
}

/// What a run has to do again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rerun {
    pub(super) scope: RunScope,
    /// Stages that were changed, added or removed since the last run.
    pub(super) changed: BTreeSet<String>,
    /// Stages whose stored output can be used again for chunks that are not made anew.
    pub(super) current: BTreeSet<String>,
    /// The same, but the last run gave up on some rows.
    pub(super) resumed: BTreeSet<String>,
}

/// Compares the states of the last run with those of this one. If a stage that chunks depend on differs, every file has to be
/// processed again; if only others differ, they and their dependants work again on the stored chunks.
pub(super) fn rerun(before: &[(String, String)], now: &StageStates, force: bool, pipeline: &Pipeline) -> Rerun {
    let is_stage = |name: &str| name != HISTORY && !name.starts_with(KEPT);
    let differs = |entry: &&(String, String)| is_stage(&entry.0) && !(before.contains(entry) && now.contains(entry));
    let differing: Vec<&(String, String)> = now.iter().chain(before).filter(differs).collect();
    let changed: BTreeSet<String> = differing.iter().map(|(name, _)| name.clone()).collect();
    let scope = if force || before.is_empty() {
        RunScope::Everything
    } else if differing.is_empty() {
        RunScope::Changes
    } else if differing.iter().all(|(_, state)| state.starts_with(DERIVED)) {
        RunScope::Derived
    } else {
        RunScope::Everything
    };
    let (mut current, mut resumed) = (BTreeSet::new(), BTreeSet::new());
    if scope != RunScope::Everything {
        // What git says of a file may have changed although the file has not.
        let attributes = pipeline.writers_of(BLAME.name());
        let stale = pipeline.with_dependants(changed.iter().map(String::as_str).chain(attributes));
        current.extend(pipeline.stage_names().filter(|name| !stale.contains(*name)).map(str::to_owned));
        resumed = resumable(before, now, &changed, pipeline);
    }
    Rerun { scope, changed, current, resumed }
}

/// The stages that differ only in that the last run gave up on some of their rows, and that depend on no other stage which
/// differs.
fn resumable(
    before: &[(String, String)],
    now: &StageStates,
    changed: &BTreeSet<String>,
    pipeline: &Pipeline,
) -> BTreeSet<String> {
    let is_same = |name: &str, state: &str| now.iter().any(|(known, now)| known == name && now == state);
    let only_incomplete =
        before.iter().filter(|(name, state)| completed(state).is_some_and(|state| is_same(name, &state)));
    let depends_on_others = |name: &str| {
        pipeline.with_dependants(changed.iter().map(String::as_str).filter(|other| *other != name)).contains(name)
    };
    only_incomplete.map(|(name, _)| name.clone()).filter(|name| !depends_on_others(name)).collect()
}
