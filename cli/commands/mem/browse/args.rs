//! The arguments of `aur mem browse`.

use std::path::PathBuf;

use aurora_query::Mode;
use clap::Args;

use crate::context::FilterArgs;

/// Search while you type, with the code next to the results
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  aur mem browse
  aur mem browse retry with backoff --type function
  aur mem browse --path 'internal/**' --where owner=payments

Results change while you type. Enter opens the selected one in $VISUAL, $EDITOR or vi;
Ctrl-F edits the filters; Tab moves from the results to the code and to the explanation of
the score; F1 shows all keys.")]
pub(crate) struct BrowseArgs {
    /// Initial query
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,

    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// Signals that rank the results
    #[arg(long, short, value_name = "MODE", value_enum)]
    pub(crate) mode: Option<Mode>,

    /// Indexed directory [default: the nearest enclosing directory with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Do not record which results were opened
    #[arg(long)]
    pub(crate) no_record: bool,

    /// Fail instead of building a missing index
    #[arg(long)]
    pub(crate) no_index: bool,

    /// Search the index as it is, without a quick update at the start and after the editor closes
    #[arg(long)]
    pub(crate) no_refresh: bool,
}
