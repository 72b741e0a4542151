//! `aur remote`: pushes indexes to a directory or an object store, and pulls them on other machines.

mod add;
mod keygen;
mod list;
mod prune;
mod pull;
mod push;
mod verify;

use clap::Subcommand;

use crate::context::{Outcome, Program};

#[derive(Debug, Subcommand)]
pub(crate) enum RemoteCommand {
    Add(add::AddRemoteArgs),
    Push(push::PushArgs),
    Pull(pull::PullArgs),
    List(list::ListRemotesArgs),
    Prune(prune::PruneRemoteArgs),
    Verify(verify::VerifyRemoteArgs),
    Keygen(keygen::KeygenArgs),
}

pub(crate) fn run(command: &RemoteCommand, program: &Program) -> Outcome {
    match command {
        RemoteCommand::Add(args) => add::run(args, program),
        RemoteCommand::Push(args) => push::run(args, program),
        RemoteCommand::Pull(args) => pull::run(args, program),
        RemoteCommand::List(args) => list::run(args, program),
        RemoteCommand::Prune(args) => prune::run(args, program),
        RemoteCommand::Verify(args) => verify::run(args, program),
        RemoteCommand::Keygen(args) => keygen::run(args, program),
    }
}
