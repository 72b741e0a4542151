//! Reads entries of memory from directories of Markdown.
//!
//! The reader is an iterator. Each item is an entry with its times, or something to report: a file that is no entry, or a
//! difference between an entry and its file.
//!
//! The files are hostile. They are opened below the directory that the user has named, without following links, and their size is
//! bounded.
//!
//! Deliberately absent: storing entries, scopes and sessions (`aurora-memory`), the lines of JSON that a memory exports, and the
//! database of aurora-actr, which `actr/actr_to_jsonl.py` writes as lines of JSON.
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
