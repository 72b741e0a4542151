//! The projects that a server serves and whose indexes it keeps up to date.

use std::path::{Path, PathBuf};

use aurora_live::{Labels, Roots, Upkeep};
use aurora_project::Project;

use crate::context::catalogs::{self, CatalogStore};
use crate::context::{Outcome, Program, configurations, place};
use crate::output::sanitize;

/// Opens the projects with these paths or names. If `paths` is empty, opens the enclosing project.
///
/// The server builds a missing index only if the directory is a project. Other directories, such as a home directory,
/// are only indexed by an explicit command.
pub(crate) fn roots(paths: &[PathBuf], is_read_only: bool, program: &Program) -> Outcome<Roots> {
    let roots = place::distinct_roots(paths)?;
    Ok(Roots::new(roots.into_iter().map(|root| project(root, is_read_only, program)).collect()))
}

/// Opens the repositories of a catalogue, read-only. Repositories without an index are listed in a warning.
pub(crate) fn catalog(file: &Path, program: &Program) -> Outcome<Roots> {
    let (catalog, store) = (catalogs::load(file)?, CatalogStore::open(file)?);
    let mut missing = Vec::new();
    let served = catalog.repositories.into_iter().map(|of| {
        let project = program.project(store.root(&of));
        if !project.has_index() {
            missing.push(of.name.clone());
        }
        (of.name, project, Labels { groups: of.groups, owners: of.owners })
    });
    let roots = Roots::labelled(served.collect());
    if !missing.is_empty() {
        let names = missing.join(", ");
        program.terminal.warn(&format!("no index, not searched: {names}; `aur catalog build` builds the indexes"));
    }
    Ok(roots)
}

fn project(root: PathBuf, is_read_only: bool, program: &Program) -> (Project, Upkeep) {
    let upkeep = match place::is_project(&root) {
        _ if is_read_only => Upkeep::ReadOnly,
        true => Upkeep::Build,
        false => Upkeep::Update,
    };
    configurations::warn_ignored(Some(&root), &program.terminal);
    let project = program.project(root);
    if upkeep != Upkeep::Build && !project.has_index() {
        let shown = sanitize::line(&project.root().display().to_string());
        program.terminal.warn(&format!("{shown} has no index yet; `aur mem index {shown}` builds it"));
    }
    (project, upkeep)
}
