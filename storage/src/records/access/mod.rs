//! The access history of chunks and the judgements of users and agents, in a small environment apart from the index.

mod codec;
mod log;
mod verdict;

pub use codec::AccessRecord;
pub use log::AccessLog;
pub use verdict::{Judgements, Verdict};
