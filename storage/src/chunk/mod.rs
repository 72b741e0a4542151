//! Chunk records: what is stored for every indexed function, section or phase.

mod codec;
mod kind;
mod record;
mod records;

pub use aurora_inverted::ChunkId;
pub(crate) use codec::{decode, encode};
pub use kind::{ChunkType, UnknownChunkType};
pub use record::{
    ArchivedChunk, ArchivedGitHistory, ArchivedGitSignal, ArchivedMetaValue, Chunk, Complexity, GitHistory, GitSignal,
    Governance, HistoryTier, MetaValue, TokenSets,
};
pub(crate) use records::Records;
