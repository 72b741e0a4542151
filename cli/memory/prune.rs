//! `aur mem prune`: deletes archived entries.

use std::io::Write as _;
use std::path::Path;

use aurora_memory::Pruned;
use serde::Serialize;

use crate::args_memory::{MemoryArgs, OwnerArg, PruneArgs};
use crate::failure::{Failure, Outcome};
use crate::memories::{Memories, failure};
use crate::output::{json, sanitize, time, units};
use crate::program::Program;
use crate::values::ReportFormat;

/// What was deleted, or would be.
#[derive(Serialize)]
struct Report {
    dry_run: bool,
    entries: Vec<Pruned>,
    kept: usize,
}

/// Deletes the entries whose lifespan is over, and says why each is.
pub(crate) fn prune(args: &PruneArgs, program: &Program) -> Outcome {
    let mut memories = Memories::open(&args.memories, program)?;
    memories.tell_left_out(program)?;
    let mut report = Report { dry_run: args.dry_run, entries: Vec::new(), kept: 0 };
    for memory in memories.iter() {
        let (pruned, kept) = memory.prune(&memories.rules, args.dry_run, time::now()).map_err(failure)?;
        report.entries.extend(pruned);
        report.kept += kept;
    }
    let mut out = program.terminal.stdout();
    match args.format {
        ReportFormat::Json => json::write_indented(&mut out, &report)?,
        ReportFormat::Text => {
            for entry in &report.entries {
                writeln!(out, "{}: {}", sanitize::line(&entry.id), sanitize::line(&entry.reason))?;
            }
            let verb = if args.dry_run { "would be deleted" } else { "deleted" };
            let (deleted, kept) = (report.entries.len() as u64, report.kept as u64);
            writeln!(out, "{} {verb}, {} kept", units::count(deleted), units::count(kept))?;
        }
    }
    out.flush()?;
    if !report.entries.is_empty() && report.kept == 0 {
        program.terminal.warn("no entry is within its lifespan: is the clock right?");
    }
    if !args.dry_run && !report.entries.is_empty() && args.format == ReportFormat::Text {
        program.terminal.note("`aur mem undo ID` restores an entry until `aur mem compact --memory OWNER`");
    }
    Ok(())
}

/// Forgets removed entries and earlier versions of a memory.
pub(crate) fn compact(owner: OwnerArg, root: Option<&Path>, format: ReportFormat, program: &Program) -> Outcome {
    let args = MemoryArgs { root: root.map(Path::to_owned), memory: Some(owner), lifespan_policies: None };
    let mut memories = Memories::open(&args, program)?;
    memories.tell_left_out(program)?;
    let memory = memories.iter().next().ok_or_else(|| Failure::new("there is no such memory"))?;
    let done = memory.compact().map_err(failure)?;
    let mut out = program.terminal.stdout();
    match format {
        ReportFormat::Json => json::write_line(&mut out, &done)?,
        ReportFormat::Text => {
            let (removed, versions) = (done.removed_entries as u64, done.versions as u64);
            writeln!(
                out,
                "Forgotten: {} removed entries and {} earlier versions",
                units::count(removed),
                units::count(versions)
            )?;
        }
    }
    Ok(out.flush()?)
}
