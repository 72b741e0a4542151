//! Arguments that several `aur logs` commands share.

use aurora_logs::Month;
use clap::{Args, ValueEnum};
use jiff::civil::Date;

use crate::context::args::parse_limit;

/// Selects logs by day.
#[derive(Debug, Args)]
pub(crate) struct DaysArgs {
    /// Only logs of this day
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date, conflicts_with_all = ["month", "from", "to"])]
    pub(crate) date: Option<Date>,

    /// Only logs of this month
    #[arg(long, value_name = "YYYY-MM", value_parser = parse_month, conflicts_with_all = ["from", "to"])]
    pub(crate) month: Option<Month>,

    /// Only logs of this day and later
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    pub(crate) from: Option<Date>,

    /// Only logs of this day and earlier
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = parse_date)]
    pub(crate) to: Option<Date>,
}

/// Length and format of a list of logs.
#[derive(Debug, Args)]
pub(crate) struct ShownArgs {
    /// Maximum number of logs [default: 20 without a date option, else all]
    #[arg(long, short = 'n', value_name = "N", value_parser = parse_limit)]
    pub(crate) limit: Option<usize>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text)]
    pub(crate) format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Text for people
    Text,
    /// One JSON value
    Json,
    /// One JSON object per line
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
