//! `aur plugin`: custom stages.

mod list;
mod new;
mod test;
mod trust;

use crate::args_plugin::PluginCommand;
use crate::failure::Outcome;
use crate::program::Program;

/// Writes, lists, tests or allows custom stages.
pub(crate) fn run(command: &PluginCommand, program: &Program) -> Outcome {
    match command {
        PluginCommand::New(args) => new::run(args, program),
        PluginCommand::List(args) => list::run(args, program),
        PluginCommand::Test(args) => test::run(args, program),
        PluginCommand::Trust(args) => trust::run(args, program),
    }
}
