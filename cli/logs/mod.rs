//! `aur log` and `aur logs`: conversation logs.

mod append;
mod export;
mod input;
mod list;
mod maintain;
mod named;
mod place;
mod rows;
mod search;
mod unread;
mod view;
mod write;

use aurora_logs::DateRange;
use jiff::tz::TimeZone;

use crate::args_logs::{LogCommand, LogsArgs, LogsCommand};
use crate::failure::Outcome;
use crate::program::Program;

/// `aur log`: writes logs.
pub(crate) fn run_one(command: &LogCommand, program: &Program) -> Outcome {
    match command {
        LogCommand::Write(args) => write::run(args, program),
        LogCommand::Append(args) => append::run(args, program),
    }
}

/// `aur logs`: what is done with those that there are.
pub(crate) fn run(args: &LogsArgs, program: &Program) -> Outcome {
    match &args.command {
        None => list::run(list::range(&args.days)?, &args.show, program),
        Some(LogsCommand::Today { show }) => {
            let today = aurora_clock::now().to_zoned(TimeZone::UTC).date();
            list::run(Some(DateRange::day(today)), show, program)
        }
        Some(LogsCommand::List { period, days, show }) => list::run(period.or(list::range(days)?), show, program),
        Some(LogsCommand::Search(args)) => search::run(args, program),
        Some(LogsCommand::View { log, format }) => view::run(log, *format, program),
        Some(LogsCommand::Export { log, output, force }) => export::run(log, output.as_deref(), *force, program),
        Some(LogsCommand::Maintain { dry_run, format }) => maintain::run(*dry_run, *format, program),
    }
}
