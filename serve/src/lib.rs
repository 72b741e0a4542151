//! The HTTP server for indexed projects: searches, chunks, files, relations, blame, contents and feedback. It also
//! provides an OpenAPI document, health checks and Prometheus metrics.
//!
//! All requests share one opened generation of each index. When this or another process publishes a new generation,
//! later requests use the new generation.
//!
//! Without a token, only clients on this machine can use the server. Requests with an untrusted `Host` or `Origin` are
//! rejected.
//!
//! Deliberately absent: ranking and reports, which are in `aurora-query` and `aurora-project`, and command-line
//! arguments.
//!
//! ```no_run
//! use aurora_serve::{ServeOptions, Stop, serve};
//!
//! fn answer_for(roots: aurora_live::Roots) -> Result<(), aurora_serve::ServeError> {
//!     serve(ServeOptions::new(roots), &Stop::new(), |address| println!("Listening on {address}"))
//! }
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod answer;
mod connections;
mod descriptors;
mod error;
mod http;
mod metrics;
mod options;
mod problem;
mod rates;
mod server;
mod state;
mod stop;
mod token;

pub use error::ServeError;
pub use http::openapi;
pub use options::{Limits, Listen, ServeOptions};
pub use server::serve;
pub use stop::Stop;
pub use token::Token;
