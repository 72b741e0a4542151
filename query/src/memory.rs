//! Properties of the index of a memory that a search uses: the visibility of entries, their ageing and their links.

use aurora_storage::{AccessRecord, ArchivedMetaValue, ChunkRecord, ChunkType, Snapshot, StorageError, UserDirectory};
use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};
use strum::VariantArray;

/// Columns of the chunks of entries.
pub mod column {
    /// Scope of an entry, which determines who can find it.
    pub const SCOPE: &str = "scope";
    /// Name of the session.
    pub const SESSION: &str = "session";
    /// Author of a turn.
    pub const SPEAKER: &str = "speaker";
    /// Position of a turn in its session, from 1.
    pub const ORDER: &str = "order";
    /// The turn to which a turn replies.
    pub const REPLY_TO: &str = "reply_to";
    /// Tags. Tags of code are stored as annotations instead.
    pub const TAGS: &str = "tags";
    /// Ids of the entries to which an entry links.
    pub const LINKS: &str = "links";
    /// Time of the last change, in Unix seconds.
    pub const EDITED: &str = "edited";
    /// Retention rules.
    pub const RULES: &str = "retention_rules";
    /// Subject of the entry: `security`, `performance`, ….
    pub const DOMAIN: &str = "domain";
    /// Purpose of the entry.
    pub const ROLE: &str = "semantic_role";
    /// Whether the score of the entry is high enough for a pattern.
    pub const PATTERN: &str = "is_pattern";
    /// Score of a reasoning pattern, or confidence of knowledge.
    pub const SCORE: &str = "score";
    /// Every column.
    pub const ALL: [&str; 13] =
        [SCOPE, SESSION, SPEAKER, ORDER, REPLY_TO, TAGS, LINKS, EDITED, RULES, DOMAIN, ROLE, PATTERN, SCORE];
}

/// Path prefix of entries of memory.
pub const ENTRIES_PREFIX: &str = "@@memory/";

/// Rules for the visibility and ageing of the entries in the index of a memory.
pub trait Retention: Send + Sync {
    /// Returns the chunks that a search may find; `None` for all.
    ///
    /// # Errors
    /// Fails if the index cannot be read.
    fn visible(&self, snapshot: &Snapshot) -> Result<Option<RoaringBitmap>, StorageError>;

    /// Returns the effects of a chunk's age at the time `now`, in Unix seconds. `access` is the chunk's record in the
    /// access log.
    fn aging(&self, chunk: ChunkRecord<'_>, access: Option<&AccessRecord>, now: i64) -> Aging;
}

/// The effects of a chunk's age on a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Aging {
    /// Whether the chunk is archived, so that searches do not find it.
    pub is_expired: bool,
    /// The way in which the activation of the chunk decays.
    pub forgetting: Forgetting,
    /// Factor by which the score is multiplied, 0..=1.
    pub weight: f32,
    /// The reason, in words.
    pub reason: String,
}

/// The way in which the activation of an unused chunk decays.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Forgetting {
    /// With the logarithm of the days since the last use.
    #[default]
    Logarithmic,
    /// Like [`Forgetting::Logarithmic`], but after a period of disuse the activation also halves with every half-life.
    Exponential,
    /// Not at all.
    None,
}

/// The source of a result.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::IntoStaticStr, VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Source {
    /// The files of a project.
    #[default]
    Code,
    /// Reasoning patterns, knowledge, notes and turns of conversations.
    Memory,
    /// Conversation logs.
    #[cfg_attr(feature = "clap", value(name = "logs", alias = "log"))]
    Log,
}

impl Source {
    /// Every source.
    pub const ALL: &[Self] = Self::VARIANTS;

    /// The name in results.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Returns the source of a chunk. `is_memory` is true if the chunk belongs to the index of a memory.
    pub(crate) fn for_chunk(chunk_type: ChunkType, path: &str, is_memory: bool) -> Self {
        match chunk_type {
            _ if is_memory => Self::Memory,
            ChunkType::Knowledge if path.starts_with(UserDirectory::CONVERSATIONS_PREFIX) => Self::Log,
            kind if kind.is_memory() => Self::Memory,
            _ => Self::Code,
        }
    }

    /// Default scope of the chunks that do not store a scope.
    pub(crate) fn scope(self) -> &'static str {
        match self {
            Self::Code | Self::Memory => "project",
            Self::Log => "user",
        }
    }

    /// Returns whether chunks of a type can come from this source. `is_memory` is true for the index of a memory
    /// and false for the index of a project.
    pub(crate) fn provides(self, chunk_type: ChunkType, is_memory: bool) -> bool {
        match self {
            Self::Memory if is_memory => true,
            _ if is_memory => false,
            Self::Log => chunk_type == ChunkType::Knowledge,
            Self::Memory => chunk_type.is_memory() && chunk_type != ChunkType::Knowledge,
            Self::Code => !chunk_type.is_memory(),
        }
    }
}

/// Returns the text that a chunk stores in a column.
pub(crate) fn text<'c>(chunk: ChunkRecord<'c>, column: &str) -> Option<&'c str> {
    chunk.metadata().find_map(|(name, value)| match value {
        ArchivedMetaValue::String(text) if name == column => Some(text.as_str()),
        _ => None,
    })
}

/// Returns the list of texts that a chunk stores in a column; empty without a list.
pub(crate) fn texts<'c>(chunk: ChunkRecord<'c>, column: &str) -> Vec<&'c str> {
    let found = chunk.metadata().find_map(|(name, value)| match value {
        ArchivedMetaValue::Strings(texts) if name == column => {
            Some(texts.iter().map(|text| text.as_str()).collect::<Vec<_>>())
        }
        _ => None,
    });
    found.unwrap_or_default()
}
