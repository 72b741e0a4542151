//! The MCP server: an agent searches, reads and follows relations in indexed projects through a few tools.
//!
//! Answers are text within a budget of tokens, because an agent reads them as they are. Calls to a project without an
//! index are answered from what its first index run has published so far.
//!
//! Deliberately absent: the protocol, which `rmcp` implements, and the content of answers, which `aurora-project` and
//! `aurora-query` determine.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod first_answer;
mod http;
mod lines;
mod message;
mod places;
mod resources;
mod server;
mod stdio;
mod tools;

pub use http::http_service;
pub use message::refusal;
pub use server::McpServer;
pub use stdio::{McpError, serve_stdio};
