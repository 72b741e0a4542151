//! `aur plugin`: manages custom stages.

mod list;
mod new;
mod test;
mod trust;

use clap::Subcommand;

use crate::commands::plugin::list::ListPluginsArgs;
use crate::commands::plugin::new::NewArgs;
use crate::commands::plugin::test::TestPluginArgs;
use crate::commands::plugin::trust::TrustPluginArgs;
use crate::context::{Outcome, Program};

#[derive(Debug, Subcommand)]
pub(crate) enum PluginCommand {
    New(NewArgs),
    List(ListPluginsArgs),
    Test(TestPluginArgs),
    Trust(TrustPluginArgs),
}

pub(crate) fn run(command: &PluginCommand, program: &Program) -> Outcome {
    match command {
        PluginCommand::New(args) => new::run(args, program),
        PluginCommand::List(args) => list::run(args, program),
        PluginCommand::Test(args) => test::run(args, program),
        PluginCommand::Trust(args) => trust::run(args, program),
    }
}
