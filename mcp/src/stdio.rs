//! The server over standard input and output.

use std::sync::Arc;

use aurora_live::Roots;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::sync::Semaphore;

use crate::lines::Lines;
use crate::server::McpServer;

/// Why the server has ended.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// The system gives no threads or no event queue.
    #[error("cannot start: {0}")]
    Runtime(#[source] std::io::Error),
    /// The client does not speak the protocol.
    #[error("the client has not begun a session: {0}")]
    Session(String),
}

/// Serves these projects to the client on standard input and output until it ends, and keeps their indexes fresh meanwhile.
///
/// # Errors
/// When the client does not begin a session, or the system gives no threads.
pub fn serve_stdio(roots: Roots) -> Result<(), McpError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(McpError::Runtime)?;
    let _watches = roots.watch().map_err(McpError::Runtime)?;
    let permits = std::thread::available_parallelism().map_or(2, usize::from);
    let server = McpServer::new(roots, Arc::new(Semaphore::new(permits)));
    let ended = runtime.block_on(async {
        let transport = Lines::new(tokio::io::stdin(), tokio::io::stdout());
        let session = loop {
            match server.clone().serve(transport.clone()).await {
                // A notification or a response before the first request: it has no answer.
                Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {}
                session => break session,
            }
        };
        let session = session.map_err(|error| McpError::Session(error.to_string()))?;
        // However it ends, the client has gone.
        let _ = session.waiting().await;
        Ok(())
    });
    // A read of standard input that does not end must not hold the process.
    runtime.shutdown_background();
    ended
}
