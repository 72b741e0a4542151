//! Arguments that say which directories a command is about.

use std::path::PathBuf;

use clap::Args;

use crate::values::ReportFormat;

pub(crate) const ROOTS_EXAMPLES: &str = "\
Examples:
  aur mem roots                           name, path, files, chunks and age of each index
  aur mem search retry --root app --root lib
  aur mem search retry --all-roots

A root has the name of its directory; where two have the same one, also that of the directory above.";

#[derive(Debug, Args)]
pub(crate) struct RootsArgs {
    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// What a search covers.
#[derive(Debug, Args)]
pub(crate) struct SearchedRoots {
    /// An indexed directory, or the name of one of `aur mem roots`; may be given several times, to search all as one
    ///
    /// [default: the nearest directory above with an index]
    #[arg(long, value_name = "PATH|NAME")]
    pub(crate) root: Vec<PathBuf>,

    /// Search all that `aur mem roots` lists as one
    #[arg(long, conflicts_with = "root")]
    pub(crate) all_roots: bool,
}
