//! One pass of the pipeline over the tree, published at its end.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_pipeline::{BuildContext, Outcome, RunOptions};
use aurora_storage::{Environment, ManifestUpdate, ModelInfo, OpenMode, Origin, ProjectDirectory, Snapshot};

use super::access;
use super::custom_columns;
use super::embedding_stage::EmbeddingStage;
use super::error::IndexError;
use super::options::{IndexObserver, IndexOptions};
use super::pass_kind::PassKind;
use super::plan::plan;
use super::run_services::{MemoryShares, RunServices};
use super::scope::{self, HISTORY, Rerun, mark_incomplete, rerun};
use super::summary::{After, IndexSummary};
use super::trust::Trust;
use crate::git_signal::{HistoryWalk, Repository, WaitLimit};
use crate::services::{RunScope, now_seconds};

/// Runs the pipeline once and publishes. If the walk over git's history takes longer than everything else, files are
/// published without attribution and the walk is returned: another pass continues it.
pub(super) fn pass(
    root: &Path,
    options: &IndexOptions,
    observer: &dyn IndexObserver,
    kind: PassKind,
) -> Result<(IndexSummary, Option<Arc<HistoryWalk>>), IndexError> {
    let begun = Instant::now();
    let plan = plan(options)?;
    let columns = custom_columns::declarations(&plan).map_err(IndexError::Pipeline)?;
    let embedding_stage = EmbeddingStage::of(&plan).map_err(IndexError::Pipeline)?;
    let mut warnings: Vec<_> = plan.warnings().iter().map(ToString::to_string).collect();
    let memory = MemoryShares::of(options.memory.unwrap_or(plan.run_config().memory));
    let project = ProjectDirectory::of(root);
    let environment = Environment::open(project.path(), OpenMode::Create)?;
    if options.trust.known.origin(project.path(), &environment.snapshot()?) == Origin::Own {
        environment.assume_sound();
    }
    let continues_walk = matches!(kind, PassKind::Attributions(_));
    let only_changes = matches!(kind, PassKind::Changes);
    let services = RunServices::open(root, &plan, columns.clone(), &environment, options, memory, kind)?;
    let before = services.previous.snapshot.manifest().clone();

    let lent = services.lend(&options.services);
    let pipeline = plan.build(&BuildContext { root, services: &lent })?;
    drop(lent);
    if let Some(stage) = embedding_stage
        && let Some(fingerprint) = pipeline.fingerprints().iter().find(|fingerprint| fingerprint.name == stage.name)
    {
        services.models.set_vectors(&stage.model_id(fingerprint), stage.dimensions);
    }
    let mut states = scope::states(&pipeline);
    // Files that cannot be read cannot be indexed again under another configuration.
    let is_same_configuration = rerun(&before, &states, &columns, false, &pipeline).scope == RunScope::Changes;
    let Rerun { scope, current, resumed, .. } = rerun(&before, &states, &columns, options.force, &pipeline);
    if only_changes && scope != RunScope::Changes {
        return Err(IndexError::OtherPipeline);
    }
    services.previous.decide(scope);
    let model = services.models.used();
    if !continues_walk {
        services.repository.defer_beyond(match options.patience {
            Some(patience) => WaitLimit::Total(patience),
            None => WaitLimit::PerFile(cost_of_a_file(model.as_ref())),
        });
    }

    // What a stage has kept describes the whole index of the last run, so it is of use only if all of that index stays.
    let kept = if scope == RunScope::Changes { scope::kept(&before.fingerprints) } else { BTreeMap::new() };
    let (jobs, cancel) = (options.jobs, options.cancel.clone());
    let (memory, observer) = (Some(memory.batches), observer.of_run());
    let run = RunOptions { jobs, memory, cancel, current, resumed, kept, observer, probe: None };
    let report = pipeline.run(run)?;
    report.incomplete.iter().for_each(|stage| mark_incomplete(&mut states, stage));
    states.extend(scope::keeping(&report.kept));
    let is_complete = report.outcome == Outcome::Completed;
    let RunServices { tree, writer, repository, moves, .. } = services;
    let writer = writer.and_then(Arc::into_inner).expect("the stages that shared the writer ended with the pipeline");
    let unread = tree.unread().clone();
    repository.save_diff_cache();
    let deferred = repository.deferred();
    // The next run has to look at the history of files that this one could not read.
    let is_settled = repository.is_settled() && unread.known() == 0;
    let history = if is_settled { repository.state().to_owned() } else { repository.unfinished_state() };
    states.push((HISTORY.to_owned(), history));
    let is_first = before.generation == 0;
    let fingerprints = if is_complete || is_first { states } else { unfinished(&before.fingerprints, &repository) };
    // An index of which one half follows one configuration and the other half another would answer for neither.
    let is_of_one_configuration =
        if is_complete { is_same_configuration || unread.known() == 0 } else { scope == RunScope::Changes };
    // A run that was stopped before it has written anything leaves what it has found, which may be complete.
    let has_result = is_complete || is_first || writer.is_touched();
    let published = if has_result && (is_first || is_of_one_configuration) {
        writer.publish(ManifestUpdate {
            model,
            head_commit: repository.head(),
            root: root.display().to_string(),
            fingerprints,
            complete: is_complete && deferred.is_none() && unread.is_empty(),
            now: now_seconds(),
            summary: serde_json::Value::Null,
        })?
    } else {
        writer.abandon()?;
        before.clone()
    };
    let is_left = is_complete && !is_first && !is_of_one_configuration;
    let snapshot = environment.snapshot()?;
    if published.generation != before.generation {
        access::follow(root, &moves.take(), &options.trust.known, &snapshot, now_seconds());
    }
    warnings.extend(record(&project, &options.trust, &snapshot));
    let mut remarks = repository.remarks();
    remarks.extend(is_left.then(|| LEFT.to_owned()));
    let after = After { published, snapshot, remarks, warnings, unread };
    let summary = IndexSummary::new(root, &before, after, report, begun.elapsed())?;
    Ok((summary, deferred.filter(|_| is_complete)))
}

/// The warning for an index that could not be brought to a new configuration.
const LEFT: &str = "the index was left as it was: files that it knows could not be read, and the configuration or the \
                    program has changed since they were indexed; make them readable, or name them in an ignore file";

/// Time that indexing a file takes on one core, apart from its history: measured on sources of 100 to 200 lines.
fn cost_of_a_file(model: Option<&ModelInfo>) -> Duration {
    match model {
        Some(model) if model.id != model.tokens => Duration::from_millis(100),
        _ => Duration::from_millis(2),
    }
}

/// The fingerprints after a run that was stopped: files that it has not reached are as the last run left them.
fn unfinished(before: &[(String, String)], repository: &Repository) -> Vec<(String, String)> {
    let of = |(name, state): &(String, String)| {
        let state = if name == HISTORY { repository.unfinished_state() } else { state.clone() };
        (name.clone(), state)
    };
    before.iter().map(of).collect()
}

/// Records the index as this user's; the warning to give if that fails.
fn record(project: &ProjectDirectory, trust: &Trust, snapshot: &Snapshot) -> Option<String> {
    let error = trust.known.record(project.path(), snapshot).err()?;
    (!trust.accepts_unknown).then(|| format!("searches will not trust this index: {error}"))
}
