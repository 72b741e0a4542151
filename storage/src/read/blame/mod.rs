//! Blame: the origin commit of every line, in one row for each file that has chunks.

mod codec;
mod record;

pub(crate) use codec::{decode, encode};

pub use record::{Blame, BlamedCommit, BlamedRun, CopiedRun, TouchedLines};
