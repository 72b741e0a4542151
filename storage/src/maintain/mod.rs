//! Operations on a whole index: compaction, export and import, verification, repair and digests.
//!
//! [`canonical`] numbers the chunks of a snapshot as if the index had been written in one run. Compaction and export
//! write rows in this order. [`replacement`] replaces the old index with a new one.

pub(crate) mod artefact;
mod canonical;
pub(crate) mod compact;
mod digest;
pub(crate) mod rebuild;
pub(crate) mod replacement;
mod set_aside;
pub(crate) mod verify;
