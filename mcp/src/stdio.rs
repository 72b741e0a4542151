//! The MCP server over standard input and output.

use std::sync::Arc;

use aurora_live::{Roots, Upkeep};
use aurora_memory::{AgentMemory, MemoryError};
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::sync::Semaphore;

use crate::lines::Lines;
use crate::server::McpServer;

/// An error that prevents or ends a session.
#[derive(Debug, thiserror::Error)]
pub enum McpError {
    /// The system cannot provide threads or an event queue.
    #[error("cannot start: {0}")]
    Runtime(#[source] std::io::Error),
    /// No session of memory can be created.
    #[error(transparent)]
    Memory(MemoryError),
    /// The client does not follow the protocol.
    #[error("the client did not start a session: {0}")]
    Session(String),
}

/// Serves these projects to the client on standard input and output until the client disconnects. Keeps the indexes up
/// to date meanwhile.
///
/// # Errors
/// Fails if the client does not start a session, or if the system cannot provide threads.
pub fn serve_stdio(roots: Roots) -> Result<(), McpError> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(McpError::Runtime)?;
    let _watches = roots.watch().map_err(McpError::Runtime)?;
    let permits = std::thread::available_parallelism().map_or(2, usize::from);
    let is_read_only = roots.iter().any(|root| root.upkeep() == Upkeep::ReadOnly);
    let memory = AgentMemory::for_connection(is_read_only).map_err(McpError::Memory)?;
    let server = McpServer::new(roots, Some(Arc::new(memory)), Arc::new(Semaphore::new(permits)));
    let ended = runtime.block_on(async {
        let transport = Lines::new(tokio::io::stdin(), tokio::io::stdout());
        let session = loop {
            match server.clone().serve(transport.clone()).await {
                // The client sent a notification or a response before its first request. Neither has an answer.
                Err(ServerInitializeError::ExpectedInitializeRequest(_)) => {}
                session => break session,
            }
        };
        let session = session.map_err(|error| McpError::Session(error.to_string()))?;
        // The result does not matter: the client has disconnected in any case.
        let _ = session.waiting().await;
        Ok(())
    });
    // Do not wait for the thread that reads standard input: it may be blocked, and would keep the process alive.
    runtime.shutdown_background();
    ended
}
