//! The `aur` program with the built-in stages.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    aurora::cli::run(aurora::registry())
}
