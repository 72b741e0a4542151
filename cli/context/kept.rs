//! The projects that a server keeps fresh.

use std::path::PathBuf;
use std::sync::Arc;

use aurora_live::{LiveProject, Roots, Upkeep};

use crate::context::failure::Outcome;
use crate::context::place;
use crate::context::program::Program;
use crate::output::sanitize;

/// The projects at these paths or with these names; without any, the nearest one. One without an index gets one if it is a
/// project: a home directory is indexed only by a command.
pub(crate) fn roots(paths: &[PathBuf], is_read_only: bool, program: &Program) -> Outcome<Roots> {
    let roots = place::each_once(paths)?;
    Ok(Roots::new(roots.into_iter().map(|root| kept(root, is_read_only, program)).collect()))
}

fn kept(root: PathBuf, is_read_only: bool, program: &Program) -> Arc<LiveProject> {
    let upkeep = match place::is_project(&root) {
        _ if is_read_only => Upkeep::ReadOnly,
        true => Upkeep::Build,
        false => Upkeep::Update,
    };
    let project = program.project(root);
    if upkeep != Upkeep::Build && !project.has_index() {
        let shown = sanitize::line(&project.root().display().to_string());
        program.terminal.warn(&format!("{shown} has no index yet; `aur mem index {shown}` builds it"));
    }
    Arc::new(LiveProject::new(project, upkeep))
}
