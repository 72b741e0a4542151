//! The HTTP server: searches, chunks, files, relations, attribution, contents and feedback of indexed projects, with an OpenAPI
//! document of itself, health checks and Prometheus metrics.
//!
//! A server shares one opened generation of each index between all requests. When another generation is published, by this
//! process or another one, requests that come later get that one.
//!
//! Only this machine is served unless a token is set. Requests whose `Host` or `Origin` is that of a stranger are refused.
//!
//! Deliberately absent: ranking and reports, which `aurora-query` and `aurora-project` make, and arguments.
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
mod log;
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
pub use log::{LogStyle, log};
pub use options::{Limits, Listen, ServeOptions};
pub use server::serve;
pub use stop::Stop;
pub use token::Token;
pub use tracing::Level;
