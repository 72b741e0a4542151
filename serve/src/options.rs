//! What a server is asked to do.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use aurora_live::Roots;

use crate::error::ServeError;
use crate::token::Token;

/// Where a server listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// An address; port 0 selects a free one.
    Tcp(SocketAddr),
    /// The path of a Unix socket, which is made, and removed at the end.
    Unix(PathBuf),
}

/// What a server is asked to do.
#[derive(Clone)]
pub struct ServeOptions {
    /// The projects that are served. Where a request names none, a search covers all of them, and anything else is about the first.
    pub roots: Roots,
    /// Directory of the sessions of articles; without one, there are none.
    pub knowledge: Option<PathBuf>,
    /// Where to listen.
    pub listen: Listen,
    /// What requests must show; without one, only this machine is served.
    pub token: Option<Token>,
    /// Names by which clients may reach the server, beside `localhost` and addresses.
    pub hosts: Vec<String>,
    /// Origins of pages that may use the server, such as `https://search.example.org`.
    pub origins: Vec<String>,
    /// Whether nothing may be written: no feedback, no record of what was shown, no index run.
    pub read_only: bool,
    /// Whether the log has the texts of queries.
    pub log_queries: bool,
    /// What one client may use.
    pub limits: Limits,
}

/// What clients may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of a request's body.
    pub body: usize,
    /// Maximum number of bytes of all larger bodies that wait to be parsed, and of larger messages of agents.
    pub bodies: usize,
    /// Most results of a search.
    pub results: usize,
    /// Most queries of a batch.
    pub batch: usize,
    /// Maximum number of bytes of an answer.
    pub answer: usize,
    /// Maximum number of bytes of all answers that are being sent.
    pub unsent: usize,
    /// How long a request may take, waiting included.
    pub time: Duration,
    /// How long a client may take to send a request, or stay silent between two.
    pub idle: Duration,
    /// Searches that run at the same time.
    pub running: usize,
    /// Searches that wait; more are refused with status 503.
    pub waiting: usize,
    /// Requests a second of one client; any number if not given.
    pub rate: Option<NonZeroU32>,
    /// Open connections; further ones are closed at once.
    pub connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body: 1 << 20,
            bodies: 256 << 20,
            results: 1_000,
            batch: 100,
            answer: 32 << 20,
            unsent: 256 << 20,
            time: Duration::from_secs(30),
            idle: Duration::from_secs(30),
            running: std::thread::available_parallelism().map_or(2, usize::from),
            waiting: 256,
            rate: NonZeroU32::new(1_000),
            connections: 16_384,
        }
    }
}

impl ServeOptions {
    /// A server of these projects on a free port of the loopback interface.
    pub fn new(roots: Roots) -> Self {
        Self {
            roots,
            knowledge: None,
            listen: Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], 0))),
            token: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            read_only: false,
            log_queries: false,
            limits: Limits::default(),
        }
    }

    /// Refuses options that would serve strangers.
    ///
    /// # Errors
    /// [`ServeError::Exposed`] for an address that other machines reach, without a token.
    pub(crate) fn check(&self) -> Result<(), ServeError> {
        match &self.listen {
            Listen::Tcp(address) if !address.ip().is_loopback() && self.token.is_none() => {
                Err(ServeError::Exposed(*address))
            }
            _ => Ok(()),
        }
    }
}
