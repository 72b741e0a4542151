//! Encoding of chunk records, and in-place access to their fields.
//!
//! A record has the fields that ranking reads for every candidate. Fields that all chunks of a file share are stored
//! once, in the file's source record. Text, documentation and relations are stored in the compressed table of contents
//! ([`crate::read::content`]).

use std::borrow::Cow;

use rkyv::munge::munge;
use rkyv::rancor;

use super::kind::ChunkType;
use super::new_chunk::NewChunk;
use super::packed::{self, PackedFields, are_lines};
use super::record::{ArchivedGovernance, ArchivedMetaValue, Chunk, GitState, Governance, MetaValue, StoredTokens};
use crate::error::StorageError;

/// Fields that all chunks of a file share.
#[derive(Debug, Clone, PartialEq, rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(crate) struct SourceRecord {
    path: String,
    language: String,
    /// The part of the file's chunk keys before the path.
    key_head: String,
}

/// The record of a chunk, as it is stored.
#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
pub(crate) struct StoredChunk {
    /// Id of the file's first chunk, which is the key of the file's source record.
    pub(crate) source: u32,
    /// See [`super::packed`].
    packed: Vec<u8>,
    rare: Option<Box<RareFields>>,
}

/// Fields that few chunks have.
#[derive(rkyv::Archive, rkyv::Serialize, rkyv::Deserialize)]
struct RareFields {
    definitions: Vec<String>,
    metadata: Vec<(String, MetaValue)>,
    governance: Option<Governance>,
    date: Option<i64>,
}

impl SourceRecord {
    /// Creates the source record of a file from the file's first chunk.
    pub(crate) fn from_first_chunk(first: &Chunk) -> Self {
        Self::new(&first.key, &first.path, &first.language)
    }

    /// Creates the source record of a file. `first_key` is the key of the file's first chunk.
    pub(crate) fn new(first_key: &str, path: &str, language: &str) -> Self {
        let base = key_base(first_key, path);
        let head = &base[..base.len().saturating_sub(path.len())];
        Self { path: path.to_owned(), language: language.to_owned(), key_head: head.to_owned() }
    }

    /// Whether a chunk can belong to this file.
    pub(crate) fn is_source_of(&self, chunk: &Chunk) -> bool {
        self.path == chunk.path && self.language == chunk.language
    }

    pub(crate) fn encode(&self) -> Result<Vec<u8>, StorageError> {
        let bytes = rkyv::to_bytes::<rancor::Error>(self);
        bytes.map(|bytes| bytes.into_vec()).map_err(|error| StorageError::encode("source record", &error))
    }

    /// Reads a record in place. Returns `None` if the bytes are invalid.
    pub(crate) fn decode(bytes: &[u8]) -> Option<&ArchivedSourceRecord> {
        rkyv::access::<ArchivedSourceRecord, rancor::Failure>(bytes).ok()
    }

    /// Returns the common prefix of the file's chunk keys.
    pub(crate) fn key_base(&self) -> String {
        [self.key_head.as_str(), &self.path].concat()
    }

    fn key_tail<'k>(&self, key: &'k str) -> Option<&'k str> {
        key.strip_prefix(self.key_head.as_str())?.strip_prefix(self.path.as_str())
    }
}

/// Returns the part of a key up to the end of the path, or an empty string if the key does not contain the path.
pub(crate) fn key_base<'k>(key: &'k str, path: &str) -> &'k str {
    key.find(path).map_or("", |at| &key[..at + path.len()])
}

/// Serialises the record of a chunk. `source_id` is the key of the file's source record.
///
/// # Errors
/// Fails if the chunk's line numbers are invalid, because [`decode`] would refuse the record.
pub(crate) fn encode(chunk: &NewChunk<'_>, source_id: u32, source: &SourceRecord) -> Result<Vec<u8>, StorageError> {
    if !are_lines(chunk.line_start, chunk.line_end) {
        return Err(StorageError::encode("chunk record", &format!("`{}` ends before it begins", chunk.key)));
    }
    let rare = RareFields {
        definitions: chunk.definitions.clone(),
        metadata: chunk.metadata.to_vec(),
        governance: chunk.governance.clone(),
        date: chunk.date,
    };
    let stored = StoredChunk {
        source: source_id,
        packed: packed::encode(chunk, source.key_tail(&chunk.key)),
        rare: (!rare.is_empty()).then(|| Box::new(rare)),
    };
    let bytes = rkyv::to_bytes::<rancor::Error>(&stored);
    bytes.map(|bytes| bytes.into_vec()).map_err(|error| StorageError::encode("chunk record", &error))
}

/// Reads a record in place. Returns `None` if the bytes are invalid.
///
/// Data from a file is validated, because the file may have been damaged since it was written.
pub(crate) fn decode(bytes: &[u8]) -> Option<&ArchivedStoredChunk> {
    let record = rkyv::access::<ArchivedStoredChunk, rancor::Failure>(bytes).ok()?;
    let fields = PackedFields::new(&record.packed)?;
    fields.numbers.is_valid(fields.git == GitState::Tracked).then_some(record)
}

/// Adds a number to the id of the source record in a record. Returns `None` if the bytes are invalid.
pub(crate) fn move_source(bytes: &mut [u8], by: u32) -> Option<()> {
    let record = rkyv::access_mut::<ArchivedStoredChunk, rancor::Failure>(bytes).ok()?;
    munge!(let ArchivedStoredChunk { source, .. } = record);
    let moved = source.to_native().checked_add(by)?;
    *source.unseal() = moved.into();
    Some(())
}

impl RareFields {
    fn is_empty(&self) -> bool {
        let Self { definitions, metadata, governance, date } = self;
        definitions.is_empty() && metadata.is_empty() && governance.is_none() && date.is_none()
    }
}

