//! The MCP server. It gives agents a few tools to search and read indexed projects and to follow relations.
//!
//! Answers are text within a budget of tokens, because agents read them directly. If a project has no complete index
//! yet, answers come from what its first index run has published so far.
//!
//! Deliberately absent: the protocol, which `rmcp` implements; the content of answers, which `aurora-project` and
//! `aurora-query` determine; and the rules for the memory of agents, which are in `aurora-memory`.
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod agent_search;
mod first_answer;
mod http;
mod lines;
mod message;
mod places;
mod resources;
mod server;
mod stdio;
mod tools;

pub use agent_search::AgentSearch;
pub use http::http_service;
pub use message::refusal;
pub use server::McpServer;
pub use stdio::{McpError, serve_stdio};
