//! What is wrong with a configuration: a code, the place, the line, and how to correct it.
//!
//! The pipeline's and the search's configuration report all mistakes at once, and in this one format.
//!
//! Deliberately absent: reading a configuration, finding the name that was meant (`aurora-suggest`), and drawing for a terminal.
//!
//! ```
//! use aurora_diagnostics::{Diagnostic, Location, code};
//!
//! let text = "[search.bm25]\nk1 = -1.5\n";
//! let location = Location::of_span("config.toml", text, 14..16);
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
mod place;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use place::{Location, Place};
