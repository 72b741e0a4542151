//! Errors and warnings about a configuration, with a code, the place, the source line, and advice on how to fix the
//! problem.
//!
//! The code that parses pipeline files and search settings reports all mistakes at once in this format.
//!
//! Deliberately absent: the configuration types, suggesting the intended name (`aurora-suggest`), and formatting for a
//! terminal.
//!
//! ```
//! use aurora_diagnostics::{Diagnostic, Location, code};
//!
//! let text = "[search.bm25]\nk1 = -1.5\n";
//! let location = Location::from_span("config.toml", text, 14..16);
//! let found = Diagnostic::error(code::INVALID_VALUE, Some(location), "`k1` must be a number ≥ 0.0, not -1.5");
//! assert_eq!(
//!     found.to_string(),
//!     "error[A0103]: `k1` must be a number ≥ 0.0, not -1.5\n --> config.toml:2:1\n2 | k1 = -1.5"
//! );
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod code;
mod diagnostic;
pub mod document;
mod place;
mod setting;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use place::{Location, Place};
pub use setting::{Setting, read_settings};
