//! Records of primary data, which cannot be rebuilt from files: durable, atomic, and checked when they are read.
//!
//! A store is a separate LMDB environment with tables of keys and values. Every value ends in a checksum of its table,
//! key and bytes. A row that every transaction writes contains the number of the transaction, so that a damaged or
//! rolled back file results in an error instead of a wrong answer.

pub(crate) mod access;
pub(crate) mod annotations;
mod format;
mod reader;
mod store;
mod writer;

pub(crate) use format::RecordFormat;

pub use format::RecordTable;
pub use reader::{Record, RecordReader, Records};
pub use store::RecordStore;
pub use writer::RecordWriter;
