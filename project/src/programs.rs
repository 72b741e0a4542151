//! The programs that the stages of a pipeline run, and the user's consents to them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_pipeline::{Diagnostic, Diagnostics, Plan, PlannedStage, ProgramSpec, Services, code};
use aurora_plugins::process::{HelperDirectory, ProgramHashes, missing_parts};
use aurora_plugins::python;
use aurora_plugins::trust::ProgramIdentity;
use aurora_stages::index::{self as indexing, IndexError, IndexOptions};
use aurora_storage::Snapshot;

use crate::error::ProjectError;
use crate::user;

/// A stage that runs a program.
pub struct StageProgram {
    /// Name of the stage.
    pub stage: String,
    /// The program.
    pub spec: ProgramSpec,
    /// The identity of the program. A consent of the user is valid for this identity only.
    pub identity: ProgramIdentity,
    /// Whether the program may run, because the user has allowed it or it is sandboxed.
    pub is_allowed: bool,
    /// Differences from the version that the user allowed before. Empty if there is no such version, or the program is
    /// allowed.
    pub changes: Vec<String>,
    root: PathBuf,
}

impl StageProgram {
    /// Describes everything that the program may load but that its digest does not cover. Searches the project for
    /// candidate files.
    pub fn not_covered(&self) -> Vec<String> {
        self.identity.not_covered(&self.root)
    }
}

/// Returns the services that stages with programs need.
pub(crate) fn services() -> Services {
    let mut services = Services::new();
    services.insert(Arc::new(user::consents()));
    let user = user::absolute_directory();
    #[cfg(feature = "wasm")]
    if let Some(user) = &user {
        services.insert(Arc::new(aurora_wasm::CompiledModules(user.compiled_modules())));
    }
    // Ignore an error of writing the helper module: only programs that import it fail, and their errors name the
    // module.
    if let Some(directory) = user.map(|user| user.helpers())
        && python::write_helper(&directory).is_ok()
    {
        services.insert(Arc::new(HelperDirectory(directory)));
    }
    services
}

/// Returns the stages of a plan that run a program or a sandboxed module, in the order of the plan.
///
/// # Errors
/// Returns an error of the pipeline if the files of a program cannot be read.
pub fn from_plan(plan: &Plan, options: &IndexOptions) -> Result<Vec<StageProgram>, ProjectError> {
    let consents = user::consents();
    let (mut programs, mut found) = (Vec::new(), Diagnostics::default());
    for stage in plan.stages() {
        let Some(spec) = stage.program() else { continue };
        let identity = match ProgramIdentity::from_spec(&spec, &options.root) {
            Ok(identity) => identity,
            // A sandboxed module needs no consent. If it cannot be read, building the stage reports the error.
            Err(_) if spec.is_confined => continue,
            Err(error) => {
                let missing = missing_diagnostics(stage, &options.root);
                let other = missing.is_empty().then(|| cannot_run(stage, &error.to_string()));
                found.extend(missing.into_iter().chain(other));
                continue;
            }
        };
        let is_allowed = spec.is_confined || consents.allow(&options.root, &identity);
        let earlier = || consents.earlier(&options.root, stage.name(), &spec, &identity);
        let earlier = if is_allowed { None } else { earlier() };
        let changes = earlier.map(|consent| consent.changes(&spec, &identity)).unwrap_or_default();
        programs.push(StageProgram {
            stage: stage.name().to_owned(),
            spec,
            identity,
            is_allowed,
            changes,
            root: options.root.clone(),
        });
    }
    if found.has_errors() { Err(ProjectError::Index(IndexError::Pipeline(found))) } else { Ok(programs) }
}

/// Returns the diagnostic for a stage whose program cannot be run.
fn cannot_run(stage: &PlannedStage, reason: &str) -> Diagnostic {
    let message = format!("stage `{}` cannot run: {reason}", stage.name());
    Diagnostic::error(code::MISSING_PROGRAM, stage.location().cloned(), message)
}

