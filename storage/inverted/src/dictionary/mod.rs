//! Segments: immutable dictionaries of terms and labels with their posting lists.

mod block;
mod inverter;
mod merge;
mod reader;
mod run;
mod source;
mod walk;
mod writer;

/// First byte of labels: entries of the dictionary whose postings have no frequencies. No term begins with it.
pub const LABEL_PREFIX: u8 = 0x01;

pub use inverter::Inverter;
pub use merge::{MergeError, MergeSource, merge};
pub use reader::{SegmentReader, TermCursor, TermEntry};
pub use run::RunReader;
pub use source::{BlockCursor, KeyedBlock, SegmentSink, SegmentSource};
pub use walk::Walk;
pub use writer::{SegmentTotals, SegmentWriter};
