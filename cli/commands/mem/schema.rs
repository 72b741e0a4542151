//! `aur mem schema`: the JSON Schema of a kind of entries.

use std::io::Write;

use clap::Args;

use crate::commands::mem::list::kind_of;
use crate::context::args::AnyKindArg;
use crate::context::failure::Outcome;
use crate::context::program::Program;

/// Print the JSON Schema of a kind of entries
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// The kind of entries
    #[arg(value_enum)]
    pub(crate) kind: AnyKindArg,
}

/// Prints the JSON Schema of a kind of entries.
pub(crate) fn run(args: &SchemaArgs, program: &Program) -> Outcome {
    let mut out = program.terminal.stdout();
    out.write_all(aurora_memory_schema::schema(kind_of(args.kind)).as_bytes())?;
    Ok(out.flush()?)
}
