//! A pass of the pipeline over the tree. Its result is published at the end of the pass or at a checkpoint.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_pipeline::{BuildContext, Outcome, RunOptions, RunReport};
use aurora_redact::masked;
use aurora_storage::{
    ColumnDeclaration, Environment, Manifest, ManifestUpdate, ModelInfo, OpenMode, Origin, ProjectDirectory, Snapshot,
    StageFailure, StorageError, Unfinished, UnfinishedRow,
};

use super::access;
use super::checkpoints::EarlierPasses;
use super::column_state::column_states;
use super::custom_columns;
use super::embedding_stage::EmbeddingStage;
use super::error::IndexError;
use super::options::{IndexObserver, IndexOptions};
use super::pass_kind::{PassEnd, PassKind};
use super::plan::{build, plan, select_replaced_stages, suppliers};
use super::run_services::{MemoryShares, RunServices};
use super::scope::{self, HISTORY, Rerun, rerun};
use super::summary::{ChunkCounts, EarlierResults, IndexSummary, PublishedState, StageNotRun};
use super::thresholds;
use super::trust::Trust;
use crate::columns::DEFINITIONS;
use crate::git_signal::{Repository, WaitLimit};
use crate::services::{PreviousIndex, RunScope, UnfinishedPolicy};
use crate::stand_in::languages_of;

