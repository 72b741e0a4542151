//! When chunks were shown to someone, and what was said of them: a small environment of its own, apart from the index.

mod aside;
mod codec;
mod log;
mod verdict;

pub use codec::AccessRecord;
pub use log::AccessLog;
pub use verdict::{Judgements, Verdict};
