//! The server over streamable HTTP.

use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::server::McpServer;

/// The server as a service of an HTTP server, which decides who may ask. It keeps nothing between requests; a body has at most
/// `most_bytes`.
pub fn http_service(server: McpServer, most_bytes: usize) -> StreamableHttpService<McpServer, NeverSessionManager> {
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(most_bytes)
        .disable_allowed_hosts();
    StreamableHttpService::new(move || Ok(server.clone()), NeverSessionManager::default().into(), config)
}
