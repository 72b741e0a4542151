//! `aur mem browse`: searches while the user types, with the code of the selected result beside the list.
//!
//! One thread reads keys and draws, so that nothing reads the terminal while an editor has it; it never waits for an answer.
//! Searches (`search.rs`) and code (`preview.rs`) are made by a thread each, which always takes up what was wanted last.

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
use std::time::Duration;

use crate::args_browse::BrowseArgs;
use crate::failure::{Failure, Outcome};
use crate::program::Program;
use crate::search::mode;
use crate::{findings, index, interrupt, place};

pub(crate) use editor::Editor;
use search::Subject;
use session::Session;

/// Shows the browser until the user leaves it.
pub(crate) fn run(args: &BrowseArgs, program: &Program) -> Outcome {
    args.filter.spec().map_err(|error| Failure::from_error(&error))?;
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    if is_dumb || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
        return Err(Failure::new("`aur mem browse` needs a terminal that can move its cursor, for input and output")
            .with_help("`aur mem search` answers without one"));
    }
    let project = program.project(place::for_search(args.root.as_deref())?);
    let config = project.settings(Vec::new()).map_err(|error| findings::project(error, &program.terminal))?;
    let is_new = index::for_search(&project, args.no_index, program)?;
    let snapshot = project.snapshot()?;
    let budget = if args.no_refresh { Duration::ZERO } else { Duration::from_millis(config.refresh) };
    interrupt::is_left_to_another();
    let subject = Subject { project, snapshot, config, mode: mode(args.mode), budget, is_new };
    Session::begin(args, subject, program.terminal.out)?.run(&program.terminal)
}
