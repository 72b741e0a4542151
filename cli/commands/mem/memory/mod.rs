//! The variants of index commands for a memory.

pub(super) mod compact;
pub(super) mod export;
pub(super) mod import;
pub(super) mod verify;
pub(super) mod why;
