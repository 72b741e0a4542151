//! Posting lists: the chunks that contain a term, with its frequency in each field.
//!
//! A list is stored as one or more parts. A part contains the ids of its chunks and, for each chunk, a tf vector: the
//! term's frequency in each field. The tf vectors of a part are its tf column. The most frequent vectors of a part are
//! in its tf dictionary, and a posting with such a vector has the code of the vector, its index in the dictionary. A
//! vector that is not in the dictionary is an exception, which is stored in full.
//!
//! For each window of a long part, impact bounds limit the scores of the postings.

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
