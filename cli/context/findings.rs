//! Pipeline arguments, and reports of configuration errors.

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

/// Resolves a pipeline argument: the name of a built-in pipeline, or a file.
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

/// Converts an error of an index run or of checking its pipeline.
pub(crate) fn failure(error: IndexError, terminal: &Terminal) -> Failure {
    match error {
        IndexError::Pipeline(diagnostics) => report("the pipeline", &diagnostics, terminal),
        other => Failure::from_error(&other),
    }
}

/// Converts a project error, and prints its findings.
pub(crate) fn project(error: ProjectError, terminal: &Terminal) -> Failure {
    match error {
        ProjectError::Configuration(findings) => report("the search configuration", &findings, terminal),
        ProjectError::Logs(findings) => report("the configuration of the logs", &findings, terminal),
        ProjectError::Index(error) => failure(error, terminal),
        other => other.into(),
    }
}

/// Prints the findings about a configuration, and returns the failure of the command. `what` names the configuration.
pub(crate) fn report(what: &str, diagnostics: &Diagnostics, terminal: &Terminal) -> Failure {
    show(diagnostics, terminal);
    let errors = diagnostics.iter().filter(|finding| finding.severity == aurora_pipeline::Severity::Error).count();
    Failure::new(format!("{what} has {}", units::counted(errors as u64, "error")))
}

pub(crate) fn show(diagnostics: &Diagnostics, terminal: &Terminal) {
    let columns = terminal.live.then(|| terminal.columns.unwrap_or(100));
    let text = rendered::render(diagnostics.iter(), columns, terminal.err);
    // Write errors are ignored, because nobody could read a message about a closed standard error.
    let _ = write!(std::io::stderr().lock(), "{text}");
}
