//! Reads memory entries from directories of Markdown.
//!
//! The reader is an iterator. Each item is an entry with its times, or a problem: a file that is not an entry, or a difference
//! between an entry and its file.
//!
//! The files are untrusted. The reader opens them inside the directory that the user has named, does not follow links, and limits
//! their size.
//!
//! Deliberately absent: storing of entries, scopes and sessions (`aurora-memory`), the lines of JSON that a memory exports, and the
//! database of aurora-actr, which `actr/actr_to_jsonl.py` converts to lines of JSON.
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

mod markdown;
mod problem;
mod record;

pub use markdown::MarkdownNotes;
pub use problem::{ImportEffect, ImportProblem};
pub use record::ImportedEntry;
