//! Everything that is done with a whole index: compaction, export and import, verification, repair and digests.
//!
//! [`canonical`] numbers the chunks of a snapshot as in an index that was written in one run. Compaction and artefacts
//! write rows in this order. [`replacement`] moves a new index to the place of the old one.

pub(crate) mod artefact;
mod canonical;
pub(crate) mod compact;
mod digest;
mod rebuild;
pub(crate) mod replacement;
mod set_aside;
pub(crate) mod verify;
