//! Reads memory entries from directories of Markdown files.
//!
//! [`MarkdownNotes`] is an iterator over entries and problems. [`aurora_memory::Memory::put_all`] writes them to a
//! memory.
//!
//! The files are untrusted. The reader opens only files inside the given directory, does not follow symbolic links, and
//! limits the size of files.
//!
//! Deliberately absent: storage of entries and import of exported lines of JSON (`aurora-memory`), and reading the
//! database of aurora-actr, which `actr/actr_to_jsonl.py` converts to lines of JSON.
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # std::fs::write(directory.path().join("Key rotation.md"), "# Keys\nRotate them. See [the guide](guide.md).")?;
//! # std::fs::write(directory.path().join("guide.md"), "How it is done.")?;
//! use aurora_memory::{LineDefaults, Placement, Scope};
//! use aurora_memory_import::MarkdownNotes;
//!
//! let defaults = LineDefaults { placement: Placement { scope: Scope::User, session: None }, time: 0 };
//! let notes: Vec<_> = MarkdownNotes::open(directory.path(), defaults)?.filter_map(Result::ok).collect();
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
