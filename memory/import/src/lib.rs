//! Reads entries of memory from what other programs keep: directories of Markdown, and databases of aurora-actr.
//!
//! A reader is an iterator. Each item is an entry, with what is known of its times and its accesses, or something that is to be
//! reported: what is no entry, and what differs in one. A reader ends where nothing more can be read.
//!
//! What is read is hostile. Files are opened below the directory that the user has named, follow no links and are bounded; a
//! database is read from a private copy, by an SQLite that runs nothing which the database contains.
//!
//! Deliberately absent: storing entries, scopes and sessions (`aurora-memory`), and the lines of JSON that a memory exports.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let place = tempfile::tempdir()?;
//! # std::fs::write(place.path().join("Key rotation.md"), "# Keys\nRotate them. See [the guide](guide.md).")?;
//! # std::fs::write(place.path().join("guide.md"), "How it is done.")?;
//! use aurora_memory_import::MarkdownNotes;
//!
//! let notes: Result<Vec<_>, _> = MarkdownNotes::open(place.path())?.collect();
//! let notes = notes?;
//! assert_eq!(notes[0].entry.id(), "note:key-rotation");
//! assert_eq!(notes[0].entry.links()[0].to, "note:guide");
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod actr;
mod markdown;
mod problem;
mod record;

pub use actr::{ActrDatabase, ActrError, ActrOptions, RuleCheck};
pub use markdown::MarkdownNotes;
pub use problem::{ImportEffect, ImportProblem};
pub use record::{ImportedAccess, ImportedEntry};
