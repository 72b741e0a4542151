//! The programs that the stages of a pipeline run, and which of them the user has allowed.

use std::sync::Arc;

use aurora_pipeline::{Plan, ProgramSpec, Services};
use aurora_plugins::process::HelperDirectory;
use aurora_plugins::python;
use aurora_plugins::trust::{Consents, ProgramIdentity};
use aurora_stages::index::{self as indexing, IndexOptions};
use aurora_storage::UserDirectory;

use crate::args_plugin::Untrusted;
use crate::failure::{Failure, Outcome};
use crate::findings;
use crate::output::sanitize;
use crate::terminal::Terminal;

/// A stage that runs a program.
pub(crate) struct StageProgram {
    pub(crate) stage: String,
    pub(crate) spec: ProgramSpec,
    pub(crate) identity: ProgramIdentity,
    pub(crate) is_allowed: bool,
}

/// The user's records of allowed programs.
pub(crate) fn consents() -> Consents {
    // A relative path would depend on the current directory, which may be a repository.
    let user = UserDirectory::from_environment().filter(|user| user.path().is_absolute());
    user.map_or_else(Consents::none, |user| Consents::at(user.program_records()))
}

/// What stages that run programs ask for.
pub(crate) fn services() -> Services {
    let mut services = Services::new();
    services.insert(Arc::new(consents()));
    let user = UserDirectory::from_environment().filter(|user| user.path().is_absolute());
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
pub(crate) fn of_plan(plan: &Plan, options: &IndexOptions) -> Outcome<Vec<StageProgram>> {
    let consents = consents();
    let mut programs = Vec::new();
    for stage in plan.stages() {
        let Some(spec) = stage.program() else { continue };
        let identity = ProgramIdentity::of(&spec, &options.root)
            .map_err(|error| Failure::new(format!("stage `{}`: {error}", stage.name())))?;
        let is_allowed = consents.allow(&options.root, &identity);
        programs.push(StageProgram { stage: stage.name().to_owned(), spec, identity, is_allowed });
    }
    Ok(programs)
}

/// What stages are run for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Index,
    DryRun,
}

/// The options of a run without the stages whose programs are not allowed, if it may leave them out.
pub(crate) fn allowed(
    options: IndexOptions,
    untrusted: Untrusted,
    purpose: Purpose,
    terminal: &Terminal,
) -> Outcome<IndexOptions> {
    let plan = indexing::plan(&options).map_err(|error| findings::failure(error, terminal))?;
    let programs = of_plan(&plan, &options)?;
    let refused: Vec<&StageProgram> = programs.iter().filter(|program| !program.is_allowed).collect();
    if refused.is_empty() {
        return Ok(options);
    }
    let (goes_on, stopped, without) = match purpose {
        Purpose::Index => ("the index is made", "nothing was indexed", "indexes without it"),
        Purpose::DryRun => ("the pipeline is run", "nothing was run", "leaves it out"),
    };
    if untrusted == Untrusted::Skip {
        for program in &refused {
            terminal.warn(&format!(
                "{goes_on} without stage `{0}`: its program is not allowed; `aur plugin trust {0}` shows it",
                program.stage
            ));
        }
        let left_out = refused.iter().map(|program| program.stage.clone()).collect();
        return Ok(IndexOptions { left_out, ..options });
    }
    let shown: Vec<String> = refused.iter().map(|program| described(program)).collect();
    let commands: Vec<String> = refused.iter().map(|program| format!("`aur plugin trust {}`", program.stage)).collect();
    Err(Failure::new(format!("programs that you have not allowed in this repository; {stopped}\n{}", shown.join("\n")))
        .with_help(format!("{} allows it; `--untrusted skip` {without}", commands.join(" and "))))
}

/// What is run, in lines.
pub(crate) fn described(program: &StageProgram) -> String {
    let quoted =
        |part: &String| if part.contains([' ', '\t', '\n', '"', '\'']) { format!("{part:?}") } else { part.clone() };
    let command: Vec<String> = program.spec.command.iter().map(quoted).collect();
    let mut lines = vec![
        format!("  stage    {}", sanitize::line(&program.stage)),
        format!("  command  {}", sanitize::line(&command.join(" "))),
    ];
    for file in &program.identity.files {
        lines.push(format!("  file     {}", sanitize::line(&file.path)));
    }
    if !program.spec.environment.is_empty() {
        lines.push(format!("  gets     {}", sanitize::line(&program.spec.environment.join(", "))));
    }
    lines.push(format!("  hash     {}", program.identity.hex()));
    lines.join("\n")
}
