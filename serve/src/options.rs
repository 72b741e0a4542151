//! Options of a server.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use aurora_live::Roots;

use crate::error::ServeError;
use crate::token::Token;

/// The address that a server listens on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Listen {
    /// A TCP address; port 0 selects a free port.
    Tcp(SocketAddr),
    /// The path of a Unix socket, which the server creates when it starts and removes when it stops.
    Unix(PathBuf),
}

/// Options of a server.
#[derive(Clone)]
pub struct ServeOptions {
    /// The projects to serve. If a request names no root, a search covers all roots, and any other request uses the
    /// first root.
    pub roots: Roots,
    /// Directory for the sessions of knowledge articles. Without it, sessions are not available.
    pub knowledge: Option<PathBuf>,
    /// The address to listen on.
    pub listen: Listen,
    /// The token that requests must contain. Without it, only clients on this machine can use the server.
    pub token: Option<Token>,
    /// Host names by which clients may address the server, in addition to `localhost` and IP addresses.
    pub hosts: Vec<String>,
    /// Origins of other pages that may use the server, such as `https://search.example.org`.
    pub origins: Vec<String>,
    /// If true, requests that write, such as feedback and index runs, are rejected, and accesses are not recorded.
    pub read_only: bool,
    /// Limits for clients.
    pub limits: Limits,
}

/// Limits for clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum size of the body of a request, in bytes.
    pub body: usize,
    /// Maximum total size of large bodies that wait to be parsed, and of large MCP messages, in bytes.
    pub bodies: usize,
    /// Maximum number of results of a search.
    pub results: usize,
    /// Maximum number of queries in a batch.
    pub batch: usize,
    /// Maximum size of an answer, in bytes.
    pub answer: usize,
    /// Maximum total size of all answers that are being sent, in bytes.
    pub unsent: usize,
    /// Maximum time for answering a request, including the time that the request waits.
    pub time: Duration,
    /// Maximum time that a client may take to send a request, and maximum time between two requests.
    pub idle: Duration,
    /// Maximum number of requests that are processed at the same time.
    pub running: usize,
    /// Maximum number of requests that wait. Further requests are rejected with status 503.
    pub waiting: usize,
    /// Maximum number of requests per second and client; `None` for no limit.
    pub rate: Option<NonZeroU32>,
    /// Maximum number of open connections. Further connections are closed immediately.
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
    /// Creates options for serving these projects on a free port of the loopback interface.
    pub fn new(roots: Roots) -> Self {
        Self {
            roots,
            knowledge: None,
            listen: Listen::Tcp(SocketAddr::from(([127, 0, 0, 1], 0))),
            token: None,
            hosts: Vec::new(),
            origins: Vec::new(),
            read_only: false,
            limits: Limits::default(),
        }
    }

    /// Checks that other machines cannot use the server without a token.
    ///
    /// # Errors
    /// Returns [`ServeError::Exposed`] if other machines can reach the address and there is no token.
    pub(crate) fn check(&self) -> Result<(), ServeError> {
        match &self.listen {
            Listen::Tcp(address) if !address.ip().is_loopback() && self.token.is_none() => {
                Err(ServeError::Exposed(*address))
            }
            _ => Ok(()),
        }
    }
}
