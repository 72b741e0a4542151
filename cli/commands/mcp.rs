//! `aur mcp`: answers an agent on standard input and output.

use std::path::PathBuf;

use aurora_serve::{Level, LogStyle};
use clap::Args;

use crate::context::failure::{Failure, Outcome};
use crate::context::kept;
use crate::context::program::Program;

pub(crate) const MCP_EXAMPLES: &str = "\
Examples:
  aur init                                        write this into the configuration of your agent or editor
  aur mcp                                         serve the project here
  aur mcp --root ~/src/app --root ~/src/lib       serve two projects

The client is on standard input and output. The index is built if there is none, and kept fresh.";

/// Answer an agent over MCP
#[derive(Args, Debug)]
#[command(after_help = MCP_EXAMPLES)]
pub(crate) struct McpArgs {
    /// A directory to serve, or the name of one of `aur mem roots`; may be given several times
    ///
    /// [default: the nearest directory above with an index]
    #[arg(long, value_name = "PATH|NAME")]
    pub(crate) root: Vec<PathBuf>,

    /// Write nothing: no index run, no record of what was shown
    #[arg(long)]
    pub(crate) read_only: bool,
}

/// Serves until the client ends.
pub(crate) fn run(args: &McpArgs, program: &Program) -> Outcome {
    let roots = kept::roots(&args.root, args.read_only, program)?;
    // The client may show its server's standard error.
    aurora_serve::log(LogStyle::Text { colours: false }, Level::WARN);
    aurora_mcp::serve_stdio(roots).map_err(|error| Failure::from_error(&error))
}
