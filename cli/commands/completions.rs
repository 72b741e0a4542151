//! `aur completions`: prints shell completion scripts.

use std::io::Write;

use clap::Args;
use clap_complete::Shell;

use crate::context::{Outcome, Terminal};

/// Print a shell completion script
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur completions bash > ~/.local/share/bash-completion/completions/aur
  aur completions zsh > ~/.zfunc/_aur
  aur completions fish > ~/.config/fish/completions/aur.fish")]
pub(crate) struct CompletionsArgs {
    /// Shell to print the script for
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the completion script for `command`.
pub(crate) fn run(args: &CompletionsArgs, mut command: clap::Command, terminal: &Terminal) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "aur", &mut script);
    terminal.write(|out| out.write_all(&script))
}
