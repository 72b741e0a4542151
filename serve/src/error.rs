//! Errors that prevent a server from starting.

use std::net::SocketAddr;
use std::path::PathBuf;

/// An error that prevents a server from starting.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Other machines could use the server without a token.
    #[error("{0} can be reached from other machines, and there is no token")]
    Exposed(SocketAddr),
    /// The server cannot listen on the address or socket.
    #[error("cannot listen on {place}: {source}")]
    Listen {
        /// Address, or path of the socket.
        place: String,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The token file cannot be used.
    #[error("the token file {path} cannot be used: {reason}")]
    Token {
        /// Path of the file.
        path: PathBuf,
        /// The reason.
        reason: String,
    },
    /// The system cannot provide threads or an event queue.
    #[error("cannot start: {0}")]
    Runtime(std::io::Error),
}
