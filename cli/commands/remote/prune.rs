//! `aur remote prune`: deletes old indexes from a remote.

use std::io::Write;

use aurora_remote::PruneOptions;
use clap::Args;

use crate::context::remotes::{RemoteArgs, failure};
use crate::context::{Outcome, Program, ReportFormat, args};
use crate::output::units;

/// Delete old manifests, and parts that no manifest needs
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur remote prune nightly --keep 30
  aur remote prune nightly --keep 5 --older-than 30d --dry-run

A manifest is deleted if it is not among the newest N and is older than the given age. Manifests and
parts of the last day are always kept, by the clock of the store. A push in progress uploads deleted
parts again that it needs.")]
pub(crate) struct PruneRemoteArgs {
    #[command(flatten)]
    pub(crate) remote: RemoteArgs,

    /// Number of newest manifests to keep
    #[arg(long, value_name = "N", value_parser = args::whole_number(1..=1_000_000))]
    pub(crate) keep: usize,

    /// Keep manifests up to this age as well, such as 12h, 30d or 8w [default: 1d]
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    pub(crate) older_than: Option<i64>,

    /// Show what would be deleted without deleting anything
    #[arg(long)]
    pub(crate) dry_run: bool,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

pub(crate) fn run(args: &PruneRemoteArgs, program: &Program) -> Outcome {
    let opened = args.remote.open(true, false, program)?;
    let options =
        PruneOptions { keep: args.keep, older_than: args.older_than.unwrap_or_default(), dry_run: args.dry_run };
    let pruned = opened.remote.prune(options).map_err(failure)?;
    program.terminal.print(args.format, &pruned, |out| {
        let what = if args.dry_run { "Would delete" } else { "Deleted" };
        let (manifests, parts) = (units::counted(pruned.manifests, "manifest"), units::counted(pruned.parts, "part"));
        writeln!(out, "{what} {manifests} and {parts} ({})", units::bytes(pruned.bytes))?;
        writeln!(out, "  Kept: {}", units::counted(pruned.kept, "manifest"))
    })
}

/// Parses an age in hours, days or weeks. Returns seconds.
fn parse_age(text: &str) -> Result<i64, String> {
    let rule = || "an age is a whole number with a unit: 12h, 30d or 8w".to_owned();
    let unit = text.chars().next_back().ok_or_else(rule)?;
    let seconds: i64 = match unit {
        'h' => 3600,
        'd' => 24 * 3600,
        'w' => 7 * 24 * 3600,
        _ => return Err(rule()),
    };
    let number: u32 = text[..text.len() - 1].parse().map_err(|_| rule())?;
    Ok(seconds * i64::from(number))
}
