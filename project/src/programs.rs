//! The programs that the stages of a pipeline run, and which of them the user has allowed.

use std::sync::Arc;

use aurora_pipeline::{Plan, ProgramSpec, Services};
use aurora_plugins::process::HelperDirectory;
use aurora_plugins::python;
use aurora_plugins::trust::ProgramIdentity;
use aurora_stages::index::{self as indexing, IndexOptions};

use crate::error::ProjectError;
use crate::user;

/// A stage that runs a program.
pub struct StageProgram {
    /// Name of the stage.
    pub stage: String,
    /// What is run.
    pub spec: ProgramSpec,
    /// What the user allows.
    pub identity: ProgramIdentity,
    /// Whether the user has allowed it.
    pub is_allowed: bool,
}

/// What stages that run programs ask for.
pub(crate) fn services() -> Services {
    let mut services = Services::new();
    services.insert(Arc::new(user::consents()));
    let user = user::absolute_directory();
    #[cfg(feature = "wasm")]
    if let Some(user) = &user {
        services.insert(Arc::new(aurora_wasm::CompiledModules(user.compiled_modules())));
    }
    // Without the module, only programs that import it fail, and say so.
    if let Some(directory) = user.map(|user| user.helpers())
        && python::write_helper(&directory).is_ok()
    {
        services.insert(Arc::new(HelperDirectory(directory)));
    }
    services
}

/// Every stage of a plan that runs a program, in the order of the plan.
///
/// # Errors
/// [`ProjectError::Program`] for the first program whose files cannot be read.
pub fn of_plan(plan: &Plan, options: &IndexOptions) -> Result<Vec<StageProgram>, ProjectError> {
    let consents = user::consents();
    let mut programs = Vec::new();
    for stage in plan.stages() {
        let Some(spec) = stage.program() else { continue };
        let identity = ProgramIdentity::of(&spec, &options.root)
            .map_err(|source| ProjectError::Program { stage: stage.name().to_owned(), source })?;
        let is_allowed = consents.allow(&options.root, &identity);
        programs.push(StageProgram { stage: stage.name().to_owned(), spec, identity, is_allowed });
    }
    Ok(programs)
}

/// The stages whose programs the user has not allowed.
///
/// # Errors
/// When the pipeline is wrong, or as for [`of_plan`].
pub fn refused(options: &IndexOptions) -> Result<Vec<StageProgram>, ProjectError> {
    let plan = indexing::plan(options)?;
    let programs = of_plan(&plan, options)?;
    Ok(programs.into_iter().filter(|program| !program.is_allowed).collect())
}

/// The stages whose programs the user has not allowed, or whose programs cannot be identified.
///
/// # Errors
/// When the pipeline is wrong.
pub fn untrusted(options: &IndexOptions) -> Result<Vec<String>, ProjectError> {
    let (plan, consents) = (indexing::plan(options)?, user::consents());
    let is_refused = |spec: &ProgramSpec| {
        !ProgramIdentity::of(spec, &options.root).is_ok_and(|identity| consents.allow(&options.root, &identity))
    };
    let stages = plan.stages().iter().filter(|stage| stage.program().as_ref().is_some_and(is_refused));
    Ok(stages.map(|stage| stage.name().to_owned()).collect())
}

/// The options of a run without the stages of these programs.
pub fn without(options: IndexOptions, refused: &[StageProgram]) -> IndexOptions {
    IndexOptions { left_out: refused.iter().map(|program| program.stage.clone()).collect(), ..options }
}
