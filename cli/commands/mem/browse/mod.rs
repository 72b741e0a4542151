//! `aur mem browse`: searches while the user types, and shows the code of the selected result next to the list.
//!
//! In this module, "the browser" is this interactive search in the terminal.
//!
//! One thread reads keys and draws, so that nothing else reads the terminal while an editor uses it. This thread never
//! waits for an answer. Two other threads run the searches (`search.rs`) and read the code (`preview.rs`). Each of them
//! always handles the latest request.

mod app;
mod args;
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
use std::time::Duration;

use search::Subject;
use session::Session;

use crate::context::{Failure, Outcome, Program, first_index, interrupt};

pub(crate) use args::BrowseArgs;
pub(crate) use editor::Editor;

/// Runs the browser until the user leaves it.
pub(crate) fn run(args: &BrowseArgs, program: &Program) -> Outcome {
    args.filter.spec()?;
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if is_dumb || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Failure::new("`aur mem browse` needs a terminal with cursor control for input and output")
            .with_help("use `aur mem search` instead"));
    }
    let project = program.find(args.root.as_deref())?;
    let config = project.settings(Vec::new())?;
    let is_new = first_index::for_search(&project, args.no_index, program)?;
    let snapshot = project.snapshot()?;
    let budget = if args.no_refresh { Duration::ZERO } else { Duration::from_millis(config.refresh) };
    interrupt::leave_to_other_handler();
    let subject = Subject { project, snapshot, config, mode: args.mode.unwrap_or_default(), budget, is_new };
    Session::begin(args, subject, program.terminal.out)?.run()
}
