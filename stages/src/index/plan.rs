//! Which pipeline a run follows.

use std::io;
use std::path::{Path, PathBuf};

use aurora_confined::read_regular_to_string;
use aurora_pipeline::{PipelineSource, Plan};
use aurora_storage::ProjectDirectory;

use super::error::IndexError;
use super::options::PipelineChoice;
use crate::limits::Limits;
use crate::pipelines;
use crate::registry::registry;

/// Most bytes of a pipeline file.
pub const MOST_PIPELINE_BYTES: u64 = 1 << 20;

/// Resolves and checks a pipeline for a root, without touching anything but its TOML files. The project's own pipeline
/// is held against the limits.
///
/// # Errors
/// With every fault of the configuration at once, or when its file cannot be read.
pub fn plan(root: &Path, choice: &PipelineChoice, limits: &Limits) -> Result<Plan, IndexError> {
    let (name, text) = pipeline_source(root, choice)?;
    let source = PipelineSource { name: &name, text: &text };
    // A file that the user names is trusted.
    let ceilings = if *choice == PipelineChoice::Default { limits.ceilings() } else { Vec::new() };
    let plan = aurora_pipeline::load_within(&[source], &registry(), pipelines::EMBEDDED, &ceilings);
    plan.map_err(IndexError::Pipeline)
}

/// The name and the TOML of a pipeline.
fn pipeline_source(root: &Path, choice: &PipelineChoice) -> Result<(String, String), IndexError> {
    let read = |path: PathBuf, text: io::Result<String>| match text {
        Ok(text) => Ok((path.display().to_string(), text)),
        Err(source) => Err(IndexError::Unreadable { path, source }),
    };
    let extending = |name: &str| (name.to_owned(), format!("extends = {name:?}\n"));
    match choice {
        PipelineChoice::File(path) => read(path.clone(), read_regular_to_string(path, MOST_PIPELINE_BYTES)),
        PipelineChoice::Named(name) => Ok(extending(name)),
        PipelineChoice::Default => {
            let project = ProjectDirectory::of(root);
            let text =
                project.open().and_then(|home| home.read_to_string(ProjectDirectory::PIPELINE, MOST_PIPELINE_BYTES));
            match text {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(extending("default")),
                text => read(project.path_of(ProjectDirectory::PIPELINE), text),
            }
        }
    }
}
