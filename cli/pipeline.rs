//! `aur pipeline`: what an index run would do, without doing it.

use std::io::Write;
use std::path::{Path, PathBuf};

use aurora_pipeline::{Diagnostics, Plan};
use aurora_stages::index::{self as indexing, IndexError, IndexOptions, PipelineChoice};
use aurora_stages::pipelines::EMBEDDED;

use crate::args_pipeline::{GraphFormat, PipelineArgs, PipelineCommand};
use crate::failure::{Failure, Outcome};
use crate::output::{report as findings, sanitize, units};
use crate::program::Program;
use crate::shorthand::closest;
use crate::terminal::Terminal;
use crate::{index, place};

/// Checks, draws or prints a pipeline, or prints the schema of all.
pub(crate) fn run(command: &PipelineCommand, program: &Program) -> Outcome {
    let mut out = program.terminal.stdout();
    match command {
        PipelineCommand::Check(args) => {
            let (name, plan) = plan(args, program)?;
            let stages = units::counted(plan.stages().len() as u64, "stage");
            let warnings = units::counted(plan.warnings().iter().count() as u64, "warning");
            writeln!(out, "{}: {stages}, no errors, {warnings}", sanitize::line(&name))?;
        }
        PipelineCommand::Graph { pipeline, format } => {
            let (_, plan) = plan(pipeline, program)?;
            let drawn = match format {
                GraphFormat::Text => plan.graph_text(),
                GraphFormat::Dot => plan.graph_dot(),
            };
            writeln!(out, "{}", sanitize::block(drawn.trim_end()))?;
        }
        PipelineCommand::Show(args) => {
            let (_, plan) = plan(args, program)?;
            writeln!(out, "{}", sanitize::block(plan.show().trim_end()))?;
        }
        PipelineCommand::Schema => {
            let names: Vec<&str> = EMBEDDED.iter().map(|pipeline| pipeline.name).collect();
            writeln!(out, "{:#}", program.registry.schema(&names))?;
        }
    }
    Ok(out.flush()?)
}

/// The pipeline that the user means: a shipped one by its name, else a file.
pub(crate) fn choice(asked: Option<&str>) -> Outcome<PipelineChoice> {
    let Some(asked) = asked else {
        return Ok(PipelineChoice::Default);
    };
    let names: Vec<&str> = EMBEDDED.iter().map(|pipeline| pipeline.name).collect();
    if names.contains(&asked) {
        return Ok(PipelineChoice::Named(asked.to_owned()));
    }
    let path = Path::new(asked);
    if path.is_file() {
        return Ok(PipelineChoice::File(path.to_owned()));
    }
    let help = match closest(asked, names.iter().copied()) {
        Some(name) => format!("did you mean `{name}`?"),
        None => format!("give a file, or one of the pipelines that ship with aur: {}", names.join(", ")),
    };
    Err(Failure::new(format!("there is no pipeline `{asked}`")).with_help(help))
}

/// What stopped an index run, or a look at its pipeline.
pub(crate) fn failure(error: IndexError, terminal: &Terminal) -> Failure {
    match error {
        IndexError::Pipeline(diagnostics) => report("the pipeline", &diagnostics, terminal),
        other => Failure::from_error(&other),
    }
}

/// Shows the findings about `what`, a configuration, that stopped a command.
pub(crate) fn report(what: &str, diagnostics: &Diagnostics, terminal: &Terminal) -> Failure {
    show(diagnostics, terminal);
    let errors = diagnostics.iter().filter(|finding| finding.severity == aurora_pipeline::Severity::Error).count();
    Failure::new(format!("{what} has {}", units::counted(errors as u64, "error")))
}

fn show(diagnostics: &Diagnostics, terminal: &Terminal) {
    let columns = terminal.live.then(|| terminal.columns.unwrap_or(100));
    let text = findings::render(diagnostics.iter(), columns, terminal.err);
    // Nothing can be done about a standard error that is closed.
    let _ = write!(std::io::stderr().lock(), "{text}");
}

/// The pipeline's name and plan; its warnings are shown.
fn plan(args: &PipelineArgs, program: &Program) -> Outcome<(String, Plan)> {
    let root: PathBuf = place::for_search(None)?;
    let choice = choice(args.pipeline.as_deref())?;
    let options = IndexOptions { pipeline: choice.clone(), ..index::options(root.clone(), program)? };
    let plan = indexing::plan(&options).map_err(|error| failure(error, &program.terminal))?;
    show(plan.warnings(), &program.terminal);
    let name = match choice {
        PipelineChoice::Named(name) => name,
        PipelineChoice::File(path) => path.display().to_string(),
        PipelineChoice::Default => {
            let project = place::project_pipeline(&root);
            if project.symlink_metadata().is_ok() { project.display().to_string() } else { "default".to_owned() }
        }
    };
    Ok((name, plan))
}