/// Runs the pipeline once and publishes the result.
pub(super) fn pass(
    options: &IndexOptions,
    observer: &dyn IndexObserver,
    kind: PassKind,
) -> Result<PassEnd, IndexError> {
    let (begun, root) = (Instant::now(), options.root.as_path());
    let plan = plan(options)?;
    let columns = custom_columns::declarations(&plan).map_err(IndexError::Pipeline)?;
    let derived = custom_columns::sources(&plan);
    let embedding_stage = EmbeddingStage::in_plan(&plan).map_err(IndexError::Pipeline)?;
    let replaced = select_replaced_stages(&plan, options);
    let documents: Vec<String> = suppliers(&plan).map(str::to_owned).collect();
    let languages: BTreeMap<String, Vec<String>> =
        plan.stages().iter().map(|stage| (stage.name().to_owned(), languages_of(stage))).collect();
    let thresholds: Vec<_> = plan.stages().iter().map(|stage| (stage.name().to_owned(), stage.thresholds())).collect();
    let mut warnings: Vec<_> = plan.warnings().iter().map(ToString::to_string).collect();
    let memory = MemoryShares::from_total(options.memory.unwrap_or(plan.run_config().memory));
    let project = options.project();
    let environment = if options.requires_directory {
        Environment::open_in_existing(project.path())?
    } else {
        Environment::open(project.path(), OpenMode::Create)?
    };
    if options.trust.known.origin(project.path(), &environment.snapshot()?) == Origin::Own {
        environment.assume_sound();
    }
    let continues_walk = matches!(kind, PassKind::Attributions(_));
    let only_changes = matches!(kind, PassKind::Changes);
    let has_checkpoints = matches!(kind, PassKind::Whole | PassKind::Rest(_));
    let services = RunServices::open(&plan, columns.clone(), &environment, options, memory, &kind)?;
    let before = services.previous.snapshot.manifest().clone();
    let absent = absent_stages(&services.previous.snapshot, &replaced, &documents, options)?;
    let mut earlier = match kind {
        PassKind::Rest(earlier) => *earlier,
        _ => EarlierPasses::new(&before, begun, options.publish_every),
    };

    let lent = services.lend(&options.services);
    let pipeline = build(plan, &replaced, &services.previous, &BuildContext { root, services: &lent })?;
    drop(lent);
    if let Some(stage) = embedding_stage.as_ref().filter(|stage| replaced.contains(&stage.name)) {
        // The stage is not run: new chunks get no vectors, and the other chunks keep their vectors.
        let known = before.model.as_ref().filter(|model| model.dimensions == stage.dimensions);
        known.into_iter().for_each(|model| services.models.set_vectors(&model.id, model.dimensions));
    } else if let Some(stage) = embedding_stage
        && let Some(fingerprint) = pipeline.fingerprints().iter().find(|fingerprint| fingerprint.name == stage.name)
    {
        services.models.set_vectors(&stage.model_id(fingerprint), stage.dimensions);
    }
    let mut states = scope::states(&pipeline);
    scope::keep_states(&mut states, &before.fingerprints, &replaced);
    // Files that cannot be read cannot be indexed again, so a run with such files publishes only if the configuration
    // is unchanged.
    let unforced = rerun(&before, &states, &columns, false, &replaced, &pipeline);
    let is_same_configuration = unforced.scope == RunScope::Changes;
    let Rerun { scope, changed, mut current } =
        if options.force { rerun(&before, &states, &columns, true, &replaced, &pipeline) } else { unforced.clone() };
    // A forced run does not change the inputs of a stage, so the values of stages that are not run stay current. This
    // does not apply to a stage that writes definitions: definitions are not stored separately, so its rows have to be
    // processed when the stage is run again.
    let makers = scope::makers(&states);
    let stores_results = |stage: &String| !pipeline.written_by(stage).any(|column| column == DEFINITIONS.name());
    current.extend(unforced.current.into_iter().filter(|stage| replaced.contains(stage) && stores_results(stage)));
    // If the input of a stage that is not run has changed, the state of the stage is removed, so that the next run that
    // executes the stage does not treat the stored values as current.
    let outdated = pipeline.with_dependants(changed.iter().map(String::as_str));
    states.retain(|(name, _)| !(replaced.contains(name) && outdated.contains(name)));
    if only_changes && scope != RunScope::Changes {
        return Err(IndexError::OtherPipeline);
    }
    services.previous.set_scope(scope);
    let is_first = before.generation == 0;
    // There are no checkpoints if the configuration has changed, because a generation must not contain files that were
    // indexed with different configurations.
    if has_checkpoints && (is_first || scope == RunScope::Changes) {
        services.checkpoint.set(earlier.interval());
    }
    let run_stages = pipeline.stage_names().filter(|name| !replaced.contains(*name));
    services.previous.set_unfinished_policy(UnfinishedPolicy {
        dependants: run_stages.map(|name| (name.to_owned(), Arc::new(pipeline.with_dependants([name])))).collect(),
        makers,
        retries_failures: options.retries_failures,
    });
    let model = services.models.used();
    if !continues_walk {
        services.repository.defer_beyond(match options.patience {
            Some(patience) => WaitLimit::Total(patience),
            None => WaitLimit::PerFile(file_cost(model.as_ref())),
        });
    }

    // The data that a stage saved describes the whole index of the last run, so it can be used only if the run keeps
    // the whole index. A stage with unfinished documents has to list its documents again.
    let mut from_last_run = scope::kept(&before.fingerprints);
    let unfinished_documents = suppliers_of_unfinished(&services.previous, from_last_run.keys())?;
    from_last_run.retain(|stage, _| {
        replaced.contains(stage) || scope == RunScope::Changes && !unfinished_documents.contains(stage)
    });
    let (jobs, cancel) = (options.jobs, options.cancel.clone());
    let (memory, observer) = (Some(memory.batches), observer.run_observer());
    let run = RunOptions { jobs, memory, cancel, current, kept: from_last_run, observer, probe: None };
    let report = pipeline.run(run)?.masked(masked);
    let finished = Instant::now();
    states.extend(scope::saved_state_entries(&report.kept));
    let RunServices { tree, writer, repository, moves, checkpoint, .. } = services;
    let is_complete = report.outcome == Outcome::Completed && !checkpoint.is_reached();
    let writer = writer.and_then(Arc::into_inner).expect("the stages that shared the writer ended with the pipeline");
    let unread = tree.unread().clone();
    repository.save_diff_cache();
    let deferred = repository.deferred();
    // If this run could not read some files, the next run has to check their history.
    let is_settled = repository.is_settled() && unread.known_files() == 0;
    let history = if is_settled { repository.state().to_owned() } else { repository.unfinished_state() };
    states.push((HISTORY.to_owned(), history));
    let fingerprints =
        if is_complete || is_first { states } else { fingerprints_after_stop(&before.fingerprints, &repository) };
    // An index must not mix two configurations, because its answers would be correct for neither of them.
    let is_of_one_configuration =
        if is_complete { is_same_configuration || unread.known_files() == 0 } else { scope == RunScope::Changes };
    // A run that was stopped before it wrote anything does not publish, because the existing index may be complete.
    let has_result = is_complete || is_first || writer.is_touched();
    let published = if has_result && (is_first || is_of_one_configuration) {
        writer.publish(ManifestUpdate {
            model,
            head_commit: repository.head(),
            root: masked(root.display().to_string()),
            fingerprints,
            unfinished: Unfinished { derived, absent, ..unfinished(&before, &report, &columns, &replaced, options) },
            complete: is_complete && deferred.is_none() && unread.is_empty(),
            now: aurora_clock::now_seconds(),
            summary: serde_json::Value::Null,
        })?
    } else {
        writer.abandon()?;
        before.clone()
    };
    let is_left = is_complete && !is_first && !is_of_one_configuration;
    let snapshot = environment.snapshot()?;
    if published.generation != before.generation && options.shard.is_none() {
        access::follow_moves(root, &moves.take(), &options.trust.known, &snapshot, aurora_clock::now_seconds());
    }
    warnings.extend(record(&project, &options.trust, &snapshot));
    let report = earlier.merged(report);
    if checkpoint.is_reached() && report.outcome == Outcome::Completed {
        let earlier = earlier.followed_by((report, finished), &checkpoint, repository.walk(), options.publish_every);
        return Ok(PassEnd::AtCheckpoint(Box::new(earlier)));
    }
    let mut remarks = repository.remarks();
    remarks.extend(is_left.then(|| NOT_UPDATED.to_owned()));
    let violations = thresholds::violations(&snapshot, &thresholds, options)?;
    let not_run = stages_not_run(&snapshot, &replaced, &documents, &languages, options)?;
    warnings.extend(not_run.iter().filter_map(not_run_warning));
    let after = PublishedState { published, snapshot, remarks, warnings, unread, violations, not_run };
    let (before, begun) = earlier.start();
    let summary = IndexSummary::new(root, before, after, report, begun.elapsed())?;
    Ok(PassEnd::Done(Box::new(summary), deferred.filter(|_| is_complete)))
}