/// Returns a diagnostic for each missing part of a stage's program.
fn missing_diagnostics(stage: &PlannedStage, root: &Path) -> Vec<Diagnostic> {
    let help = "install it, or correct the path, which is relative to the root of the project";
    let missing = stage.program().map(|spec| missing_parts(&spec, root)).unwrap_or_default();
    missing.iter().map(|part| cannot_run(stage, part).with_help(Some(help.to_owned()))).collect()
}

/// Returns the stages whose programs the user has not allowed.
///
/// # Errors
/// Fails if the pipeline is invalid or [`from_plan`] fails.
pub fn refused(options: &IndexOptions) -> Result<Vec<StageProgram>, ProjectError> {
    let programs = from_plan(&indexing::plan(options)?, options)?;
    Ok(programs.into_iter().filter(|program| !program.is_allowed).collect())
}

/// Returns the names of the stages whose programs the user has not allowed, or whose programs cannot be read.
///
/// # Errors
/// Fails if the pipeline is invalid.
pub fn untrusted(options: &IndexOptions) -> Result<Vec<String>, ProjectError> {
    let (plan, consents) = (indexing::plan(options)?, user::consents());
    let is_refused = |spec: &ProgramSpec| {
        !ProgramIdentity::from_spec(spec, &options.root).is_ok_and(|identity| consents.allow(&options.root, &identity))
    };
    let stages = plan.stages().iter().filter(|stage| stage.program().as_ref().is_some_and(is_refused));
    Ok(stages.map(|stage| stage.name().to_owned()).collect())
}

/// Returns the files of the programs in a plan, with the files that the programs depend on, as paths below the root.
/// The files need not exist.
pub(crate) fn files_of(plan: &Plan, root: &Path) -> BTreeSet<String> {
    let mut files = BTreeSet::new();
    for spec in plan.stages().iter().filter_map(PlannedStage::program) {
        if let Ok(identity) = ProgramIdentity::from_spec(&spec, root) {
            files.extend(identity.covered().map(|file| file.path.clone()));
        }
        files.extend([spec.command, spec.files, spec.inputs].concat());
    }
    files
}

/// Returns the names of the stages whose programs have changed since they computed the values in an index. A program
/// that cannot be read counts as changed.
///
/// # Errors
/// Fails if the pipeline is invalid.
pub(crate) fn changed_since(snapshot: &Snapshot, options: &IndexOptions) -> Result<Vec<String>, IndexError> {
    let plan = indexing::plan(options)?;
    let is_changed = |stage: &&PlannedStage| {
        let recorded = indexing::recorded_settings(snapshot.manifest(), stage.name());
        let Some(spec) = stage.program().filter(|spec| !spec.is_confined && ProgramHashes::exist_in(&recorded)) else {
            return false;
        };
        let hashes = ProgramIdentity::from_spec(&spec, &options.root)
            .and_then(|identity| ProgramHashes::new(&spec, &identity, &options.root));
        !hashes.is_ok_and(|hashes| hashes.match_settings(&recorded))
    };
    Ok(plan.stages().iter().filter(is_changed).map(|stage| stage.name().to_owned()).collect())
}

/// Returns the plan of a run. Also checks that the files and interpreters of its programs exist.
///
/// # Errors
/// Returns all errors of the pipeline.
pub fn checked_plan(options: &IndexOptions) -> Result<Plan, IndexError> {
    indexing::plan_checked(options, &|stages| {
        let mut found = Diagnostics::default();
        found.extend(stages.iter().flat_map(|stage| missing_diagnostics(stage, &options.root)));
        found
    })
}

/// Returns the options of a run that leaves out the stages with `refused` programs and all stages that depend on them.
///
/// # Errors
/// Fails if the pipeline is invalid.
pub fn without(options: IndexOptions, refused: &[StageProgram]) -> Result<IndexOptions, ProjectError> {
    let names = refused.iter().map(|program| program.stage.clone()).collect();
    let left_out = indexing::with_dependants(&indexing::plan(&options)?, names);
    Ok(IndexOptions { left_out, ..options })
}
