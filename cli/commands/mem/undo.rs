//! `aur mem undo`: reverts the last change of an entry of memory.

use std::io::Write as _;

use clap::Args;

use crate::context::args::MemoryArgs;
use crate::context::failure::Outcome;
use crate::context::memories::{Memories, failure};
use crate::context::program::Program;
use crate::output::{sanitize, time};

/// Revert the last change of an entry of memory
#[derive(Debug, Args)]
pub(crate) struct UndoArgs {
    /// Id of the entry
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,
}

pub(crate) fn run(args: &UndoArgs, program: &Program) -> Outcome {
    let memories = Memories::open(&args.memories, program)?;
    let memory = memories.with(&args.id, true)?;
    let version = memory.undo(&args.id, time::now()).map_err(failure)?;
    let mut out = program.terminal.stdout();
    let state = if version.document.is_some() { "is restored to its previous version" } else { "is removed again" };
    writeln!(out, "{} {state} (version {})", sanitize::line(&args.id), version.number)?;
    Ok(out.flush()?)
}
