//! `aur mcp`: serves an agent over standard input and output.

use std::path::PathBuf;

use clap::Args;

use crate::context::{Outcome, Program, served};

/// Serve the index to an agent over MCP
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  aur init                                        add the server to your agent or editor
  aur mcp                                         serve the current project
  aur mcp --root ~/src/app --root ~/src/lib       serve two projects

The client uses standard input and output. A missing index is built, and the index is kept fresh.")]
pub(crate) struct McpArgs {
    /// Directory to serve, or its name as listed by `aur mem roots`; may be given more than once
    ///
    /// [default: the nearest enclosing directory with an index]
    #[arg(long, value_name = "PATH|NAME")]
    pub(crate) root: Vec<PathBuf>,

    /// Write nothing: no index runs, no record of shown results, and no entries of memory
    #[arg(long)]
    pub(crate) read_only: bool,
}

/// Serves until the client closes the connection.
pub(crate) fn run(args: &McpArgs, program: &Program) -> Outcome {
    let roots = served::roots(&args.root, args.read_only, program)?;
    Ok(aurora_mcp::serve_stdio(roots)?)
}
