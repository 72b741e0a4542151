//! Arguments of `aur mcp`.

use std::path::PathBuf;

use clap::Args;

pub(crate) const MCP_EXAMPLES: &str = "\
Examples:
  aur init                                        write this into the configuration of your agent or editor
  aur mcp                                         serve the project here
  aur mcp --root ~/src/app --root ~/src/lib       serve two projects

The client is on standard input and output. The index is built if there is none, and kept fresh.";

#[derive(Args, Debug)]
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

pub(crate) const INIT_EXAMPLES: &str = "\
Examples:
  aur init                     the agents and editors that are in use here
  aur init claude-code vscode  these ones
  aur init --remove --yes      take it out again, without asking

Clients: claude-code, claude-desktop, codex, cursor, gemini, opencode, vscode, windsurf, zed.";

#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    /// Which agents and editors [default: those that are in use here]
    #[arg(value_name = "CLIENT")]
    pub(crate) clients: Vec<String>,

    /// The project [default: the nearest one above]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Take it out of the configuration
    #[arg(long)]
    pub(crate) remove: bool,

    /// Do not ask
    #[arg(long, short)]
    pub(crate) yes: bool,
}
