//! When chunks were shown to someone: a small environment of its own, apart from the index.

mod codec;
mod log;

pub use codec::AccessRecord;
pub use log::AccessLog;
