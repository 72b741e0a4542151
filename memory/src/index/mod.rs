//! The index of a memory. A pipeline reads the changed entries and updates the index.

mod chunks;
mod generation;
mod indexed_entry;
mod source;

pub(crate) use chunks::chunk_type;
#[cfg(test)]
pub(crate) use chunks::chunks_of;
pub(crate) use generation::{catch_up, is_current, newest_indexed_change};
pub(crate) use indexed_entry::{DIRECTORY, column};
#[cfg(test)]
pub(crate) use indexed_entry::{IndexedEntry, indexed_path};
pub(crate) use source::registry;
