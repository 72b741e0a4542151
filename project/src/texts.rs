//! Chunks and files, with their texts.

use std::collections::BTreeMap;

use aurora_confined::Directory;
use aurora_query::{FileState, LineToken, Searcher, file_state};
use aurora_stages::formats::extractor_of;
use aurora_storage::{Chunk, ChunkType, FileOutcome, FileRecord, Governance, MetaValue, StorageError};
use serde::Serialize;

use crate::highlighting;

/// A chunk with its text, for programs.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChunkReport {
    /// The chunk's key.
    pub id: String,
    /// Path below the root.
    pub file: String,
    /// Type of the chunk.
    #[serde(rename = "type")]
    pub chunk_type: ChunkType,
    /// Language of the file.
    pub language: String,
    /// Simple name.
    pub name: String,
    /// Qualified name.
    pub qualified_name: String,
    /// First line, from 1.
    pub line_start: u32,
    /// Last line, inclusive.
    pub line_end: u32,
    /// Declaration without the body.
    pub signature: String,
    /// Documentation text.
    pub doc: String,
    /// Full text, secrets masked.
    pub content: String,
    /// Key of the enclosing chunk.
    pub parent: Option<String>,
    /// Columns of custom stages.
    pub metadata: BTreeMap<String, MetaValue>,
    /// Tags and lifespan, if the type of the chunk has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governance: Option<Governance>,
}

impl From<Chunk> for ChunkReport {
    fn from(chunk: Chunk) -> Self {
        Self {
            id: chunk.key,
            file: chunk.path,
            chunk_type: chunk.chunk_type,
            language: chunk.language,
            name: chunk.name,
            qualified_name: chunk.qualified_name,
            line_start: chunk.line_start,
            line_end: chunk.line_end,
            signature: chunk.signature,
            doc: chunk.doc,
            content: chunk.text,
            parent: chunk.parent,
            metadata: chunk.metadata.into_iter().collect(),
            governance: chunk.governance,
        }
    }
}

/// A file of the index, for programs.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileReport {
    /// Path below the root.
    pub file: String,
    /// Language of the file; empty if it was not recognised.
    pub language: String,
    /// Size in bytes at the time of indexing.
    pub size: u64,
    /// Number of lines at the time of indexing.
    pub lines: u32,
    /// The reason why the file was skipped, if it was.
    pub skipped: Option<String>,
    /// Warnings from indexing the file.
    pub warnings: Vec<String>,
    /// State of the file on disk, compared with the index.
    pub file_state: FileState,
    /// Current text of the file on disk, with secrets masked; `None` if the file does not exist, was skipped, is too
    /// large, or is not text.
    pub content: Option<String>,
    /// Tokens of every line of `content`, each `[start, end, class]`, for syntax highlighting. Omitted if the text is
    /// too long, or if [`Self::highlight`] was not called.
    #[cfg_attr(feature = "schema", schema(value_type = Option<Vec<Vec<Vec<serde_json::Value>>>>, required = false))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<Vec<Vec<LineToken>>>,
    /// The file's chunks, in the order of the file.
    pub chunks: Vec<ChunkOutline>,
}

/// Maximum size of a highlighted text, in bytes. Nobody reads longer texts, and their tokens take several times as much
/// memory.
const MAX_HIGHLIGHTED_BYTES: usize = 2 << 20;

impl FileReport {
    /// Adds the tokens of the text, unless it is too long.
    pub fn highlight(&mut self) {
        let text = self.content.as_deref().filter(|text| text.len() <= MAX_HIGHLIGHTED_BYTES);
        self.tokens = text.map(|text| highlighting::tokens(text, &self.language));
    }
}

/// A chunk of a [`FileReport`].
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChunkOutline {
    /// The chunk's key.
    pub id: String,
    /// Type of the chunk.
    #[serde(rename = "type")]
    pub chunk_type: ChunkType,
    /// Qualified name.
    pub qualified_name: String,
    /// First line, from 1.
    pub line_start: u32,
    /// Last line, inclusive.
    pub line_end: u32,
}

/// Maximum size of a file whose text is read, in bytes.
const MAX_FILE_BYTES: u64 = 8 << 20;

/// Creates the report of an indexed file, with its text.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn file_report(searcher: &Searcher, file: &FileRecord) -> Result<FileReport, StorageError> {
    let mut chunks = Vec::with_capacity(file.chunks.len());
    for &id in &file.chunks {
        chunks.extend(searcher.snapshot().chunk(id)?.map(|chunk| ChunkOutline {
            id: chunk.key().into_owned(),
            chunk_type: chunk.chunk_type(),
            qualified_name: chunk.qualified_name().to_owned(),
            line_start: chunk.line_start(),
            line_end: chunk.line_end(),
        }));
    }
    let directory = searcher.root().and_then(|root| Directory::open_root(root).ok());
    let skipped = match &file.outcome {
        FileOutcome::Skipped(reason) => Some(reason.clone()),
        _ => None,
    };
    let content = directory.as_ref().filter(|_| skipped.is_none()).and_then(|root| text(root, file));
    Ok(FileReport {
        file: file.path.clone(),
        language: file.language.clone(),
        size: file.size,
        lines: file.lines,
        skipped,
        warnings: file.warnings.clone(),
        file_state: directory.map_or(FileState::Unknown, |root| file_state(&root, file)),
        content,
        tokens: None,
        chunks,
    })
}

/// Returns the decoded text of a file, with secrets masked as in the index.
fn text(directory: &Directory, file: &FileRecord) -> Option<String> {
    let bytes = directory.read(&file.path, MAX_FILE_BYTES).ok()?;
    let text = match extractor_of(&file.language) {
        None => aurora_encoding::decode(bytes)?.text,
        // A document has no text to show unless its format is UTF-8 text.
        Some(_) => String::from_utf8(bytes).ok()?,
    };
    Some(aurora_redact::masked(text))
}