/// The warning for an index that could not be updated to a new configuration.
const NOT_UPDATED: &str = "the index was left as it was: some indexed files could not be read, and the configuration or the \
                    program has changed since they were indexed; make them readable, or name them in an ignore file";

/// Returns the time that indexing a file takes on one core, without the time for its history. The values were measured
/// on source files of 100 to 200 lines.
fn file_cost(model: Option<&ModelInfo>) -> Duration {
    match model {
        Some(model) if model.id != model.tokens => Duration::from_millis(100),
        _ => Duration::from_millis(2),
    }
}

/// Returns the stages among `suppliers` with documents that have to be processed again although they have not changed.
fn suppliers_of_unfinished<'s>(
    previous: &PreviousIndex,
    suppliers: impl Iterator<Item = &'s String>,
) -> Result<BTreeSet<String>, StorageError> {
    let mut found = BTreeSet::new();
    let suppliers: Vec<&String> = suppliers.collect();
    if suppliers.is_empty() || previous.snapshot.manifest().unfinished.rows.is_empty() {
        return Ok(found);
    }
    for file in previous.snapshot.files() {
        let file = file?;
        let is_of =
            |stage: &str| file.path.strip_prefix('@').is_some_and(|path| path.starts_with(&format!("{stage}/")));
        if let Some(stage) = suppliers.iter().find(|stage| is_of(stage))
            && !file.unfinished.is_empty()
            && previous.retry(&file.path)?.is_some()
        {
            found.insert((*stage).clone());
        }
    }
    Ok(found)
}

/// Returns the failures and the stale columns after a run.
fn unfinished(
    last: &Manifest,
    report: &RunReport,
    columns: &[ColumnDeclaration],
    replaced: &BTreeSet<String>,
    options: &IndexOptions,
) -> Unfinished {
    let before = &last.unfinished;
    let is_stale = |column: &&ColumnDeclaration| {
        options.untrusted.contains(&column.stage) || replaced.contains(&column.stage) && before.is_refused(&column.name)
    };
    let failure = |(stage, place, reason): &(String, String, String)| StageFailure {
        stage: stage.clone(),
        place: place.clone(),
        reason: reason.clone(),
    };
    // Earlier failures of a stage remain if the stage was not run. They also remain after a run that was stopped,
    // because it has not listed all documents.
    let stays = |failure: &&StageFailure| replaced.contains(&failure.stage) || report.outcome != Outcome::Completed;
    let mut failures: Vec<StageFailure> = report.failed_places.iter().map(failure).collect();
    failures.extend(before.failures.iter().filter(stays).cloned());
    failures.sort_unstable();
    failures.dedup();
    Unfinished {
        stale: columns.iter().filter(is_stale).map(|column| column.name.clone()).collect(),
        failures,
        imported: (last.imported || before.imported) && (!options.untrusted.is_empty() || !options.runs_programs),
        ..Unfinished::default()
    }
}

/// Returns the stages without results in the index: the stages that were removed from the pipeline, and the stages in
/// `suppliers` whose programs are not allowed and that have no documents in the index. `suppliers` are the stages that
/// supply documents.
fn absent_stages(
    previous: &Snapshot,
    replaced: &BTreeSet<String>,
    suppliers: &[String],
    options: &IndexOptions,
) -> Result<Vec<String>, StorageError> {
    let before = &previous.manifest().unfinished.absent;
    let mut absent = options.left_out.clone();
    for stage in replaced.iter().filter(|stage| suppliers.contains(stage)) {
        let is_refused = options.untrusted.contains(stage) || before.contains(stage);
        if is_refused && !has_documents(previous, stage)? {
            absent.push(stage.clone());
        }
    }
    absent.sort_unstable();
    Ok(absent)
}

