//! `aur log` and `aur logs`: conversation logs.

mod append;
mod args;
mod export;
mod input;
mod list;
mod maintain;
mod place;
mod rows;
mod search;
mod view;
mod write;

use std::path::PathBuf;

use aurora_logs::{DateRange, Month};
use clap::{Args, Subcommand};
use jiff::tz::TimeZone;

use crate::commands::logs::append::LogAppendArgs;
use crate::commands::logs::args::{DaysArgs, LogFormat, ShownArgs, parse_month};
use crate::commands::logs::search::LogSearchArgs;
use crate::commands::logs::write::LogWriteArgs;
use crate::context::{Outcome, Program, ReportFormat};

pub(crate) const LOG_EXAMPLES: &str = "\
Examples:
  aur log write interaction.json                 write a log from JSON
  aur log write --query \"fix the login\" notes.md  write a log from Markdown, stored unchanged
  aur log append aurora-20251213-143215-abc123 more.json

`aur logs` lists, searches and shows logs.";

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    Write(LogWriteArgs),
    Append(LogAppendArgs),
}

/// List, search and show interaction logs
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
#[command(after_help = "\
Examples:
  aur logs                                     the 20 latest
  aur logs today
  aur logs --date 2025-12-13
  aur logs --month 2025-12
  aur logs list 2025/12
  aur logs search oauth token --from 2025-12-01 --to 2025-12-13
  aur logs view oauth-authentication-2025-12-13
  aur logs export aurora-20251213-143215-abc123 -o log.md
  aur logs maintain --dry-run

Days are in UTC. Exits with 1 if nothing matches, and with 2 if a log could not be read.")]
pub(crate) struct LogsArgs {
    #[command(subcommand)]
    pub(crate) command: Option<LogsCommand>,

    #[command(flatten)]
    pub(crate) days: DaysArgs,

    #[command(flatten)]
    pub(crate) show: ShownArgs,
}

#[derive(Debug, Subcommand)]
pub(crate) enum LogsCommand {
    /// List the logs of today (UTC)
    Today {
        #[command(flatten)]
        show: ShownArgs,
    },
    /// List logs, newest first
    #[command(after_help = "\
Examples:
  aur logs list                                the 20 latest
  aur logs list 2025/12
  aur logs list 2025 --limit 100
  aur logs list --from 2025-12-01 --format jsonl")]
    List {
        /// Year or month: 2025, 2025/12
        #[arg(value_name = "YYYY[/MM]", value_parser = parse_period, conflicts_with_all = ["date", "month", "from", "to"])]
        period: Option<DateRange>,

        #[command(flatten)]
        days: DaysArgs,

        #[command(flatten)]
        show: ShownArgs,
    },
    Search(LogSearchArgs),
    /// Show a log
    #[command(after_help = "\
Examples:
  aur logs view oauth-authentication-2025-12-13
  aur logs view aurora-20251213-143215-abc123
  aur logs view oauth-auth                     a unique prefix is enough
  aur logs view oauth-auth --format json       sections with line numbers

On a terminal, control characters are shown as symbols.")]
    View {
        /// Name of the log or id of its interaction, or a unique prefix of one
        #[arg(value_name = "NAME|ID")]
        log: String,

        /// Output format: the log unchanged, or its sections as JSON
        #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
        format: LogFormat,
    },
    /// Write a log unchanged to a file or to standard output
    #[command(after_help = "\
Examples:
  aur logs export aurora-20251213-143215-abc123 -o log.md
  aur logs export oauth-authentication-2025-12-13 | less")]
    Export {
        /// Name of the log or id of its interaction, or a unique prefix of one
        #[arg(value_name = "NAME|ID")]
        log: String,

        /// File to write [default: standard output]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,

        /// Replace an existing file
        #[arg(long, requires = "output")]
        force: bool,
    },
    /// Compress old logs, and remove those older than the retention period
    #[command(after_help = "\
Examples:
  aur logs maintain --dry-run                  what would be compressed and removed
  aur logs maintain

`[logs]` in config.toml sets the ages: compress_after_days (7), retention_days (90); 0 means never.
The age of a log is counted from the day in its name, or else from its last change. `aur log write`
does the same once a day. The next run cleans up after an interrupted one.")]
    Maintain {
        /// Show what would be done without changing anything
        #[arg(long)]
        dry_run: bool,

        /// Output format
        #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
        format: ReportFormat,
    },
}

/// Parses a year or a month.
fn parse_period(text: &str) -> Result<DateRange, String> {
    let year = || Some((Month::named(text, "01")?, Month::named(text, "12")?));
    match year() {
        Some((first, last)) => Ok(DateRange { from: Some(first.first()), to: Some(last.last()) }),
        None => {
            let month = parse_month(text.trim_end_matches('/'));
            month.map(DateRange::month).map_err(|_| "expected a year or a month, such as 2025 or 2025/12".to_owned())
        }
    }
}

/// `aur log`: writes or extends a log.
pub(crate) fn run_log(command: &LogCommand, program: &Program) -> Outcome {
    match command {
        LogCommand::Write(args) => write::run(args, program),
        LogCommand::Append(args) => append::run(args, program),
    }
}

/// `aur logs`: lists, searches, shows, exports and maintains logs.
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
