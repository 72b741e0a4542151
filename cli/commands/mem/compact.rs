//! `aur mem compact`: shrinks an index to its minimum size.

use std::io::Write;

use aurora_memory::Owner;
use aurora_project::user;
use aurora_storage::{Environment, Workers};
use clap::Args;

use crate::context::{Failure, IndexReportArgs, Memories, MemoryArgs, Outcome, Program, ReportFormat};
use crate::output::{json, units};

/// Return the space of deleted content to the file system
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem compact                  merge all segments, and free the space of deleted content
  aur mem compact --format json

Index runs reuse the space of deleted content, but do not return it to the file system. Results
stay the same, running searches continue, and a compact index is left unchanged.")]
pub(crate) struct CompactArgs {
    /// Compact a memory instead of the index; removed entries and earlier versions can then no longer be restored
    #[arg(long, value_name = "OWNER", value_enum)]
    pub(crate) memory: Option<Owner>,

    #[command(flatten)]
    pub(crate) index: IndexReportArgs,
}

/// Compacts the index and prints its size before and after.
pub(crate) fn run(args: &CompactArgs, program: &Program) -> Outcome {
    if let Some(owner) = args.memory {
        return compact_memory(owner, args, program);
    }
    let (project, snapshot) = program.open(args.index.root.as_deref())?;
    drop(snapshot);
    let done = Environment::compact(&project.directory(), &user::trust().known, Workers::default())?;
    project.record()?;
    let (before, after) = (units::bytes(done.before), units::bytes(done.after));
    program.terminal.write(|out| match args.index.format {
        ReportFormat::Json => json::write_line(out, &done),
        ReportFormat::Text if done.written => {
            writeln!(out, "Compacted: {before} before, {after} now (generation {})", done.generation)
        }
        ReportFormat::Text => writeln!(out, "Nothing to do: the index is compact ({after})"),
    })
}

/// Deletes the removed entries and earlier versions of a memory. `aur mem undo` can no longer restore them.
fn compact_memory(owner: Owner, args: &CompactArgs, program: &Program) -> Outcome {
    let selected = MemoryArgs { root: args.index.root.clone(), memory: Some(owner), lifespan_policies: None };
    let mut memories = Memories::open(&selected, program)?;
    memories.warn_unusable(program)?;
    let memory = memories.iter().next().ok_or_else(|| Failure::new("the memory does not exist"))?;
    let done = memory.compact()?;
    let (removed, versions) = (units::count(done.removed_entries as u64), units::count(done.versions as u64));
    program.terminal.write(|out| match args.index.format {
        ReportFormat::Json => json::write_line(out, &done),
        ReportFormat::Text => writeln!(out, "Deleted: {removed} removed entries and {versions} earlier versions"),
    })
}
