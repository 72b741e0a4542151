//! The command line: a module for each command, with its arguments, its help and what it does.

mod completions;
mod doctor;
mod init;
mod logs;
mod mcp;
pub(crate) mod mem;
mod model;
mod pipeline;
mod plugin;
mod serve;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{CommandFactory, Parser, Subcommand};

use crate::context::failure::Outcome;
use crate::context::program::Program;
use crate::output::style::ColorWhen;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Turns a repository into a searchable memory.
#[derive(Debug, Parser)]
#[command(
    name = "aur",
    version,
    styles = STYLES,
    subcommand_required = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  aur mem index                          index the current directory
  aur mem \"how are users authenticated\"  search it (indexes first if need be)
  aur m UserManager --show-scores        the same, shorter, with every score explained
  aur pipeline graph                     what an index run is made of
  aur doctor                             check that everything is in place

Exit codes: 0 done, 1 done but short of what was asked, 2 could not do it."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours; `auto` means on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorWhen::Auto, display_order = 900)]
    pub(crate) color: ColorWhen,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(subcommand, visible_alias = "m", subcommand_required = true, arg_required_else_help = true)]
    Mem(mem::MemCommand),
    /// Look at the pipeline that an index run follows
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Pipeline(pipeline::PipelineCommand),
    /// Write, list, test and allow custom stages
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Plugin(plugin::PluginCommand),
    /// Add and list models
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Model(model::ModelCommand),
    /// Write the log of an interaction, or add to one
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true, after_help = crate::commands::logs::LOG_EXAMPLES)]
    Log(logs::LogCommand),
    Logs(logs::LogsArgs),
    Serve(serve::ServeArgs),
    Init(init::InitArgs),
    Mcp(mcp::McpArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
}

impl Command {
    /// Runs the command.
    pub(crate) fn run(&self, program: &Program) -> Outcome {
        match self {
            Self::Mem(command) => command.run(program),
            Self::Pipeline(command) => pipeline::run(command, program),
            Self::Plugin(command) => plugin::run(command, program),
            Self::Model(command) => model::run(command, &program.terminal),
            Self::Log(command) => logs::run_one(command, program),
            Self::Logs(args) => logs::run(args, program),
            Self::Serve(args) => serve::run(args, program),
            Self::Init(args) => init::run(args, program),
            Self::Mcp(args) => mcp::run(args, program),
            Self::Doctor(args) => doctor::run(args, program),
            Self::Completions(args) => completions::run(args, Cli::command(), &program.terminal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
