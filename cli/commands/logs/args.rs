//! Arguments of several `aur logs` commands.
use aurora_logs::Month;
use clap::{Args, ValueEnum};
use jiff::civil::Date;

use crate::context::args::parse_limit;

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

pub(super) fn parse_month(text: &str) -> Result<Month, String> {
    let parts = text.split_once(['-', '/']);
    let month = parts.and_then(|(year, month)| Month::named(year, month));
    month.ok_or_else(|| "expected a month such as 2025-12".to_owned())
}
