//! An inverted index. It records which chunks contain a term, how often and in which fields, and finds the best chunks
//! for a weighted sum of terms.
//!
//! An [`Inverter`] turns chunks into sorted runs, and [`merge`] combines runs and older segments into a new segment:
//! dictionary blocks and posting lists. A [`SegmentReader`] finds the entry of a term, and [`Postings`] joins the parts
//! of its list over all segments. [`top_k`] finds the best chunks by BM25F with MaxScore. Its result is the same, bit
//! for bit, as if every posting were scored. `docs/internals/inverted-index.md` explains the structures.
//!
//! A [`SegmentSource`] supplies the bytes of a segment, and a [`SegmentSink`] takes the bytes of a new segment. A
//! [`Collection`] supplies all other data that a search reads. `src/tests/memory.rs` implements these traits in memory.
//! Weights are parameters of a search ([`Bm25Config`]); the index does not depend on them.
//!
//! Deliberately absent: files, pages and transactions (`aurora-storage`), text analysis (`aurora-analysis`), term
//! positions, and deletion within a segment. Deleted chunks have [`Tombstones`] until a merge drops their postings.
//!
//! ```
//! # mod memory { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/tests/memory.rs")); }
//! # fn main() -> Result<(), memory::DamagedSegment> {
//! use aurora_inverted::{Bm25Config, ChunkId, Field, TermVector};
//! // An implementation of the traits for an index in memory.
//! use memory::MemoryIndex;
//!
//! let chunks = [
//!     ("cache.rs:flush", TermVector::builder().add(Field::Name, "flush").add(Field::Body, "cache").finish()),
//!     ("cache.rs:read", TermVector::builder().add(Field::Name, "read").add(Field::Body, "cache").finish()),
//!     ("log.rs:write", TermVector::builder().add(Field::Name, "write").add(Field::Body, "flush").finish()),
//! ];
//! let mut index = MemoryIndex::new(chunks)?;
//! assert_eq!(index.postings("cache")?.doc_frequency(), 2);
//!
//! // The name counts three times as much as the body.
//! let config = Bm25Config { k1: 1.5, b: 0.75, fields: [3.0, 2.0, 2.5, 2.0, 1.0, 1.0, 1.0] };
//! let best = index.search(&["flush", "cache"], &config, 2, None)?;
//! assert_eq!(best[0].0, "cache.rs:flush");
//!
//! index.delete([ChunkId(0)]);
//! assert_eq!(index.postings("cache")?.doc_frequency(), 1);
//! assert_eq!(index.search(&["flush"], &config, 2, None)?[0].0, "log.rs:write");
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod bm25f;
mod chunk_id;
mod collection;
mod dictionary;
mod field;
mod group;
mod lengths;
mod maxscore;
mod postings;
mod search;
mod slots;
mod terms;

#[cfg(test)]
extern crate self as aurora_inverted;
#[cfg(test)]
#[path = "tests/memory.rs"]
mod memory;

pub use bm25f::{Bm25Config, FieldScorer, idf};
pub use chunk_id::{ChunkId, WINDOW};
pub use collection::Collection;
pub use dictionary::{
    BlockCursor, DamagedRun, EncodedLists, Inverter, KeyedBlock, ListEncoder, MergeError, MergeSource, Run, RunIndex,
    RunReader, RunWriter, SegmentReader, SegmentSink, SegmentSource, SegmentTotals, SegmentWriter, TermCursor,
    TermEntry, TermRange, Walk, encode_list, merge, merge_runs,
};
pub use field::{FIELDS, Field};
pub use group::GroupScorer;
pub use lengths::{
    FieldLengths, LengthCodes, LengthColumns, add_lengths, encode_lengths, length_code, length_from_code,
};
pub use postings::{
    GROUPING, Grouping, ImpactBound, ListPart, ListWindow, Posting, Postings, SeekCursor, TfCode, TfVector, Tombstones,
    WindowPostings, frequency_bound, is_body_only,
};
pub use search::{SearchedIndex, WeightedPostings, keep_best, score, top_k, top_k_of_all};
pub use terms::{HashedTerm, LABEL_PREFIX, TermVector, TermVectorBuilder, is_term, normalise};
