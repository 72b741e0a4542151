//! Segments: immutable dictionaries of terms and labels with their posting lists.

mod block;
mod inverter;
mod merge;
mod reader;
mod run;
mod source;
mod walk;
mod writer;

pub use inverter::Inverter;
pub use merge::{MergeError, MergeSource, merge};
pub use reader::{SegmentReader, TermCursor, TermEntry};
pub use run::RunReader;
pub use source::{BlockCursor, KeyedBlock, SegmentSink, SegmentSource};
pub use walk::Walk;
pub use writer::{SegmentTotals, SegmentWriter};
