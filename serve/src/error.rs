//! Errors at the start of a server.

use std::net::SocketAddr;
use std::path::PathBuf;

/// An error at the start of a server.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Other machines would be served without authentication.
    #[error("{0} can be reached from other machines, and there is no token")]
    Exposed(SocketAddr),
    /// The address or socket cannot be used.
    #[error("cannot listen on {place}: {source}")]
    Listen {
        /// Address or path.
        place: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The token file cannot be used.
    #[error("the token file {path} cannot be used: {reason}")]
    Token {
        /// The file.
        path: PathBuf,
        /// The problem with the file.
        reason: String,
    },
    /// The system cannot provide threads or an event queue.
    #[error("cannot start: {0}")]
    Runtime(std::io::Error),
}
