//! Posting lists: which chunks hold a term, and how often in which field.

mod batch;
mod bound;
mod dead;
mod docs;
mod frequencies;
mod list;
mod part;
mod posting;
mod rows;

pub(crate) use batch::Words;
pub use batch::{FieldColumns, PostingBatch};
pub use bound::BlockBound;
pub(crate) use dead::Dead;
pub(crate) use frequencies::{decode as decode_frequencies, encode as encode_frequencies, encoded_length};
pub use list::{Postings, PostingsCursor};
pub(crate) use part::{Part, count as count_part, encode as encode_part};
pub(crate) use posting::Posting;
