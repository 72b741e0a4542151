//! How much of an index has to be made again, from the fingerprints of the stages.

use std::collections::{BTreeMap, BTreeSet};

use aurora_pipeline::{Fingerprint, Pipeline};
use aurora_storage::{ColumnDeclaration, Manifest};

use crate::columns::{BLAME, CHUNK_ID, EMBEDDING, RECORD, SIGNAL, TOKENS};
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

/// Compares the states of the last run with those of this one, which writes `columns`. If a stage that chunks depend on differs,
/// every file has to be processed again; if only others differ, they and their dependants work again on the stored chunks.
pub(super) fn rerun(
    last: &Manifest,
    now: &StageStates,
    columns: &[ColumnDeclaration],
    force: bool,
    pipeline: &Pipeline,
) -> Rerun {
    let before = &last.fingerprints;
    let is_stage = |name: &str| name != HISTORY && !name.starts_with(KEPT);
    let differs = |entry: &&(String, String)| is_stage(&entry.0) && !(before.contains(entry) && now.contains(entry));
    let differing: Vec<&(String, String)> = now.iter().chain(before).filter(differs).collect();
    let changed: BTreeSet<String> = differing.iter().map(|(name, _)| name.clone()).collect();
    let scope = if force || before.is_empty() {
        RunScope::Everything
    } else if differing.is_empty() {
        RunScope::Changes
    } else if !differing.iter().all(|(_, state)| state.starts_with(DERIVED)) {
        RunScope::Everything
    } else if values_suffice(last, now, columns, &changed, pipeline) {
        RunScope::Values
    } else {
        RunScope::Derived
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

/// Whether nothing has to be stored again but values of custom columns: the stages that differ write nothing else, and nothing is
/// made of these values.
fn values_suffice(
    last: &Manifest,
    now: &StageStates,
    columns: &[ColumnDeclaration],
    changed: &BTreeSet<String>,
    pipeline: &Pipeline,
) -> bool {
    let is_value = |column: &ColumnDeclaration| column.terms.is_none() && !column.embed;
    let of_stage = |columns: &'_ [ColumnDeclaration], stage: &str| {
        let mut own = columns.iter().filter(|column| column.stage == stage).peekable();
        own.peek().is_some() && own.all(is_value)
    };
    let writes_values = |stage: &str| {
        let is_declared = |name: &str| {
            let name = name.rsplit('.').next().unwrap_or(name);
            columns.iter().any(|column| column.stage == stage && column.name == name)
        };
        of_stage(columns, stage) && pipeline.written_by(stage).all(is_declared)
    };
    let state_of = |states: &StageStates, stage: &str| {
        states.iter().find(|(name, _)| name == stage).map(|(_, state)| parts(state)).unwrap_or_default()
    };
    // The sink stores what other stages write. That it reads from others than before is no difference in what it does.
    let is_same_sink = |stage: &str| {
        let (before, now) = (state_of(&last.fingerprints, stage), state_of(now, stage));
        pipeline.writers_of(CHUNK_ID.name()).any(|writer| writer == stage)
            && (before.version, before.settings) == (now.version, now.settings)
    };
    let is_known = |stage: &str| pipeline.stage_names().any(|name| name == stage);
    let is_dropped = |stage: &str| !is_known(stage) && of_stage(&last.columns, stage);
    // Attributions and vectors of files of which only values are stored are not made again.
    let unavailable = [BLAME.name(), SIGNAL.name(), EMBEDDING.name(), TOKENS.name()];
    let is_unavailable = |stage: &str| pipeline.written_by(stage).any(|column| unavailable.contains(&column));
    let reads_unavailable = |column: &ColumnDeclaration| pipeline.read_from(&column.stage).any(is_unavailable);
    let again = pipeline.with_dependants(changed.iter().map(String::as_str));
    again.iter().chain(changed).all(|stage| writes_values(stage) || is_same_sink(stage) || is_dropped(stage))
        && !columns.iter().any(reads_unavailable)
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
