//! `aur mem compact`: the index at its smallest.

use std::io::Write;

use aurora_project::user;
use aurora_storage::{Environment, Workers};

use crate::args_artefact::CompactArgs;
use crate::failure::Outcome;
use crate::memory;
use crate::opened::{self, OpenedIndex};
use crate::output::{json, units};
use crate::program::Program;
use crate::values::ReportFormat;

/// Compacts and says what it was good for.
pub(crate) fn run(args: &CompactArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    if let Some(owner) = args.memory {
        return memory::compact(owner, args.root.as_deref(), args.format, program);
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
