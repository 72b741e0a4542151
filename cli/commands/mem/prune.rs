//! `aur mem prune`: deletes archived entries.

use std::io::Write as _;

use aurora_memory::Pruned;
use clap::Args;
use serde::Serialize;

use crate::context::{Memories, MemoryArgs, Outcome, Program, ReportFormat};
use crate::output::{sanitize, units};

/// Delete entries of memory whose lifespan is over
#[derive(Debug, Args)]
pub(crate) struct PruneArgs {
    /// Show what would be deleted without deleting it
    #[arg(long)]
    pub(crate) dry_run: bool,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// The result of pruning or of a dry run.
#[derive(Serialize)]
struct Report {
    dry_run: bool,
    entries: Vec<Pruned>,
    kept: usize,
}

/// Deletes the entries whose lifespan is over, and prints the reason for each.
pub(crate) fn run(args: &PruneArgs, program: &Program) -> Outcome {
    let mut memories = Memories::open(&args.memories, program)?;
    memories.warn_unusable(program)?;
    let mut report = Report { dry_run: args.dry_run, entries: Vec::new(), kept: 0 };
    for memory in memories.iter() {
        let (pruned, kept) = memory.prune(&memories.rules, args.dry_run, aurora_clock::now_seconds())?;
        report.entries.extend(pruned);
        report.kept += kept;
    }
    program.terminal.print(args.format, &report, |out| {
        for entry in &report.entries {
            writeln!(out, "{}: {}", sanitize::line(&entry.id), sanitize::line(&entry.reason))?;
        }
        let verb = if args.dry_run { "would be deleted" } else { "deleted" };
        let (deleted, kept) = (report.entries.len() as u64, report.kept as u64);
        writeln!(out, "{} {verb}, {} kept", units::count(deleted), units::count(kept))
    })?;
    if !report.entries.is_empty() && report.kept == 0 {
        program.terminal.warn("no entry is within its lifespan; check the system clock");
    }
    if !args.dry_run && !report.entries.is_empty() && args.format == ReportFormat::Text {
        program.terminal.note("`aur mem undo ID` restores an entry until `aur mem compact --memory OWNER` runs");
    }
    Ok(())
}
