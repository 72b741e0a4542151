//! Pipelines as arguments name them, and what is wrong with a configuration.

use std::io::Write;
use std::path::Path;

use aurora_pipeline::Diagnostics;
use aurora_project::ProjectError;
use aurora_stages::index::{IndexError, PipelineChoice};
use aurora_stages::pipelines::EMBEDDED;
use aurora_suggest::did_you_mean;

use crate::context::failure::{Failure, Outcome};
use crate::context::terminal::Terminal;
use crate::output::{report as rendered, units};

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
    let help = did_you_mean(asked, names.iter().copied())
        .unwrap_or_else(|| format!("give a file, or one of the pipelines that ship with aur: {}", names.join(", ")));
    Err(Failure::new(format!("there is no pipeline `{asked}`")).with_help(help))
}

/// What stopped an index run, or a look at its pipeline.
pub(crate) fn failure(error: IndexError, terminal: &Terminal) -> Failure {
    match error {
        IndexError::Pipeline(diagnostics) => report("the pipeline", &diagnostics, terminal),
        other => Failure::from_error(&other),
    }
}

/// What is wrong with a project.
pub(crate) fn project(error: ProjectError, terminal: &Terminal) -> Failure {
    match error {
        ProjectError::Configuration(findings) => report("the search configuration", &findings, terminal),
        ProjectError::Logs(findings) => report("the configuration of the logs", &findings, terminal),
        ProjectError::Index(error) => failure(error, terminal),
        other => other.into(),
    }
}

/// Shows the findings about `what`, a configuration, that stopped a command.
pub(crate) fn report(what: &str, diagnostics: &Diagnostics, terminal: &Terminal) -> Failure {
    show(diagnostics, terminal);
    let errors = diagnostics.iter().filter(|finding| finding.severity == aurora_pipeline::Severity::Error).count();
    Failure::new(format!("{what} has {}", units::counted(errors as u64, "error")))
}

pub(crate) fn show(diagnostics: &Diagnostics, terminal: &Terminal) {
    let columns = terminal.live.then(|| terminal.columns.unwrap_or(100));
    let text = rendered::render(diagnostics.iter(), columns, terminal.err);
    // Nothing can be done about a standard error that is closed.
    let _ = write!(std::io::stderr().lock(), "{text}");
}