impl ArchivedSourceRecord {
    /// Path of the file.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }
}

/// The fields of a stored chunk that ranking needs, in place. [`crate::Snapshot::text`] returns the texts of the chunk,
/// and [`crate::Snapshot::relations`] returns its references.
#[derive(Clone, Copy)]
pub struct ChunkRecord<'s> {
    fields: PackedFields<'s>,
    rare: Option<&'s ArchivedRareFields>,
    source: &'s ArchivedSourceRecord,
}

impl<'s> ChunkRecord<'s> {
    /// Creates a record from the result of [`decode`]. Returns `None` if the bytes have changed since then.
    pub(crate) fn new(record: &'s ArchivedStoredChunk, source: &'s ArchivedSourceRecord) -> Option<Self> {
        Some(Self { fields: PackedFields::new(&record.packed)?, rare: record.rare.as_deref(), source })
    }

    /// Stable id, such as `code:src/users.py:User.save`; unique within an index.
    pub fn key(&self) -> Cow<'s, str> {
        let key = self.fields.key;
        if self.fields.has_whole_key { key.into() } else { [self.key_head(), self.path(), key].concat().into() }
    }

    /// The part of the file's keys before its path.
    pub(crate) fn key_head(&self) -> &'s str {
        &self.source.key_head
    }

    /// Type of the chunk.
    pub fn chunk_type(&self) -> ChunkType {
        self.fields.chunk_type
    }

    /// Path relative to the indexed root, with `/` as the separator.
    pub fn path(&self) -> &'s str {
        &self.source.path
    }

    /// Language name, such as `python`.
    pub fn language(&self) -> &'s str {
        &self.source.language
    }

    /// Simple name of the symbol or heading.
    pub fn name(&self) -> &'s str {
        self.fields.name
    }

    /// Name with its enclosing scopes.
    pub fn qualified_name(&self) -> &'s str {
        self.fields.qualified_name
    }

    /// First line, 1-based.
    pub fn line_start(&self) -> u32 {
        self.fields.line_start
    }

    /// Last line, 1-based and inclusive.
    pub fn line_end(&self) -> u32 {
        self.fields.line_end
    }

    /// Whether the symbol can be used from outside its file.
    pub fn exported(&self) -> bool {
        self.fields.exported
    }

    /// Names that are defined inside the chunk and have no separate chunk.
    pub fn definitions(&self) -> impl Iterator<Item = &'s str> + use<'s> {
        self.rare.into_iter().flat_map(|rare| rare.definitions.iter().map(|name| name.as_str()))
    }

    /// Tokens of name, scopes, path, signature and body; see [`StoredTokens`].
    pub fn code_tokens(&self) -> impl Iterator<Item = u16> + use<'s> {
        self.fields.numbers.code()
    }

    /// Tokens of the documentation.
    pub fn doc_tokens(&self) -> impl Iterator<Item = u16> + use<'s> {
        self.fields.numbers.doc()
    }

    /// The state of the lines in git.
    pub fn git_state(&self) -> GitState {
        self.fields.git
    }

    /// Unix seconds of the commits that are the origins of the lines; `None` unless the state is [`GitState::Tracked`].
    pub fn commit_times(&self) -> Option<Vec<i64>> {
        self.times().map(|(_, times)| times)
    }

    /// Unix seconds of the newest commit; `None` unless the state is [`GitState::Tracked`].
    pub fn newest_commit_time(&self) -> Option<i64> {
        self.times().map(|(newest, _)| newest)
    }

    /// Unix seconds of the conversation or pattern, if the type has a date.
    pub fn date(&self) -> Option<i64> {
        self.rare?.date.as_ref().map(|date| date.to_native())
    }

    /// Columns of plugin stages and of the built-in document formats, in the given order.
    pub fn metadata(&self) -> impl Iterator<Item = (&'s str, &'s ArchivedMetaValue)> + use<'s> {
        self.rare.into_iter().flat_map(|rare| rare.metadata.iter().map(|pair| (pair.0.as_str(), &pair.1)))
    }

    /// Tags and lifespan, for types that have them.
    pub fn governance(&self) -> Option<&'s ArchivedGovernance> {
        self.rare?.governance.as_ref()
    }

    /// Converts the record into a chunk. Fields that the record does not have are empty.
    pub(crate) fn to_chunk(self) -> Chunk {
        let native = |value: &ArchivedMetaValue| -> MetaValue {
            rkyv::deserialize::<MetaValue, rancor::Failure>(value).expect("a metadata value has no shared pointers")
        };
        let governance = self.governance().map(|governance| {
            rkyv::deserialize::<Governance, rancor::Failure>(governance).expect("a governance has no shared pointers")
        });
        Chunk {
            path: self.path().to_owned(),
            language: self.language().to_owned(),
            name: self.name().to_owned(),
            qualified_name: self.qualified_name().to_owned(),
            line_start: self.line_start(),
            line_end: self.line_end(),
            definitions: self.definitions().map(str::to_owned).collect(),
            metadata: self.metadata().map(|(name, value)| (name.to_owned(), native(value))).collect(),
            governance,
            exported: self.exported(),
            date: self.date(),
            tokens: StoredTokens { code: self.code_tokens().collect(), doc: self.doc_tokens().collect() },
            ..Chunk::empty(self.key().into_owned(), self.chunk_type())
        }
    }

    pub(crate) fn times(&self) -> Option<(i64, Vec<i64>)> {
        if self.git_state() == GitState::Tracked { self.fields.numbers.times() } else { None }
    }
}

impl std::fmt::Debug for ChunkRecord<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkRecord").field("key", &self.key()).finish_non_exhaustive()
    }
}
