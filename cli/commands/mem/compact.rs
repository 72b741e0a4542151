//! `aur mem compact`: the index at its smallest.

use std::io::Write;
use std::path::PathBuf;

use aurora_project::user;
use aurora_storage::{Environment, Workers};
use clap::Args;

use crate::commands::mem::memory;
use crate::context::args::{OwnerArg, ReportFormat};
use crate::context::failure::Outcome;
use crate::context::opened::{self, OpenedIndex};
use crate::context::program::Program;
use crate::output::{json, units};

pub(crate) const COMPACT_EXAMPLES: &str = "\
Examples:
  aur mem compact                  one segment, no room taken by what was deleted
  aur mem compact --format json

Index runs reuse the room of what was deleted, but do not give it back. Results stay the same,
searches that are running go on, and an index that has nothing to gain is left alone.";

/// Give back the room that deleted content takes
#[derive(Debug, Args)]
#[command(after_help = COMPACT_EXAMPLES)]
pub(crate) struct CompactArgs {
    /// A memory instead of the index: removed entries and earlier versions cannot be restored then
    #[arg(long, value_name = "OWNER", value_enum)]
    pub(crate) memory: Option<OwnerArg>,

    /// The indexed directory [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// How to print
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = ReportFormat::Text)]
    pub(crate) format: ReportFormat,
}

/// Compacts and says what it was good for.
pub(crate) fn run(args: &CompactArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    if let Some(owner) = args.memory {
        return memory::compact::run(owner, args.root.as_deref(), args.format, program);
    }
    let OpenedIndex { project, snapshot } = opened::open(args.root.as_deref(), program)?;
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
        ReportFormat::Text => writeln!(out, "Nothing to gain: the index is compact ({after})")?,
    }
    Ok(out.flush()?)
}
