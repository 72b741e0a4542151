//! `aur mem link`: links an entry of memory to another entry or to code.

use clap::Args;

use crate::context::{Memories, MemoryArgs, Outcome, Program};
use crate::output::sanitize;

/// Link an entry of memory to another entry or to code
#[derive(Debug, Args)]
pub(crate) struct LinkArgs {
    /// Id of the entry
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// Target of the link: another entry or a chunk of code
    #[arg(value_name = "TARGET")]
    pub(crate) to: String,

    /// Name of the relation
    #[arg(long, value_name = "NAME", default_value = "related")]
    pub(crate) relation: String,

    /// Weight of the relation, from 0 to 1
    #[arg(long, value_name = "WEIGHT", default_value_t = 1.0)]
    pub(crate) weight: f64,

    /// Remove the link
    #[arg(long, conflicts_with = "weight")]
    pub(crate) remove: bool,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,
}

/// Adds or removes a link.
pub(crate) fn run(args: &LinkArgs, program: &Program) -> Outcome {
    let memories = Memories::open(&args.memories, program)?;
    let memory = memories.containing(&args.id)?;
    let weight = (!args.remove).then_some(args.weight);
    memory.link(&args.id, &args.to, &args.relation, weight, aurora_clock::now_seconds())?;
    let done = if args.remove { "no longer linked to" } else { "linked to" };
    let line = format!("{} {done} {} ({})", args.id, args.to, args.relation);
    program.terminal.line(&sanitize::line(&line))
}
