//! Runs the program, from its arguments to its exit code.

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use aurora_pipeline::Registry;
use clap::error::{ContextKind, ErrorKind};
use clap::{CommandFactory, FromArgMatches};

use crate::commands::mem::MemCommand;
use crate::commands::mem::search::ResultFormat;
use crate::commands::{Cli, Command};
use crate::context::{Failure, Outcome, Program, Terminal};
use crate::output::sanitize;
use crate::shorthand;

/// Stack size in bytes of the thread that runs the command. The limit of the shell does not apply to this thread. In an
/// unoptimised build, parsing the arguments alone takes several hundred KiB.
const STACK_BYTES: usize = 8 << 20;

/// Runs the command given by the arguments of this process, and returns its exit code. Pipelines may use the stage
/// types of `registry`.
pub fn run(registry: Registry) -> ExitCode {
    let started = move || run_on_thread(Arc::new(registry));
    let thread = std::thread::Builder::new().name("aur".to_owned()).stack_size(STACK_BYTES).spawn(started);
    match thread.map(|thread| thread.join()) {
        Ok(Ok(code)) => code,
        Ok(Err(panic)) => std::panic::resume_unwind(panic),
        Err(error) => {
            eprintln!("Error: cannot start a thread: {error}");
            ExitCode::from(2)
        }
    }
}

fn run_on_thread(registry: Arc<Registry>) -> ExitCode {
    let given: Vec<_> = std::env::args_os().collect();
    let color = shorthand::requested_color(&given);
    let tip = shorthand::missing_mem(&given);
    let expanded = shorthand::expand(given);
    let parsed = Cli::command()
        // clap checks `NO_COLOR`, and whether the stream is a terminal.
        .color(color)
        .try_get_matches_from(expanded.args)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(mut error) => {
            let tip = tip.filter(|_| error.kind() == ErrorKind::InvalidSubcommand);
            if tip.is_some() {
                // clap would only suggest top-level commands.
                error.remove(ContextKind::SuggestedSubcommand);
                error.remove(ContextKind::Suggested);
            }
            let printed = print(&error);
            if let Some(tip) = tip {
                Terminal::detect(color).tip(&tip);
            }
            return match error.use_stderr() {
                true => ExitCode::from(2),
                false => exit_code(printed.map_err(Failure::from), &Terminal::detect(color)),
            };
        }
    };
    let terminal = Terminal::detect(cli.color);
    if let Command::Mem(MemCommand::Search(args)) = &cli.command
        && expanded.is_short
        && args.format == ResultFormat::Table
        && let Some(tip) = shorthand::misspelt_command(&args.query)
    {
        terminal.tip(&tip);
    }
    cli.start_log(&terminal);
    let begun = Instant::now();
    tracing::debug!(version = env!("CARGO_PKG_VERSION"), "started");
    let program = Program { terminal, verbose: cli.verbose, registry };
    let outcome = cli.command.run(&program);
    tracing::debug!(failed = outcome.is_err(), ms = begun.elapsed().as_secs_f64() * 1e3, "finished");
    exit_code(outcome, &program.terminal)
}

/// Reports a failure, and returns the exit code.
fn exit_code(outcome: Outcome, terminal: &Terminal) -> ExitCode {
    outcome.map_or_else(
        |failure| {
            terminal.report(&failure);
            failure.code()
        },
        |()| ExitCode::SUCCESS,
    )
}

/// Prints an argument error or the requested help.
fn print(error: &clap::Error) -> io::Result<()> {
    let text = error.render().to_string();
    // The message contains unchanged arguments, which may contain control characters.
    match sanitize::block(&text) {
        safe if error.use_stderr() && safe != text => io::stderr().write_all(safe.as_bytes()),
        _ => error.print(),
    }?;
    io::stdout().flush()
}