/// Returns the stages that were not run because their programs are not allowed or because they were removed from the
/// pipeline. `suppliers` are the stages that supply documents, and `languages` are the languages of the files that each
/// stage processes.
fn stages_not_run(
    snapshot: &Snapshot,
    replaced: &BTreeSet<String>,
    suppliers: &[String],
    languages: &BTreeMap<String, Vec<String>>,
    options: &IndexOptions,
) -> Result<Vec<StageNotRun>, StorageError> {
    if options.untrusted.is_empty() && options.left_out.is_empty() {
        return Ok(Vec::new());
    }
    let columns = column_states(snapshot)?;
    let mut found = Vec::new();
    for stage in options.untrusted.iter().filter(|stage| replaced.contains(*stage)) {
        let mut of_stage = columns.iter().filter(|column| column.stage == *stage).peekable();
        let waiting = snapshot.waiting_rows(stage)?;
        let results = if suppliers.contains(stage) {
            if has_documents(snapshot, stage)? { EarlierResults::KeptDocuments } else { EarlierResults::NoDocuments }
        } else if of_stage.peek().is_some() {
            if of_stage.any(|column| column.values > 0) { EarlierResults::Kept } else { EarlierResults::None }
        } else if waiting == 0 || has_results(snapshot, stage, languages.get(stage).map_or(&[][..], Vec::as_slice))? {
            EarlierResults::Kept
        } else {
            EarlierResults::None
        };
        found.push(StageNotRun { stage: stage.clone(), results, waiting });
    }
    let removed = |stage: &String| StageNotRun { stage: stage.clone(), results: EarlierResults::Removed, waiting: 0 };
    found.extend(options.left_out.iter().map(removed));
    Ok(found)
}

/// Whether `stage` has processed at least one chunk. The stage processes files in `languages`, or all files if
/// `languages` is empty.
fn has_results(snapshot: &Snapshot, stage: &str, languages: &[String]) -> Result<bool, StorageError> {
    for file in snapshot.files() {
        let file = file?;
        let waits = |row: &&UnfinishedRow| row.stage == stage && row.reason.is_none();
        let waiting: Vec<_> = file.unfinished.iter().filter(waits).collect();
        let is_whole = waiting.iter().all(|row| row.extent.chunk().is_some());
        let is_of_stage = languages.is_empty() || languages.contains(&file.language);
        if is_of_stage && is_whole && waiting.len() < file.chunks.len() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether the index has a document of a stage.
fn has_documents(snapshot: &Snapshot, stage: &str) -> Result<bool, StorageError> {
    let directory = format!("@{stage}/");
    for file in snapshot.files() {
        if file?.path.starts_with(&directory) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns the warning about a stage that was not run, or `None` if the user removed the stage from the pipeline.
fn not_run_warning(stage: &StageNotRun) -> Option<String> {
    let consequence = match stage.results {
        EarlierResults::None | EarlierResults::NoDocuments => None,
        EarlierResults::Kept => Some("its earlier results are kept but may be stale".to_owned()),
        EarlierResults::KeptDocuments => Some("its documents are kept unchanged".to_owned()),
        EarlierResults::Removed => return None,
    };
    let waiting = match stage.waiting {
        0 => None,
        1 => Some("1 row waits for it".to_owned()),
        rows => Some(format!("{rows} rows wait for it")),
    };
    let consequences: Vec<String> = consequence.into_iter().chain(waiting).collect();
    let consequences =
        if consequences.is_empty() { "the index has no results of it".to_owned() } else { consequences.join("; ") };
    Some(format!("stage `{}` was not run, because its program is not allowed: {consequences}", stage.stage))
}

/// Returns the fingerprints after a run that was stopped. Because the run did not reach some files, these are the
/// fingerprints of the last run, with an unfinished history state.
fn fingerprints_after_stop(before: &[(String, String)], repository: &Repository) -> Vec<(String, String)> {
    let entry = |(name, state): &(String, String)| {
        let state = if name == HISTORY { repository.unfinished_state() } else { state.clone() };
        (name.clone(), state)
    };
    before.iter().map(entry).collect()
}

/// Records that this user made the index, and returns a warning if recording fails. If the index contains texts of
/// conversation logs, its permissions are first restricted to the user. This must happen before recording, because the
/// record contains the time of the last change of permissions.
pub(super) fn record(project: &ProjectDirectory, trust: &Trust, snapshot: &Snapshot) -> Option<String> {
    if ChunkCounts::from_snapshot(snapshot).is_ok_and(|chunks| chunks.knowledge > 0) {
        let index = project.open().and_then(|directory| directory.open_directory(ProjectDirectory::INDEX));
        index.iter().for_each(|index| index.make_private());
    }
    let error = trust.known.record(project.path(), snapshot).err()?;
    (!trust.accepts_unknown).then(|| format!("searches will not trust this index: {error}"))
}
