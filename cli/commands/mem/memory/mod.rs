//! Commands for an index that are also commands for a memory.

pub(super) mod compact;
pub(super) mod export;
pub(super) mod import;
pub(super) mod verify;
pub(super) mod why;
