//! Posting lists: the chunks that contain a term, with its frequency in each field.

mod chunk_ids;
mod directory;
mod impact_groups;
mod impacts;
mod list;
mod part;
mod part_writer;
mod posting;
mod seek_cursor;
mod tf_column;
mod tf_vector;
mod tombstones;
mod window;

pub use impact_groups::{GROUPING, Grouping};
pub use list::Postings;
pub use part::ListPart;
pub(crate) use part::{MAX_PART_POSTINGS, MAX_SHORT_POSTINGS, count as count_part};
pub(crate) use part_writer::{PartLayout, encode as encode_part};
pub use posting::Posting;
pub use seek_cursor::SeekCursor;
pub use tf_vector::TfVector;
pub(crate) use tf_vector::{decode as decode_tf_vector, encode as encode_tf_vector, encoded_length};
pub use tombstones::Tombstones;
pub use window::{ImpactBound, ListWindow, TfCode, WindowPostings, frequency_bound, is_body_only};
