//! `aur catalog`: indexes and serves the repositories of a catalogue.

mod build;
mod clone;
mod serve;
mod status;

use clap::Subcommand;

use crate::commands::catalog::build::BuildCatalogArgs;
use crate::commands::catalog::status::CatalogStatusArgs;
use crate::context::{Outcome, Program};

pub(crate) use serve::ServeCatalogArgs;

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
