//! Chunk records: what is stored for every indexed function, section or phase.

mod kind;
mod numbers;
mod packed;
mod record;
mod records;
mod stored;

pub use aurora_inverted::ChunkId;
pub use kind::{ChunkType, UnknownChunkType};
pub(crate) use numbers::{Numbers, encode as encode_numbers};
pub use packed::GitState;
pub(crate) use packed::are_lines;
pub use record::{
    ArchivedGovernance, ArchivedMetaValue, Chunk, ChunkText, Complexity, GitHistory, GitSignal, Governance,
    HistoryTier, MetaValue, Relations, TokenSets,
};
pub(crate) use records::Records;
pub use stored::ChunkRecord;
pub(crate) use stored::{ArchivedSourceRecord, ArchivedStoredChunk, SourceRecord, decode, encode, key_base};
