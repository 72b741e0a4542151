//! Arguments of `aur mem browse`.

use std::path::PathBuf;

use clap::Args;

use crate::args_filter::FilterArgs;
use crate::values::ModeArg;

pub(crate) const BROWSE_EXAMPLES: &str = "\
Examples:
  aur mem browse
  aur mem browse retry with backoff --type function
  aur mem browse --path 'internal/**' --where owner=payments

Results change while you type. Enter opens the selected one in $VISUAL, $EDITOR or vi;
Ctrl-F edits the filters; Tab goes from the results to the code and to the explanation of
the score; F1 shows all keys.";

#[derive(Args, Debug)]
pub(crate) struct BrowseArgs {
    /// What to look for at first
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,

    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// Which signals rank the results
    #[arg(long, short, value_name = "MODE", value_enum)]
    pub(crate) mode: Option<ModeArg>,

    /// The indexed directory [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Do not remember which results were opened
    #[arg(long)]
    pub(crate) no_record: bool,

    /// Fail instead of building an index where there is none
    #[arg(long)]
    pub(crate) no_index: bool,

    /// Do not update the index, neither at the start nor after the editor
    #[arg(long)]
    pub(crate) no_refresh: bool,
}
