//! `aur serve`: answers over HTTP.

use std::io::Write as _;
use std::num::NonZeroU32;
use std::time::Duration;

use aurora_project::user;
use aurora_serve::{Level, Limits, Listen, LogStyle, ServeError, ServeOptions, Stop, Token};

use crate::args_serve::{LogFormat, ServeArgs};
use crate::failure::{Failure, Outcome};
use crate::program::Program;
use crate::{interrupt, kept};

/// Serves until Ctrl-C.
pub(crate) fn run(args: &ServeArgs, program: &Program) -> Outcome {
    let options = ServeOptions {
        listen: args.socket.clone().map_or(Listen::Tcp(args.listen), Listen::Unix),
        token: args.token_file.as_deref().map(Token::read).transpose().map_err(failure)?,
        hosts: args.allow_host.clone(),
        origins: args.allow_origin.clone(),
        read_only: args.read_only,
        knowledge: args.knowledge.clone().or_else(user::knowledge),
        log_queries: args.log_queries,
        limits: limits(args),
        ..ServeOptions::new(kept::roots(&args.root, args.read_only, program)?)
    };
    match args.log {
        LogFormat::Text => {
            aurora_serve::log(LogStyle::Text { colours: program.terminal.err.is_enabled() }, Level::INFO)
        }
        LogFormat::Json => aurora_serve::log(LogStyle::Json, Level::INFO),
        LogFormat::Off => {}
    }
    let stop = Stop::new();
    let stopped = stop.clone();
    interrupt::stops(move || stopped.stop());
    let mut told = Ok(());
    aurora_serve::serve(options, &stop, |address| {
        let mut out = program.terminal.stdout();
        told = writeln!(out, "Listening on {address}").and_then(|()| out.flush());
    })
    .map_err(failure)?;
    Ok(told?)
}

fn limits(args: &ServeArgs) -> Limits {
    let defaults = Limits::default();
    Limits {
        rate: NonZeroU32::new(args.rate),
        time: Duration::from_secs(args.timeout),
        running: args.concurrency.map_or(defaults.running, usize::from),
        ..defaults
    }
}

fn failure(error: ServeError) -> Failure {
    let failure = Failure::from_error(&error);
    match error {
        ServeError::Exposed(_) => failure.with_help("give `--token-file FILE`, or listen on 127.0.0.1"),
        _ => failure,
    }
}
