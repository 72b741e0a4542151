//! Arguments of the commands that write, find and keep conversation logs.

use std::path::PathBuf;

use aurora_logs::{DateRange, Month, QueryId};
use clap::{Args, Subcommand, ValueEnum};
use jiff::Timestamp;
use jiff::civil::Date;

use crate::values::{ReportFormat, parse_limit};

pub(crate) const LOG_EXAMPLES: &str = "\
Examples:
  aur log write interaction.json                 the log of an interaction, from JSON
  aur log write --query \"fix the login\" notes.md  a log of Markdown, stored as it is
  aur log append aurora-20251213-143215-abc123 more.json

`aur logs` lists, searches and shows logs.";

pub(crate) const WRITE_EXAMPLES: &str = "\
Examples:
  aur log write interaction.json
  agent | aur log write --format json              prints {\"id\", \"file\", \"path\"}
  aur log write --query \"fix the login\" notes.md   Markdown, stored as it is

The JSON:
  {\"query\": \"...\", \"id\": \"...\", \"timestamp\": \"2025-12-13T14:32:15Z\",
   \"phases\": [{\"number\": 1, \"name\": \"ASSESS\", \"output\": ANY, \"text\": \"...\"}],
   \"interactions\": [{\"agent\": \"...\", \"user\": \"...\"}, {\"question\": \"...\", \"answer\": \"...\"}],
   \"response\": \"...\",
   \"summary\": {\"duration_ms\": 12785, \"complexity\": \"...\", \"verification_score\": 0.93,
               \"tokens\": 23650, \"cost_usd\": 0.0234}}
Required are `query` and `phases`, and `name` and `output` of a phase.

The log is durable when the command ends, and never visible in part. Nothing is masked: it is a
complete record that only you may read. Once a day, old logs are compressed and removed as
`aur logs maintain` does.";

pub(crate) const APPEND_EXAMPLES: &str = "\
Examples:
  aur log append aurora-20251213-143215-abc123 more.json
  echo '{\"response\": \"Done.\"}' | aur log append oauth-authentication-2025-12-13
  aur log append oauth-authentication-2025-12-13 --section Review review.md

What is in the log stays as it is. The JSON has `phases`, `interactions`, `response` and `summary`
as `aur log write` takes them, at least one of them.";

pub(crate) const LOGS_EXAMPLES: &str = "\
Examples:
  aur logs                                     the latest 20
  aur logs today
  aur logs --date 2025-12-13
  aur logs --month 2025-12
  aur logs list 2025/12
  aur logs search oauth token --from 2025-12-01 --to 2025-12-13
  aur logs view oauth-authentication-2025-12-13
  aur logs export aurora-20251213-143215-abc123 -o log.md
  aur logs maintain --dry-run

Days are those of UTC. Exits with 1 when nothing matches, with 2 when a log could not be read.";

pub(crate) const SEARCH_EXAMPLES: &str = "\
Examples:
  aur logs search oauth                        in upper or lower case, as a part of a word too
  aur logs search oauth token                  sections that have both words
  aur logs search --regex 'timeout after \\d+ ms' --month 2025-12
  aur logs search oauth --format jsonl         {\"file\", \"id\", \"section\", \"line_start\", \"line_end\", \"lines\", ...}

A result is a section of a log, with the lines that match best. A regular expression is held
against one line, and minds the case unless it begins with (?i).
Exits with 0 when something is found, with 1 when nothing is, with 2 when a log could not be read.";

pub(crate) const VIEW_EXAMPLES: &str = "\
Examples:
  aur logs view oauth-authentication-2025-12-13
  aur logs view aurora-20251213-143215-abc123
  aur logs view oauth-auth                     the beginning is enough where it is the only one
  aur logs view oauth-auth --format json       its sections with their lines

On a terminal, control characters are shown as symbols.";

pub(crate) const MAINTAIN_EXAMPLES: &str = "\
Examples:
  aur logs maintain --dry-run                  what would be compressed and removed
  aur logs maintain

[logs] in config.toml says when: compress_after_days (7), retention_days (90); 0 is never.
The age of a log is that of the day in its name, or else of its last change. `aur log write` does
the same once a day. What is killed in between is put right by the next run.";

#[derive(Debug, Subcommand)]
pub(crate) enum LogCommand {
    /// Write the log of one interaction
    #[command(after_help = WRITE_EXAMPLES)]
    Write(LogWriteArgs),
    /// Add a section to a log
    #[command(after_help = APPEND_EXAMPLES)]
    Append(LogAppendArgs),
}

#[derive(Debug, Args)]
pub(crate) struct LogWriteArgs {
    /// JSON, or Markdown with --query; `-` is standard input [default: -]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// What the user has asked; the file is Markdown then, and stored as it is
    #[arg(long, value_name = "TEXT", value_parser = parse_query)]
    pub(crate) query: Option<String>,

    /// The id of the interaction [default: a new one]
    #[arg(long, value_name = "ID", requires = "query", value_parser = parse_id)]
    pub(crate) id: Option<QueryId>,

    /// When the interaction began, as in RFC 3339 [default: now]
    #[arg(long, value_name = "TIME", requires = "query", value_parser = parse_time)]
    pub(crate) timestamp: Option<Timestamp>,

    /// How to print where the log is
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
pub(crate) struct LogAppendArgs {
    /// The log: its name or the id of its interaction
    #[arg(value_name = "ID")]
    pub(crate) log: String,

    /// JSON, or Markdown with --section; `-` is standard input [default: -]
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,

    /// The heading of a new section; the file is Markdown then, and stored as it is
    #[arg(long, value_name = "NAME")]
    pub(crate) section: Option<String>,

    /// How to print where the addition is
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
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
    /// List the logs of today, in UTC
    Today {
        #[command(flatten)]
        show: ShownArgs,
    },
    /// List logs, the newest first
    #[command(after_help = "\
Examples:
  aur logs list                                the latest 20
  aur logs list 2025/12
  aur logs list 2025 --limit 100
  aur logs list --from 2025-12-01 --format jsonl")]
    List {
        /// A year or a month: 2025, 2025/12
        #[arg(value_name = "YYYY[/MM]", value_parser = parse_period, conflicts_with_all = ["date", "month", "from", "to"])]
        period: Option<DateRange>,

        #[command(flatten)]
        days: DaysArgs,

        #[command(flatten)]
        show: ShownArgs,
    },
    /// Search the texts of logs
    #[command(after_help = SEARCH_EXAMPLES)]
    Search(LogSearchArgs),
    /// Show a log
    #[command(after_help = VIEW_EXAMPLES)]
    View {
        /// The log: its name or the id of its interaction, or the beginning of one
        #[arg(value_name = "NAME|ID")]
        log: String,

        /// How to print: as it is, or its sections
        #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
        format: LogFormat,
    },
    /// Write a log as it is to a file, or to standard output
    #[command(after_help = "\
Examples:
  aur logs export aurora-20251213-143215-abc123 -o log.md
  aur logs export oauth-authentication-2025-12-13 | less")]
    Export {
        /// The log: its name or the id of its interaction, or the beginning of one
        #[arg(value_name = "NAME|ID")]
        log: String,

        /// The file to write [default: standard output]
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,

        /// Replace the file if there is one
        #[arg(long, requires = "output")]
        force: bool,
    },
    /// Compress old logs, and remove those beyond the retention
    #[command(after_help = MAINTAIN_EXAMPLES)]
    Maintain {
        /// Change nothing, and say what would be done
        #[arg(long)]
        dry_run: bool,

        /// How to print
        #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
        format: ReportFormat,
    },
}

#[derive(Debug, Args)]
pub(crate) struct LogSearchArgs {
    /// Words; a section must have all of them
    #[arg(value_name = "TEXT", required = true)]
    pub(crate) text: Vec<String>,

    /// The text is a regular expression
    #[arg(long)]
    pub(crate) regex: bool,

    #[command(flatten)]
    pub(crate) days: DaysArgs,

    /// Show at most this many results [default: all]
    #[arg(long, short = 'n', value_name = "N", value_parser = parse_limit)]
    pub(crate) limit: Option<usize>,

    /// How to print the results
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub(crate) format: LogFormat,
}

/// Which logs are meant.
#[derive(Debug, Args)]
pub(crate) struct DaysArgs {
    /// Logs of one day
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date, conflicts_with_all = ["month", "from", "to"])]
    pub(crate) date: Option<Date>,

    /// Logs of one month
    #[arg(long, value_name = "YYYY-MM", value_parser = parse_month, conflicts_with_all = ["from", "to"])]
    pub(crate) month: Option<Month>,

    /// Logs of this day and later ones
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    pub(crate) from: Option<Date>,

    /// Logs of this day and earlier ones
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    pub(crate) to: Option<Date>,
}

/// How much of a list is shown, and how.
#[derive(Debug, Args)]
pub(crate) struct ShownArgs {
    /// Show at most this many logs [default: 20 where no days are given, else all]
    #[arg(long, short = 'n', value_name = "N", value_parser = parse_limit)]
    pub(crate) limit: Option<usize>,

    /// How to print the logs
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub(crate) format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// For people
    Text,
    /// One JSON value
    Json,
    /// One JSON object a line
    Jsonl,
}

fn parse_date(text: &str) -> Result<Date, String> {
    aurora_logs::date(text).ok_or_else(|| "expected a day such as 2025-12-13".to_owned())
}

fn parse_month(text: &str) -> Result<Month, String> {
    let parts = text.split_once(['-', '/']);
    let month = parts.and_then(|(year, month)| Month::named(year, month));
    month.ok_or_else(|| "expected a month such as 2025-12".to_owned())
}

/// A year or a month.
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

fn parse_id(text: &str) -> Result<QueryId, String> {
    QueryId::parse(text).map_err(|error| error.to_string())
}

fn parse_time(text: &str) -> Result<Timestamp, String> {
    aurora_logs::rfc_3339(text).ok_or_else(|| "expected a time with an offset, such as 2025-12-13T14:32:15Z".to_owned())
}

fn parse_query(text: &str) -> Result<String, String> {
    if text.trim().is_empty() { Err("it must not be empty".to_owned()) } else { Ok(text.to_owned()) }
}
