//! Determines which part of an index has to be rebuilt, by comparing the fingerprints of the stages with the last run.

use std::collections::{BTreeMap, BTreeSet};

use aurora_pipeline::{Fingerprint, Pipeline};
use aurora_redact::has_secret;
use aurora_storage::{CHUNK_STAGE_PREFIX, ColumnDeclaration, Manifest};

use crate::columns::{BLAME, CHUNK_ID, EMBEDDING, RECORD, SIGNAL, TOKENS};
use crate::masking::masked_with_digest;
use crate::services::RunScope;

/// Name of the fingerprint entry with the state of the git repository, see
/// [`Repository::state`](crate::git_signal::Repository::state).
pub(super) const HISTORY: &str = "history";

/// Prefix of the states of stages on which chunks do not depend. The output of such a stage is computed from stored
/// chunks.
const DERIVED: &str = "derived";

/// The names and states of the stages of one run, in the order of the plan. The manifest stores this list.
pub(super) type StageStates = Vec<(String, String)>;

/// Returns the states of all stages. A state consists of the kind of stage, its fingerprint, and the stages whose
/// columns it reads.
pub(super) fn states(pipeline: &Pipeline) -> StageStates {
    let makers = pipeline.makers_of(RECORD.name());
    let state = |fingerprint: Fingerprint| {
        let fingerprint = without_secrets(fingerprint);
        let kind = if makers.contains(&fingerprint.name) { CHUNK_STAGE_PREFIX } else { DERIVED };
        let from = pipeline.read_from(&fingerprint.name).collect::<Vec<_>>().join(", ");
        (fingerprint.name.clone(), format!("{kind}: {fingerprint} from {from}"))
    };
    pipeline.fingerprints().into_iter().map(state).collect()
}

/// Masks the secrets in the settings of a fingerprint. Fingerprints of different configurations remain different.
fn without_secrets(fingerprint: Fingerprint) -> Fingerprint {
    let settings = Fingerprint::settings(&fingerprint.config);
    let pair = |(key, value): (&String, &String)| format!("{key}={value}");
    if !settings.iter().map(pair).any(|pair| has_secret(&pair)) {
        return fingerprint;
    }
    let masked = Fingerprint::new(fingerprint.name, fingerprint.version);
    // The key is passed together with the value, because a key such as `api_token` shows that the value is a secret.
    settings.iter().fold(masked, |masked, entry| {
        let key = entry.0;
        masked.with(key, &masked_with_digest(pair(entry))[key.len() + 1..])
    })
}

/// Sets the states of the stages in `replaced`, which are not run, to the states that the last run recorded. So a
/// later run that executes such a stage compares its state with that of the run that last executed it. A stage that was
/// never run keeps the state of its stand-in.
pub(super) fn keep_states(states: &mut StageStates, before: &[(String, String)], replaced: &BTreeSet<String>) {
    for (name, state) in states.iter_mut().filter(|(name, _)| replaced.contains(name)) {
        if let Some((_, known)) = before.iter().find(|(known, _)| known == name) {
            state.clone_from(known);
        }
    }
}

/// Returns the stages on which chunks depend.
pub(super) fn makers(states: &StageStates) -> BTreeSet<String> {
    states.iter().filter(|(_, state)| makes_chunks(state)).map(|(name, _)| name.clone()).collect()
}

/// Whether chunks depend on a stage, given its state.
pub(super) fn makes_chunks(state: &str) -> bool {
    state.starts_with(CHUNK_STAGE_PREFIX)
}

/// The parsed state of a stage.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct StateParts {
    pub(super) version: String,
    pub(super) settings: BTreeMap<String, String>,
    pub(super) from: String,
}

/// Parses the state of a stage.
pub(super) fn parse_state(state: &str) -> StateParts {
    let (_, rest) = state.split_once(": ").unwrap_or(("", state));
    let (fingerprint, from) = rest.rsplit_once(" from ").unwrap_or((rest, ""));
    let mut words = fingerprint.splitn(3, ' ').skip(1);
    let version = words.next().unwrap_or_default().to_owned();
    let settings = words.next().map(Fingerprint::settings).unwrap_or_default();
    StateParts { version, settings, from: from.to_owned() }
}

/// Returns the settings in the recorded fingerprint of a stage. The map is empty if the index has no record of the
/// stage.
pub fn recorded_settings(manifest: &Manifest, stage: &str) -> BTreeMap<String, String> {
    let recorded = manifest.fingerprints.iter().find(|(name, _)| name == stage);
    recorded.map(|(_, state)| parse_state(state).settings).unwrap_or_default()
}

/// Prefix of the entries that contain the data that stages save for the next run.
const KEPT: &str = "kept by ";

/// Returns the entries that store the saved data of stages.
pub(super) fn saved_state_entries(saved: &BTreeMap<String, String>) -> impl Iterator<Item = (String, String)> {
    saved.iter().map(|(stage, text)| (format!("{KEPT}{stage}"), text.clone()))
}

/// Returns the data that each stage saved for the next run. `states` are the fingerprint entries of a manifest.
pub fn kept(states: &[(String, String)]) -> BTreeMap<String, String> {
    let kept = states.iter().filter_map(|(name, text)| Some((name.strip_prefix(KEPT)?.to_owned(), text.clone())));
    kept.collect()
}

