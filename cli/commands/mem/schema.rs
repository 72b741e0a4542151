//! `aur mem schema`: prints the JSON Schema of a kind of entry.

use std::io::Write;

use aurora_memory_schema::Kind;
use clap::Args;

use crate::context::{Outcome, Program};

/// Print the JSON Schema of a kind of entry
#[derive(Debug, Args)]
pub(crate) struct SchemaArgs {
    /// Kind of entry
    #[arg(value_enum)]
    pub(crate) kind: Kind,
}

pub(crate) fn run(args: &SchemaArgs, program: &Program) -> Outcome {
    program.terminal.write(|out| out.write_all(aurora_memory_schema::schema(args.kind).as_bytes()))
}
