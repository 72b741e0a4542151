//! Why a server does not start.

use std::net::SocketAddr;
use std::path::PathBuf;

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Other machines would be served without asking who they are.
    #[error("{0} can be reached from other machines, and there is no token")]
    Exposed(SocketAddr),
    /// The address or socket cannot be used.
    #[error("cannot listen on {place}: {source}")]
    Listen {
        /// Address or path.
        place: String,
        /// What the system says.
        source: std::io::Error,
    },
    /// The token file cannot be used.
    #[error("the token file {path}: {reason}")]
    Token {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The system gives no threads or no event queue.
    #[error("cannot start: {0}")]
    Runtime(std::io::Error),
}
