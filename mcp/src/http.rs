//! The MCP server over streamable HTTP.

use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::server::McpServer;

/// Creates an HTTP service for the MCP server. The surrounding HTTP server decides who may access it. The service keeps
/// no state between requests, and the body of a request has at most `max_bytes`.
pub fn http_service(server: McpServer, max_bytes: usize) -> StreamableHttpService<McpServer, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(max_bytes)
        .disable_allowed_hosts();
    StreamableHttpService::new(move || Ok(server.clone()), NeverSessionManager::default().into(), config)
}
