//! `aur mem link`: links an entry of memory to another one or to code.

use std::io::Write as _;

use clap::Args;

use crate::context::args::MemoryArgs;
use crate::context::failure::Outcome;
use crate::context::memories::{Memories, failure};
use crate::context::program::Program;
use crate::output::{sanitize, time};

/// Link an entry of memory to another one, or to code
#[derive(Debug, Args)]
pub(crate) struct LinkArgs {
    /// The entry
    #[arg(value_name = "ID")]
    pub(crate) id: String,

    /// What it is linked to: another entry, or a chunk of code
    #[arg(value_name = "TARGET")]
    pub(crate) to: String,

    /// How they are related
    #[arg(long, value_name = "NAME", default_value = "related")]
    pub(crate) relation: String,

    /// How strongly, from 0 to 1
    #[arg(long, value_name = "WEIGHT", default_value_t = 1.0)]
    pub(crate) weight: f64,

    /// Remove the link instead
    #[arg(long, conflicts_with = "weight")]
    pub(crate) remove: bool,

    #[command(flatten)]
    pub(crate) memories: MemoryArgs,
}

/// Links an entry to another one, or removes the link.
pub(crate) fn run(args: &LinkArgs, program: &Program) -> Outcome {
    let memories = Memories::open(&args.memories, program)?;
    let memory = memories.with(&args.id, false)?;
    let weight = (!args.remove).then_some(args.weight);
    memory.link(&args.id, &args.to, &args.relation, weight, time::now()).map_err(failure)?;
    let mut out = program.terminal.stdout();
    let done = if args.remove { "no longer linked to" } else { "linked to" };
    writeln!(
        out,
        "{} {done} {} ({})",
        sanitize::line(&args.id),
        sanitize::line(&args.to),
        sanitize::line(&args.relation)
    )?;
    Ok(out.flush()?)
}
