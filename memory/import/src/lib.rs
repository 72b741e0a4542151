//! Reads memory entries from directories of Markdown.
//!
//! The reader is an iterator over entries and problems, which [`aurora_memory::Memory::put_all`] takes.
//!
//! The files are untrusted. The reader opens them inside the directory that the user has named, does not follow links, and limits
//! their size.
//!
//! Deliberately absent: storing of entries (`aurora-memory`), the lines of JSON that a memory exports, and the
//! database of aurora-actr, which `actr/actr_to_jsonl.py` converts to lines of JSON.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let place = tempfile::tempdir()?;
//! # std::fs::write(place.path().join("Key rotation.md"), "# Keys\nRotate them. See [the guide](guide.md).")?;
//! # std::fs::write(place.path().join("guide.md"), "How it is done.")?;
//! use aurora_memory::{LineDefaults, Placement, Scope};
//! use aurora_memory_import::MarkdownNotes;
//!
//! let defaults = LineDefaults { placement: Placement { scope: Scope::User, session: None }, time: 0 };
//! let notes: Vec<_> = MarkdownNotes::open(place.path(), defaults)?.filter_map(Result::ok).collect();
//! assert_eq!(notes[0].entry.id(), "note:key-rotation");
//! assert_eq!(notes[0].entry.links()[0].to, "note:guide");
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod markdown;

pub use markdown::MarkdownNotes;
