//! `aur catalog`: indexes and serves the repositories of a catalogue.

mod build;
mod clone;
mod serve;
mod status;
mod store;

use std::path::Path;

use aurora_project::Catalog;
use clap::Subcommand;

use crate::commands::catalog::build::BuildCatalogArgs;
use crate::commands::catalog::status::CatalogStatusArgs;
use crate::context::{Failure, Outcome, Program};

pub(crate) use serve::ServeCatalogArgs;
pub(crate) use store::CatalogStore;

#[derive(Debug, Subcommand)]
pub(crate) enum CatalogCommand {
    Build(BuildCatalogArgs),
    Status(CatalogStatusArgs),
    Serve(ServeCatalogArgs),
}

pub(crate) fn run(command: &CatalogCommand, program: &Program) -> Outcome {
    match command {
        CatalogCommand::Build(args) => build::run(args, program),
        CatalogCommand::Status(args) => status::run(args, program),
        CatalogCommand::Serve(args) => serve::run(args, program),
    }
}

/// Loads a catalogue.
pub(crate) fn load(file: &Path) -> Outcome<Catalog> {
    Catalog::load(file).map_err(|found| Failure::findings("the catalogue", &found))
}
