//! `aur mem undo`: reverts the last change to a memory entry.

use clap::Args;

use crate::context::{Memories, MemoryArgs, Outcome, Program};
use crate::output::sanitize;

/// Revert the last change to a memory entry
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
    let memory = memories.containing_removed(&args.id)?;
    let version = memory.undo(&args.id, aurora_clock::now_seconds())?;
    let state = if version.document.is_some() { "restored to its previous version" } else { "removed" };
    program.terminal.line(&format!("{} was {state} (version {})", sanitize::line(&args.id), version.number))
}
