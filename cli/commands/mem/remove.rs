//! `aur mem remove`: removes entries of memory.

use std::io::Write as _;

use clap::Args;

use crate::context::{Memories, MemoryArgs, Outcome, Program};
use crate::output::sanitize;

/// Remove entries of memory; `undo` restores them
#[derive(Debug, Args)]
pub(crate) struct RemoveArgs {
    /// Ids of the entries
    #[arg(value_name = "ID", required = true)]
    pub(crate) ids: Vec<String>,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,
}

/// Removes all given entries, or none if one of them is unknown.
pub(crate) fn run(args: &RemoveArgs, program: &Program) -> Outcome {
    let memories = Memories::open(&args.memories, program)?;
    let found = args.ids.iter().map(|id| Ok((id, memories.containing(id)?))).collect::<Outcome<Vec<_>>>()?;
    let mut out = program.terminal.stdout();
    for (id, memory) in found {
        memory.remove(id, aurora_clock::now_seconds())?;
        writeln!(out, "removed {}; `aur mem undo` restores it", sanitize::line(id))?;
    }
    Ok(out.flush()?)
}
