//! File rows: the state of each file when it was last indexed, and the file's chunks.

mod codec;
mod finder;
mod record;
mod rows;

pub use codec::{FileRow, key};
pub(crate) use codec::{decode, encode};
pub use finder::FileFinder;
pub(crate) use record::check_path;
pub use record::{FileOutcome, FileRecord, FileStamp};
