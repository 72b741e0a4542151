//! The command line: a module for each command, with its arguments, help and implementation.

pub(crate) mod catalog;
mod completions;
mod config;
mod doctor;
mod init;
mod logs;
mod mcp;
pub(crate) mod mem;
mod model;
mod pipeline;
mod plugin;
mod remote;
mod report;
mod serve;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, ColorChoice, CommandFactory, Parser, Subcommand};

use crate::context::logging::{self, LogDefaults, LogFormat, LogOptions};
use crate::context::{Outcome, Program, Terminal};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Turn a repository into a searchable memory.
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
  aur mem \"how are users authenticated\"  search it (builds a missing index first)
  aur m UserManager --show-scores        search with the short alias, and explain every score
  aur pipeline graph                     draw the stages of an index run
  aur doctor                             check the installation and the project

Exit codes: 0 success, 1 finished with something to report, 2 error."
)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colours; `auto` uses them on a terminal unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = ColorChoice::Auto, display_order = 900)]
    pub(crate) color: ColorChoice,

    /// Log what the program does to standard error; -vv logs more
    #[arg(long, short, global = true, action = ArgAction::Count, display_order = 901)]
    pub(crate) verbose: u8,

    /// Format of the log on standard error
    #[arg(long, global = true, value_name = "FORMAT", value_enum, default_value_t = LogFormat::Text, display_order = 902)]
    pub(crate) log_format: LogFormat,
}

impl Cli {
    /// Starts the log of this process.
    pub(crate) fn start_log(&self, terminal: &Terminal) {
        let mut options = LogOptions { verbose: self.verbose, format: self.log_format, queries: false };
        let defaults = match &self.command {
            Command::Serve(serve::ServeArgs { options: args, .. })
            | Command::Catalog(catalog::CatalogCommand::Serve(catalog::ServeCatalogArgs { options: args, .. })) => {
                options.queries = args.log_queries;
                if let Some(format) = args.log {
                    terminal.warn("`--log` is deprecated; use `--log-format`");
                    options.format = format;
                }
                LogDefaults { level: "info", is_server: true }
            }
            // Messages would overwrite the screen.
            Command::Mem(mem::MemCommand::Browse(_)) if terminal.live => {
                options.format = LogFormat::Off;
                LogDefaults { level: "warn", is_server: false }
            }
            // The client may show the server's standard error to the user, so only warnings are logged.
            Command::Mcp(_) => LogDefaults { level: "warn", is_server: true },
            _ => LogDefaults { level: "warn", is_server: false },
        };
        logging::start(options, defaults, terminal);
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(subcommand, visible_alias = "m", subcommand_required = true, arg_required_else_help = true)]
    Mem(mem::MemCommand),
    /// Inspect the pipeline of index runs
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Pipeline(pipeline::PipelineCommand),
    /// Create, list, test and trust custom stages
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Plugin(plugin::PluginCommand),
    /// Add and list models
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Model(model::ModelCommand),
    /// Push indexes to a directory or an object store, and pull them on other machines
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Remote(remote::RemoteCommand),
    /// Show the settings
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Config(config::ConfigCommand),
    /// Write or extend the log of an interaction
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true, after_help = crate::commands::logs::LOG_EXAMPLES)]
    Log(logs::LogCommand),
    Logs(logs::LogsArgs),
    Report(report::ReportArgs),
    /// Index and serve the repositories of a catalogue
    #[command(subcommand, subcommand_required = true, arg_required_else_help = true)]
    Catalog(catalog::CatalogCommand),
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
            Self::Remote(command) => remote::run(command, program),
            Self::Config(command) => config::run(command, program),
            Self::Log(command) => logs::run_log(command, program),
            Self::Logs(args) => logs::run(args, program),
            Self::Report(args) => report::run(args, program),
            Self::Catalog(command) => catalog::run(command, program),
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
    fn the_definition_of_the_command_line_is_valid() {
        Cli::command().debug_assert();
    }
}
