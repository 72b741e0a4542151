//! Runs the Python benches in `benches/finding`, which measure search results in checked-out repositories.

use std::process::Command;

use crate::cargo::project;
use crate::servers;

/// Runs a bench with the programs in the arguments, or with a newly built `aur` if no program is given.
pub(crate) fn run(bench: &str, arguments: &[String]) -> Result<(), String> {
    let mut python = Command::new("python3");
    python.arg("-B").arg(project().join(format!("benches/finding/{bench}.py"))).args(arguments);
    if !arguments.iter().any(|argument| argument == "--aur" || argument.starts_with("--aur=")) {
        python.arg("--aur").arg(servers::program(&servers::build()?));
    }
    servers::call(&mut python)
}
