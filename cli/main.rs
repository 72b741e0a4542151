//! The `aur` program with the stages that ship with it.
#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    aurora::cli::run(aurora::registry())
}
