//! What an index of memories brings to a search beside its chunks: who may find an entry, how it ages, and what it is linked to.

use std::fmt;

use aurora_storage::{AccessRecord, ArchivedMetaValue, ChunkRecord, ChunkType, Snapshot, StorageError, UserDirectory};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

/// Columns of the chunks of memories.
pub mod column {
    /// Who may find an entry.
    pub const SCOPE: &str = "scope";
    /// Name of the session.
    pub const SESSION: &str = "session";
    /// The author of a turn.
    pub const SPEAKER: &str = "speaker";
    /// Place of a turn in its session, from 1.
    pub const ORDER: &str = "order";
    /// The turn that a turn answers.
    pub const REPLY_TO: &str = "reply_to";
    /// Tags. Those of code are annotations.
    pub const TAGS: &str = "tags";
    /// Ids of the entries that an entry is linked to.
    pub const LINKS: &str = "links";
    /// Time of the last change, in Unix seconds.
    pub const EDITED: &str = "edited";
    /// Retention rules.
    pub const RULES: &str = "retention_rules";
    /// Subject of the entry: `security`, `performance`, ….
    pub const DOMAIN: &str = "domain";
    /// Purpose of the entry.
    pub const ROLE: &str = "semantic_role";
    /// Whether the score marks the entry as a pattern.
    pub const PATTERN: &str = "is_pattern";
    /// Score of a reasoning pattern, or confidence of knowledge.
    pub const SCORE: &str = "score";
    /// Every column.
    pub const ALL: [&str; 13] =
        [SCOPE, SESSION, SPEAKER, ORDER, REPLY_TO, TAGS, LINKS, EDITED, RULES, DOMAIN, ROLE, PATTERN, SCORE];
}

/// Directory of the entries of a memory among its indexed paths.
pub const ENTRIES_PREFIX: &str = "@@memory/";

/// The rules of an index of memories.
pub trait Retention: Send + Sync {
    /// The chunks that a search may find; `None` for all.
    ///
    /// # Errors
    /// When the index cannot be read.
    fn visible(&self, snapshot: &Snapshot) -> Result<Option<RoaringBitmap>, StorageError>;

    /// How a chunk has aged at `now`, in Unix seconds, given what was noted of it in earlier searches.
    fn aging(&self, chunk: ChunkRecord<'_>, access: Option<&AccessRecord>, now: i64) -> Aging;
}

/// How a chunk has aged.
#[derive(Debug, Clone, PartialEq)]
pub struct Aging {
    /// Whether it is archived: searches do not find it.
    pub is_expired: bool,
    /// How its activation falls.
    pub forgetting: Forgetting,
    /// What its score is multiplied by, 0..=1.
    pub weight: f32,
    /// Why, in words.
    pub reason: String,
}

/// How a chunk is forgotten.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Forgetting {
    /// With the logarithm of the days since the last use.
    #[default]
    Logarithmic,
    /// That, and by half with every half-life of further disuse.
    Exponential,
    /// Not at all.
    None,
}

/// Where a result comes from.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The files of a project.
    #[default]
    Code,
    /// Reasoning patterns, knowledge, notes and turns of conversations.
    Memory,
    /// Conversation logs.
    Log,
}

impl Source {
    /// Every source.
    pub const ALL: [Self; 3] = [Self::Code, Self::Memory, Self::Log];

    /// Its name in results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Memory => "memory",
            Self::Log => "log",
        }
    }

    /// That of a chunk in an index of memories, or in one of a project.
    pub(crate) fn of(chunk_type: ChunkType, path: &str, is_memory: bool) -> Self {
        match chunk_type {
            _ if is_memory => Self::Memory,
            ChunkType::Knowledge if path.starts_with(UserDirectory::CONVERSATIONS_PREFIX) => Self::Log,
            kind if kind.is_memory() => Self::Memory,
            _ => Self::Code,
        }
    }

    /// The scope of its chunks that do not say theirs.
    pub(crate) fn scope(self) -> &'static str {
        match self {
            Self::Code | Self::Memory => "project",
            Self::Log => "user",
        }
    }

    /// Whether chunks of a type in an index come from it.
    pub(crate) fn holds(self, chunk_type: ChunkType, is_memory: bool) -> bool {
        match self {
            Self::Memory if is_memory => true,
            _ if is_memory => false,
            Self::Log => chunk_type == ChunkType::Knowledge,
            Self::Memory => chunk_type.is_memory() && chunk_type != ChunkType::Knowledge,
            Self::Code => !chunk_type.is_memory(),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The text of a column of a chunk.
pub(crate) fn text<'c>(chunk: ChunkRecord<'c>, column: &str) -> Option<&'c str> {
    chunk.metadata().find_map(|(name, value)| match value {
        ArchivedMetaValue::String(text) if name == column => Some(text.as_str()),
        _ => None,
    })
}

/// The texts of a column of a chunk.
pub(crate) fn texts<'c>(chunk: ChunkRecord<'c>, column: &str) -> Vec<&'c str> {
    let found = chunk.metadata().find_map(|(name, value)| match value {
        ArchivedMetaValue::Strings(texts) if name == column => {
            Some(texts.iter().map(|text| text.as_str()).collect::<Vec<_>>())
        }
        _ => None,
    });
    found.unwrap_or_default()
}
