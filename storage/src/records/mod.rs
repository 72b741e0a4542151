//! Records that are the truth of something, and not made from files: durable, atomic, and checked when they are read.
//!
//! A store is an LMDB environment of its own, with tables of keys and values. Every value ends in a checksum of its table, key
//! and bytes, and a row that every transaction writes says which one it was, so that a file that was damaged or rolled back is
//! an error and no answer.

mod format;
mod reader;
mod store;
mod writer;

pub(crate) use format::RecordFormat;
pub use format::RecordTable;
pub use reader::{Record, RecordReader, Records};
pub use store::RecordStore;
pub use writer::RecordWriter;
