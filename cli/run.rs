//! The program from its arguments to its exit code.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use aurora_pipeline::Registry;
use clap::error::{ContextKind, ErrorKind};
use clap::{ColorChoice, CommandFactory, FromArgMatches};

use crate::args::{Cli, ColorWhen, Command, MemCommand};
use crate::args_search::ResultFormat;
use crate::failure::{Failure, Outcome};
use crate::output::sanitize;
use crate::program::Program;
use crate::terminal::Terminal;
use crate::{
    blame, browse, compact, completions, doctor, eval, export, failed, feedback, graph, import, index, init, logs, mcp,
    memory, model, pipeline, plugin, rebuild, roots, search, serve, shorthand, skipped, stats, trust, tune, verify,
    why,
};

/// Bytes of the stack on which everything runs, independent of the limit of the shell: parsing the arguments alone takes some
/// hundred KiB in an unoptimised build.
const STACK: usize = 8 << 20;

/// Runs the command that the arguments of this process ask for, and returns its exit code. Pipelines may use the stage
/// types of `registry`.
pub fn run(registry: Registry) -> ExitCode {
    let started = move || started(Arc::new(registry));
    let thread = std::thread::Builder::new().name("aur".to_owned()).stack_size(STACK).spawn(started);
    match thread.map(|thread| thread.join()) {
        Ok(Ok(code)) => code,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => {
            eprintln!("Error: cannot start a thread: {error}");
            ExitCode::from(2)
        }
    }
}

fn started(registry: Arc<Registry>) -> ExitCode {
    let given: Vec<_> = std::env::args_os().collect();
    let wish = shorthand::color_wish(&given);
    let tip = shorthand::missing_mem(&given);
    let expanded = shorthand::expand(given);
    let parsed = Cli::command()
        .color(clap_colors(wish))
        .try_get_matches_from(expanded.args)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(mut error) => {
            let tip = tip.filter(|_| error.kind() == ErrorKind::InvalidSubcommand);
            if tip.is_some() {
                // clap knows the commands beside `mem` only.
                error.remove(ContextKind::SuggestedSubcommand);
                error.remove(ContextKind::Suggested);
            }
            let printed = print(&error);
            if let Some(tip) = tip {
                Terminal::detect(wish).tip(&tip);
            }
            return match printed {
                _ if error.use_stderr() => ExitCode::from(2),
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => {
                    let failure = Failure::from(error);
                    Terminal::detect(wish).report(&failure);
                    failure.code()
                }
            };
        }
    };
    let terminal = Terminal::detect(cli.color);
    if let Command::Mem { command: MemCommand::Search(args) } = &cli.command
        && expanded.is_short
        && args.format == ResultFormat::Table
        && let Some(tip) = shorthand::misspelt_command(&args.query)
    {
        terminal.tip(&tip);
    }
    let program = Program { terminal, registry };
    match command(&cli.command, &program) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            program.terminal.report(&failure);
            failure.code()
        }
    }
}

/// Prints what is wrong with the arguments, or the help that they ask for.
fn print(error: &clap::Error) -> io::Result<()> {
    let text = error.render().to_string();
    // The message contains arguments as they were given.
    match sanitize::block(&text) {
        safe if error.use_stderr() && safe != text => io::stderr().write_all(safe.as_bytes()),
        _ => error.print(),
    }?;
    io::stdout().flush()
}

fn command(command: &Command, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    match command {
        Command::Mem { command } => match command {
            MemCommand::Index(args) => index::run(args, program),
            MemCommand::Search(args) => search::run(args, program),
            MemCommand::Browse(args) => browse::run(args, program),
            MemCommand::Feedback(args) => feedback::run(args, program),
            MemCommand::Add(args) => memory::add(args, program),
            MemCommand::Edit(args) => memory::edit(args, program),
            MemCommand::Remove(args) => memory::remove(args, program),
            MemCommand::Show(args) => memory::show(args, program),
            MemCommand::List(args) => memory::list(args, program),
            MemCommand::Tag(args) => memory::tag(args, program),
            MemCommand::Link(args) => memory::link(args, program),
            MemCommand::Undo(args) => memory::undo(args, program),
            MemCommand::Turn { command } => memory::turn(command, program),
            MemCommand::Recall(args) => memory::recall(args, program),
            MemCommand::Prune(args) => memory::prune(args, program),
            MemCommand::Policies(args) => memory::policies(args, program),
            MemCommand::Schema(args) => memory::schema(args, program),
            MemCommand::Stats(args) if args.skipped => skipped::run(args, program),
            MemCommand::Stats(args) if args.failed => failed::run(args, program),
            MemCommand::Stats(args) => stats::run(args, program),
            MemCommand::Graph(args) => graph::run(args, program),
            MemCommand::Roots(args) => roots::run(args, program),
            MemCommand::Why(args) => why::run(args, program),
            MemCommand::Blame(args) => blame::run(args, program),
            MemCommand::RebuildBm25(args) => rebuild::run(args, program),
            MemCommand::Verify(args) => match args.memory {
                Some(owner) => memory::verify(args, owner, program),
                None => verify::run(args, program),
            },
            MemCommand::Export(args) => match args.memory {
                Some(owner) => memory::export(args, owner, program),
                None => export::run(args, program),
            },
            MemCommand::Import(args) => match args.transfer.from {
                Some(from) => memory::import(args, from, program),
                None => import::run(args, program),
            },
            MemCommand::TrustIndex(args) => trust::run(args, program),
            MemCommand::Compact(args) => compact::run(args, program),
            MemCommand::Eval(args) => eval::run(args, program),
            MemCommand::Tune(args) => tune::run(args, program),
        },
        Command::Pipeline { command } => pipeline::run(command, program),
        Command::Plugin { command } => plugin::run(command, program),
        Command::Model { command } => model::run(command, terminal),
        Command::Log { command } => logs::run_one(command, program),
        Command::Logs(args) => logs::run(args, program),
        Command::Serve(args) => serve::run(args, program),
        Command::Init(args) => init::run(args, program),
        Command::Mcp(args) => mcp::run(args, program),
        Command::Doctor(args) => doctor::run(args, program),
        Command::Completions { shell } => completions::run(*shell, terminal),
    }
}

/// What clap calls the wish; it reads `NO_COLOR` and the stream itself.
fn clap_colors(wish: ColorWhen) -> ColorChoice {
    match wish {
        ColorWhen::Auto => ColorChoice::Auto,
        ColorWhen::Always => ColorChoice::Always,
        ColorWhen::Never => ColorChoice::Never,
    }
}
