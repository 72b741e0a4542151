//! Segments: immutable dictionaries of terms and labels with their posting lists.

mod block;
mod inverter;
mod merge;
mod reader;
mod run;
mod walk;
mod writer;

pub(crate) use inverter::Inverter;
pub(crate) use merge::{MergeSource, merge};
pub(crate) use reader::{SegmentReader, TermCursor};
pub(crate) use run::RunFile;
pub use walk::Walk;
pub(crate) use writer::SegmentWriter;
