//! `aur completions`: what a shell needs to complete aur's arguments.

use std::io::Write;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::Cli;
use crate::failure::Outcome;
use crate::terminal::Terminal;

/// Prints the script.
pub(crate) fn run(shell: Shell, terminal: &Terminal) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "aur", &mut script);
    let mut out = terminal.stdout();
    out.write_all(&script)?;
    Ok(out.flush()?)
}
