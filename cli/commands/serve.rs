//! `aur serve`: serves searches over HTTP.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::time::Duration;

use aurora_live::Roots;
use aurora_project::user;
use aurora_serve::{Limits, Listen, ServeError, ServeOptions, Stop, Token};
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, value_parser};

use crate::context::logging::LogFormat;
use crate::context::{Failure, Outcome, Program, interrupt, served};

/// Serve searches over HTTP
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  aur serve                                       the current project, on a free local port
  aur serve --root ~/src/app --root ~/src/lib --listen 127.0.0.1:7700
  aur serve --catalog company.toml
  aur serve --listen 0.0.0.0:7700 --token-file token --allow-host search.example.org
  curl -s ADDRESS/api/v1/search -H 'content-type: application/json' -d '{\"query\": \"parse date\"}'

The first line of the output is the address. ADDRESS/openapi.json describes the API. Requests from
other machines need the token. Ctrl-C completes the running requests and stops the server.")]
pub(crate) struct ServeArgs {
    /// Directory to serve, or its name as listed by `aur mem roots`; may be given more than once
    ///
    /// [default: the nearest enclosing directory with an index]
    #[arg(long, value_name = "PATH|NAME")]
    pub(crate) root: Vec<PathBuf>,

    /// Catalogue whose repositories are served, read-only
    #[arg(long, value_name = "FILE", conflicts_with = "root")]
    pub(crate) catalog: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) options: ServeOptionsArgs,
}

/// Options of a server.
#[derive(Args, Debug)]
pub(crate) struct ServeOptionsArgs {
    /// Address and port to listen on; port 0 selects a free port
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub(crate) listen: SocketAddr,

    /// Listen on a Unix socket at this path instead
    #[arg(long, value_name = "PATH", conflicts_with = "listen")]
    pub(crate) socket: Option<PathBuf>,

    /// File with the token that requests must send as `Authorization: Bearer TOKEN`
    ///
    /// Clients with the token can also use memory.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,

    /// Additional host name in requests, besides `localhost` and IP addresses; may be given more than once
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) allow_host: Vec<String>,

    /// Origin whose pages may use the server, such as https://search.example.org; may be given more than once
    #[arg(long, value_name = "ORIGIN", value_parser = NonEmptyStringValueParser::new())]
    pub(crate) allow_origin: Vec<String>,

    /// Maximum number of requests per second and client; 0 means unlimited
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    pub(crate) rate: u32,

    /// Maximum duration of a request, including waiting time
    #[arg(long, value_name = "SECONDS", default_value_t = 30, value_parser = value_parser!(u64).range(1..=3_600))]
    pub(crate) timeout: u64,

    /// Maximum number of requests that run at the same time; others wait [default: one per core]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..=1_024))]
    pub(crate) concurrency: Option<u16>,

    /// Directory of the sessions of articles [default: `knowledge` in the user's directory]
    #[arg(long, value_name = "DIRECTORY")]
    pub(crate) knowledge: Option<PathBuf>,

    /// Write nothing: no feedback, no record of shown results, no entries of memory, and no index runs
    #[arg(long)]
    pub(crate) read_only: bool,

    /// Deprecated spelling of --log-format
    #[arg(long, value_enum, hide = true)]
    pub(crate) log: Option<LogFormat>,

    /// Include the texts of queries in the log
    #[arg(long)]
    pub(crate) log_queries: bool,
}

/// Serves the projects until Ctrl-C.
pub(crate) fn run(args: &ServeArgs, program: &Program) -> Outcome {
    match &args.catalog {
        Some(file) => serve_catalog(file, &args.options, program),
        None => {
            let is_read_only = args.options.read_only;
            serve(served::roots(&args.root, is_read_only, program)?, is_read_only, &args.options, program)
        }
    }
}

/// Serves the repositories of a catalogue until Ctrl-C.
pub(crate) fn serve_catalog(file: &Path, args: &ServeOptionsArgs, program: &Program) -> Outcome {
    serve(served::catalog(file, program)?, true, args, program)
}

fn serve(roots: Roots, is_read_only: bool, args: &ServeOptionsArgs, program: &Program) -> Outcome {
    let defaults = Limits::default();
    let options = ServeOptions {
        listen: args.socket.clone().map_or(Listen::Tcp(args.listen), Listen::Unix),
        token: args.token_file.as_deref().map(Token::read).transpose().map_err(failure)?,
        hosts: args.allow_host.clone(),
        origins: args.allow_origin.clone(),
        read_only: is_read_only,
        knowledge: args.knowledge.clone().or_else(|| Some(user::absolute_directory()?.knowledge())),
        limits: Limits {
            rate: NonZeroU32::new(args.rate),
            time: Duration::from_secs(args.timeout),
            running: args.concurrency.map_or(defaults.running, usize::from),
            ..defaults
        },
        ..ServeOptions::new(roots)
    };
    let stop = Stop::new();
    let stopped = stop.clone();
    interrupt::stops(move || stopped.stop());
    let mut printed = Ok(());
    aurora_serve::serve(options, &stop, |address| {
        printed = program.terminal.line(&format!("Listening on {address}"));
    })
    .map_err(failure)?;
    printed
}

fn failure(error: ServeError) -> Failure {
    let failure = Failure::from_error(&error);
    match error {
        ServeError::Exposed(_) => failure.with_help("give `--token-file FILE`, or listen on 127.0.0.1"),
        _ => failure,
    }
}
