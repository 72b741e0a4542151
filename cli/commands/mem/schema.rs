//! `aur mem schema`: prints the JSON Schema of a kind of entry.

use std::io::Write;

use clap::Args;

use crate::commands::mem::list::kind_of;
use crate::context::args::AnyKindArg;
use crate::context::failure::Outcome;
use crate::context::program::Program;

/// Print the JSON Schema of a kind of entry
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Kind of entry
    #[arg(value_enum)]
    pub(crate) kind: AnyKindArg,
}

pub(crate) fn run(args: &SchemaArgs, program: &Program) -> Outcome {
    let mut out = program.terminal.stdout();
    out.write_all(aurora_memory_schema::schema(kind_of(args.kind)).as_bytes())?;
    Ok(out.flush()?)
}
