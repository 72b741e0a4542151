//! Segments: immutable dictionaries of terms and labels with their posting lists.

mod block;
mod inverter;
mod merge;
mod reader;
mod run;
mod writer;

pub(crate) use inverter::Inverter;
pub(crate) use merge::{Source, merge};
pub(crate) use reader::{SegmentReader, TermCursor};
pub(crate) use run::RunFile;
pub(crate) use writer::SegmentWriter;
