//! Stores of records that cannot be rebuilt from files. Writes are durable and atomic, and records are checked when
//! they are read.
//!
//! A store is a separate LMDB environment with tables of keys and values. Every value ends in a checksum of its table,
//! key and bytes. Every transaction also writes its number to a row. A damaged or rolled back file therefore results in
//! an error and not in wrong data.

pub(crate) mod access;
pub(crate) mod annotations;
mod format;
mod reader;
mod store;
mod writer;

pub(crate) use format::RecordFormat;

pub use format::RecordTable;
pub use reader::{Record, RecordReader};
pub use store::RecordStore;
pub use writer::RecordWriter;