/// The work that a run has to repeat.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rerun {
    pub(super) scope: RunScope,
    /// Stages that were changed, added or removed since the last run.
    pub(super) changed: BTreeSet<String>,
    /// Stages whose stored output can be reused for chunks that are not rebuilt.
    pub(super) current: BTreeSet<String>,
}

/// Compares the states of the stages in the last run with the states in this run, which writes `columns`.
///
/// If a stage on which chunks depend has changed, every file has to be processed again. If only other stages have
/// changed, they and their dependants process the stored chunks again. The stages in `replaced` are not run and keep
/// their earlier states, see [`keep_states`]. Such a stage counts as changed only if its columns are declared
/// differently than in the last run, because its values must then be computed again.
pub(super) fn rerun(
    last: &Manifest,
    now: &StageStates,
    columns: &[ColumnDeclaration],
    force: bool,
    replaced: &BTreeSet<String>,
    pipeline: &Pipeline,
) -> Rerun {
    let before = &last.fingerprints;
    let is_stage = |name: &str| name != HISTORY && !name.starts_with(KEPT) && !replaced.contains(name);
    let declared = |columns: &[ColumnDeclaration], stage: &str| -> Vec<_> {
        columns.iter().filter(|column| column.stage == stage).map(|column| (column.name.clone(), column.kind)).collect()
    };
    let is_redeclared =
        |stage: &str| replaced.contains(stage) && declared(&last.columns, stage) != declared(columns, stage);
    let is_other = |entry: &(String, String)| !(before.contains(entry) && now.contains(entry));
    let differs = |entry: &&(String, String)| is_stage(&entry.0) && is_other(entry) || is_redeclared(&entry.0);
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
    let mut current = BTreeSet::new();
    if scope != RunScope::Everything {
        // The git history of a file can change without a change of the file.
        let attributes = pipeline.writers_of(BLAME.name());
        let stale = pipeline.with_dependants(changed.iter().map(String::as_str).chain(attributes));
        // A stage that was not in the pipeline of the last run is not current, even if this run does not execute it,
        // because its values are missing from all rows.
        let is_known = |name: &str| before.iter().any(|(known, _)| known == name);
        let is_current = |name: &&str| !stale.contains(*name) && is_known(name);
        current.extend(pipeline.stage_names().filter(is_current).map(str::to_owned));
    }
    Rerun { scope, changed, current }
}

/// Whether only values of custom columns have to be stored again. This is the case if the changed stages write nothing
/// else, and if nothing is computed from these values.
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
        states.iter().find(|(name, _)| name == stage).map(|(_, state)| parse_state(state)).unwrap_or_default()
    };
    // The sink only stores the output of other stages. It does not count as changed if it now reads from other stages
    // than before.
    let is_same_sink = |stage: &str| {
        let (before, now) = (state_of(&last.fingerprints, stage), state_of(now, stage));
        pipeline.writers_of(CHUNK_ID.name()).any(|writer| writer == stage)
            && (before.version, before.settings) == (now.version, now.settings)
    };
    let is_known = |stage: &str| pipeline.stage_names().any(|name| name == stage);
    let is_dropped = |stage: &str| !is_known(stage) && of_stage(&last.columns, stage);
    // A run that stores only the values of custom columns does not compute blame, git signals, vectors or tokens.
    let unavailable = [BLAME.name(), SIGNAL.name(), EMBEDDING.name(), TOKENS.name()];
    let is_unavailable = |stage: &str| pipeline.written_by(stage).any(|column| unavailable.contains(&column));
    let reads_unavailable = |column: &ColumnDeclaration| pipeline.read_from(&column.stage).any(is_unavailable);
    let again = pipeline.with_dependants(changed.iter().map(String::as_str));
    // A stage that depends on a changed stage but does not read its values, such as a sink that reads the ids that
    // another sink assigns, has nothing to store again.
    let reads_no_values = |stage: &str| !changed.contains(stage) && !pipeline.read_from(stage).any(writes_values);
    let has_nothing_to_store = |stage: &String| is_same_sink(stage) || is_dropped(stage) || reads_no_values(stage);
    again.iter().chain(changed).all(|stage| writes_values(stage) || has_nothing_to_store(stage))
        && !columns.iter().any(reads_unavailable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_in_the_configuration_are_masked_but_still_compared() {
        let fingerprint = |key: &str, token: &str| {
            let config = format!("{{\"args\":[\"--api-token\",\"{token}\"]}}");
            Fingerprint::new("owner", 1).with("version", "2;1").with("config", config).with(key, token)
        };
        let state = |key, token| without_secrets(fingerprint(key, token)).to_string();
        let (first, second) = ("k3Jd82mXq0PzL5vRt7NcY1wB", "Zq8Xv2mLt5RkW0cYb7NsD4hG");
        let masked = state("api_token", first);
        assert!(!masked.contains(first) && masked.contains("--api-token"), "{masked}");
        assert_eq!(masked, state("api_token", first));
        assert_ne!(masked, state("api_token", second));
        let settings = parse_state(&format!("{DERIVED}: {masked} from chunk")).settings;
        assert_eq!(settings.keys().collect::<Vec<_>>(), ["api_token", "config", "version"]);
        assert_eq!(settings["version"], "2;1");
        assert_eq!(without_secrets(fingerprint("words", "todo")), fingerprint("words", "todo"));
    }
}
