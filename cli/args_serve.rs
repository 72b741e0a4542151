//! Arguments of `aur serve`.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum, value_parser};

pub(crate) const SERVE_EXAMPLES: &str = "\
Examples:
  aur serve                                       the project here, on a free port of this machine
  aur serve --root ~/src/app --root ~/src/lib --listen 127.0.0.1:7700
  aur serve --listen 0.0.0.0:7700 --token-file token --allow-host search.example.org
  curl -s ADDRESS/api/v1/search -H 'content-type: application/json' -d '{\"query\": \"parse date\"}'

The first line of the output is the address. ADDRESS/openapi.json describes the requests. Other machines
are served only if they show the token. Ctrl-C answers the requests that are there, and ends.";

#[derive(Args, Debug)]
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
