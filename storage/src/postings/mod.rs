//! Posting lists: which chunks hold a term, and how often in which field.

mod corners;
mod dead;
mod directory;
mod docs;
mod frequencies;
mod groups;
mod list;
mod part;
mod posting;
mod probe;
mod rows;
mod window;

pub(crate) use dead::Dead;
pub(crate) use frequencies::{decode as decode_frequencies, encode as encode_frequencies, encoded_length};
pub use list::Postings;
pub(crate) use part::{LONGEST, Part, SHORT, Shape, count as count_part, encode as encode_part};
pub(crate) use posting::Posting;
pub use probe::Probe;
pub use window::{Coded, Corner, Row, WINDOW, Window, WindowPostings, is_body_alone, most_of};
