//! `aur serve`: answers over HTTP.

use std::io::Write as _;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use aurora_project::user;
use aurora_serve::{Level, Limits, Listen, LogStyle, ServeError, ServeOptions, Stop, Token};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, value_parser};

use crate::context::failure::{Failure, Outcome};
use crate::context::program::Program;
use crate::context::{interrupt, kept};

pub(crate) const SERVE_EXAMPLES: &str = "\
Examples:
  aur serve                                       the project here, on a free port of this machine
  aur serve --root ~/src/app --root ~/src/lib --listen 127.0.0.1:7700
  aur serve --listen 0.0.0.0:7700 --token-file token --allow-host search.example.org
  curl -s ADDRESS/api/v1/search -H 'content-type: application/json' -d '{\"query\": \"parse date\"}'

The first line of the output is the address. ADDRESS/openapi.json describes the requests. Other machines
are served only if they show the token. Ctrl-C answers the requests that are there, and ends.";

/// Answer searches over HTTP
#[derive(Args, Debug)]
#[command(after_help = SERVE_EXAMPLES)]
pub(crate) struct ServeArgs {
    /// An indexed directory, or the name of one of `aur mem roots`; may be given several times
    ///
    /// [default: the nearest directory above with an index]
    #[arg(long, value_name = "PATH|NAME")]
    pub(crate) root: Vec<PathBuf>,

    /// Address and port to listen on; port 0 selects a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,

    /// Listen on a Unix socket at this path instead
    #[arg(long, value_name = "PATH", conflicts_with = "listen")]
    pub(crate) socket: Option<PathBuf>,

    /// A file with the token that requests must show, as `Authorization: Bearer TOKEN`
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,

    /// A name by which clients may reach the server, beside `localhost` and addresses; may be given several times
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) allow_host: Vec<String>,

    /// An origin whose pages may use the server, such as https://search.example.org; may be given several times
    #[arg(long, value_name = "ORIGIN", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) allow_origin: Vec<String>,

    /// Most requests a second of one client; 0 for any number
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) rate: u32,

    /// Longest time that a request may take, waiting included
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = value_parser!(u64).range(1..=3_600))]
    pub(crate) timeout: u64,

    /// Most requests that are worked on at the same time; others wait [default: one per core]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1_024))]
    pub(crate) concurrency: Option<u16>,

    /// Directory of the sessions of articles [default: `knowledge` in the user's directory]
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) knowledge: Option<PathBuf>,

    /// Write nothing: no feedback, no record of what was shown, no index run
    #[arg(long)]
    pub(crate) read_only: bool,

    /// Format of the log on standard error; RUST_LOG sets its level
    #[arg(long, value_enum, default_value_t = LogFormat::Text)]
    pub(crate) log: LogFormat,

    /// Put the texts of queries into the log
    #[arg(long)]
    pub(crate) log_queries: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// A line of words
    Text,
    /// An object a line
    Json,
    /// Nothing
    Off,
}

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
