//! `aur mem browse`: searches while the user types, and shows the code of the selected result next to the list.
//!
//! One thread reads keys and draws, so that nothing else reads the terminal while an editor uses it. This thread never
//! waits for an answer. Two other threads run the searches (`search.rs`) and read the code (`preview.rs`). Each of them
//! always handles the latest request.

mod app;
mod command;
mod editor;
mod filters;
mod latest;
mod line_edit;
mod preview;
mod row;
mod screen;
mod search;
mod session;
mod signals;
mod theme;
mod view;

use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use search::Subject;
use session::Session;

use crate::commands::mem::search::mode;
use crate::context::args::{FilterArgs, ModeArg};
use crate::context::failure::{Failure, Outcome};
use crate::context::program::Program;
use crate::context::{findings, indexing, interrupt, place};

pub(crate) use editor::Editor;

pub(crate) const BROWSE_EXAMPLES: &str = "\
Examples:
  aur mem browse
  aur mem browse retry with backoff --type function
  aur mem browse --path 'internal/**' --where owner=payments

Results change while you type. Enter opens the selected one in $VISUAL, $EDITOR or vi;
Ctrl-F edits the filters; Tab moves from the results to the code and to the explanation of
the score; F1 shows all keys.";

/// Search while you type, with the code next to the results
#[derive(Args, Debug)]
#[command(after_help = BROWSE_EXAMPLES)]
pub(crate) struct BrowseArgs {
    /// Initial query
    #[arg(value_name = "QUERY")]
    pub(crate) query: Vec<String>,

    #[command(flatten)]
    pub(crate) filter: FilterArgs,

    /// Signals that rank the results
    #[arg(long, short, value_name = "MODE", value_enum)]
    pub(crate) mode: Option<ModeArg>,

    /// Indexed directory [default: the nearest enclosing directory with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Do not record which results were opened
    #[arg(long)]
    pub(crate) no_record: bool,

    /// Fail instead of building a missing index
    #[arg(long)]
    pub(crate) no_index: bool,

    /// Search the index as it is, without a quick update at the start and after the editor
    #[arg(long)]
    pub(crate) no_refresh: bool,
}

/// Runs the browser until the user leaves it.
pub(crate) fn run(args: &BrowseArgs, program: &Program) -> Outcome {
    args.filter.spec().map_err(|error| Failure::from_error(&error))?;
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if is_dumb || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Failure::new("`aur mem browse` needs a terminal with cursor control for input and output")
            .with_help("use `aur mem search` instead"));
    }
    let project = program.project(place::for_search(args.root.as_deref())?);
    let config = project.settings(Vec::new()).map_err(|error| findings::project(error, &program.terminal))?;
    let is_new = indexing::for_search(&project, args.no_index, program)?;
    let snapshot = project.snapshot()?;
    let budget = if args.no_refresh { Duration::ZERO } else { Duration::from_millis(config.refresh) };
    interrupt::leave_to_other_handler();
    let subject = Subject { project, snapshot, config, mode: mode(args.mode), budget, is_new };
    Session::begin(args, subject, program.terminal.out)?.run(&program.terminal)
}
