//! `aur catalog serve`: serves the repositories of a catalogue over HTTP, like `aur serve --catalog`.

use std::path::PathBuf;

use clap::Args;

use crate::commands::serve::{self, ServeOptionsArgs};
use crate::context::{Outcome, Program};

/// Serve searches of all repositories of a catalogue over HTTP
#[derive(Args, Debug)]
pub(crate) struct ServeCatalogArgs {
    /// The catalogue, a TOML file
    #[arg(value_name = "FILE")]
    file: PathBuf,

    #[command(flatten)]
    pub(crate) options: ServeOptionsArgs,
}

pub(crate) fn run(args: &ServeCatalogArgs, program: &Program) -> Outcome {
    serve::serve_catalog(&args.file, &args.options, program)
}
