//! The server over standard input and output.

use std::sync::Arc;

use aurora_live::Roots;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::sync::Semaphore;

use crate::lines::Lines;
use crate::server::McpServer;

/// An error of the server.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// The system cannot provide threads or an event queue.
    #[error("cannot start: {0}")]
    Runtime(#[source] std::io::Error),
    /// The client does not speak the protocol.
    #[error("the client did not start a session: {0}")]
    Session(String),
}

/// Serves these projects to the client on standard input and output until it disconnects, and keeps their indexes up to
/// date meanwhile.
///
/// # Errors
/// When the client does not start a session, or the system cannot provide threads.
pub fn serve_stdio(roots: Roots) -> Result<(), McpError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(McpError::Runtime)?;
    let _watches = roots.watch().map_err(McpError::Runtime)?;
    let permits = std::thread::available_parallelism().map_or(2, usize::from);
    let server = McpServer::new(roots, Arc::new(Semaphore::new(permits)));
    let ended = runtime.block_on(async {
        let transport = Lines::new(tokio::io::stdin(), tokio::io::stdout());
        let session = loop {
            match server.clone().serve(transport.clone()).await {
                // A notification or a response before the first request has no answer.
                Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {}
                session => break session,
            }
        };
        let session = session.map_err(|error| McpError::Session(error.to_string()))?;
        // The client has disconnected, whatever the result.
        let _ = session.waiting().await;
        Ok(())
    });
    // A blocked read of standard input must not keep the process alive.
    runtime.shutdown_background();
    ended
}
