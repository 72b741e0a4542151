//! The argument that selects a pipeline.

use std::path::Path;

use aurora_stages::index::PipelineChoice;
use aurora_stages::pipelines::EMBEDDED;
use aurora_suggest::did_you_mean;

use crate::context::{Failure, Outcome};

/// Resolves a pipeline argument: the name of a built-in pipeline, or a file.
pub(crate) fn choice(argument: Option<&str>) -> Outcome<PipelineChoice> {
    let Some(argument) = argument else {
        return Ok(PipelineChoice::Default);
    };
    let names: Vec<&str> = EMBEDDED.iter().map(|pipeline| pipeline.name).collect();
    if names.contains(&argument) {
        return Ok(PipelineChoice::Named(argument.to_owned()));
    }
    let path = Path::new(argument);
    if path.is_file() {
        return Ok(PipelineChoice::File(path.to_owned()));
    }
    let help = did_you_mean(argument, names.iter().copied())
        .unwrap_or_else(|| format!("give a file, or one of the pipelines that ship with aur: {}", names.join(", ")));
    Err(Failure::new(format!("there is no pipeline `{argument}`")).with_help(help))
}
