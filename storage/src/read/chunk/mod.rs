//! Chunk records: the stored data of every indexed function, section or phase.

mod kind;
mod new_chunk;
mod numbers;
mod packed;
mod record;
mod records;
mod stored;

pub use aurora_inverted::ChunkId;
pub use kind::{ChunkType, UnknownChunkType};
pub use new_chunk::NewChunk;
pub(crate) use numbers::{Numbers, encode as encode_numbers};
pub(crate) use packed::are_lines;
pub(crate) use record::last_component;
pub use record::{
    ArchivedGovernance, ArchivedMetaValue, Binding, Chunk, ChunkHistory, ChunkText, Complexity, GitHistory, GitState,
    Governance, HistoryTier, MetaValue, Relations, StoredTokens, module_name,
};
pub(crate) use records::Records;
pub use stored::ChunkRecord;
pub(crate) use stored::{
    ArchivedSourceRecord, ArchivedStoredChunk, SourceRecord, decode, encode, key_base, move_source,
};
