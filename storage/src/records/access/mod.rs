//! The access history of chunks, with the judgements of users and agents, in a separate LMDB environment.

mod codec;
mod log;
mod verdict;

pub use codec::AccessRecord;
pub use log::AccessLog;
pub use verdict::{Judgements, Verdict};
