//! `aur mem compact`: shrinks an index to its minimum size.

use std::io::Write;
use std::path::PathBuf;

use aurora_memory::Owner;
use aurora_project::user;
use aurora_storage::{Environment, Workers};
use clap::Args;

use crate::commands::mem::memory;
use crate::context::args::ReportFormat;
use crate::context::failure::Outcome;
use crate::context::opened;
use crate::context::program::Program;
use crate::output::{json, units};

pub(crate) const COMPACT_EXAMPLES: &str = "\
Examples:
  aur mem compact                  merge all segments, and free the space of deleted content
  aur mem compact --format json

Index runs reuse the space of deleted content, but do not return it to the file system. Results
stay the same, running searches continue, and a compact index is left unchanged.";

/// Return the space of deleted content to the file system
#[derive(Debug, Args)]
#[command(after_help = COMPACT_EXAMPLES)]
pub(crate) struct CompactArgs {
    /// Compact a memory instead of the index; removed entries and earlier versions can then no longer be restored
    #[arg(long, value_name = "OWNER", value_enum)]
    pub(crate) memory: Option<Owner>,

    /// Indexed directory [default: the nearest enclosing directory with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Output format
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Compacts the index and prints its size before and after.
pub(crate) fn run(args: &CompactArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    if let Some(owner) = args.memory {
        return memory::compact::run(owner, args.root.as_deref(), args.format, program);
    }
    let (project, snapshot) = opened::open(args.root.as_deref(), program)?;
    drop(snapshot);
    let done = Environment::compact(&project.directory(), &user::trust().known, Workers::default());
    let done = done.map_err(opened::failure)?;
    project.record().map_err(opened::failure)?;
    let mut out = terminal.stdout();
    let (before, after) = (units::bytes(done.before), units::bytes(done.after));
    match args.format {
        ReportFormat::Json => json::write_line(&mut out, &done)?,
        ReportFormat::Text if done.written => {
            writeln!(out, "Compacted: {before} before, {after} now (generation {})", done.generation)?;
        }
        ReportFormat::Text => writeln!(out, "Nothing to do: the index is compact ({after})")?,
    }
    Ok(out.flush()?)
}
