//! Segments: immutable dictionaries of terms and labels with their posting lists.

mod block;
mod encoded_lists;
mod inverter;
mod merge;
mod reader;
mod run;
mod source;
mod walk;
mod writer;

pub use encoded_lists::{EncodedLists, ListEncoder};
pub use inverter::Inverter;
pub use merge::{MergeError, MergeSource, TermRange, merge, merge_runs};
pub use reader::{SegmentReader, TermCursor, TermEntry};
pub use run::{DamagedRun, Run, RunIndex, RunReader, RunWriter, encode_list};
pub use source::{BlockCursor, KeyedBlock, SegmentSink, SegmentSource};
pub use walk::Walk;
pub use writer::{SegmentTotals, SegmentWriter};
