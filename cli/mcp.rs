//! `aur mcp`: answers an agent on standard input and output.

use aurora_serve::{Level, LogStyle};

use crate::args_mcp::McpArgs;
use crate::failure::{Failure, Outcome};
use crate::kept;
use crate::program::Program;

/// Serves until the client ends.
pub(crate) fn run(args: &McpArgs, program: &Program) -> Outcome {
    let roots = kept::roots(&args.root, args.read_only, program)?;
    // The client may show its server's standard error.
    aurora_serve::log(LogStyle::Text { colours: false }, Level::WARN);
    aurora_mcp::serve_stdio(roots).map_err(|error| Failure::from_error(&error))
}
