//! Input of the writer for one chunk.

use std::ops::Deref;

use super::record::{Chunk, ChunkHistory, MetaValue, StoredTokens};

/// A chunk to store, borrowed from the stages that produce its parts. [`Deref`] gives access to [`NewChunk::chunk`].
/// The other fields replace the fields of that chunk with the same names.
#[derive(Debug, Clone, Copy)]
pub struct NewChunk<'a> {
    /// The data derived from the text.
    pub chunk: &'a Chunk,
    /// The history of the lines in git.
    pub git: &'a ChunkHistory,
    /// Tokens for late interaction.
    pub tokens: &'a StoredTokens,
    /// Columns that plugin stages and the built-in document formats have written.
    pub metadata: &'a [(String, MetaValue)],
    /// The embedding, if there is one.
    pub vector: Option<&'a [f32]>,
}

impl Deref for NewChunk<'_> {
    type Target = Chunk;

    fn deref(&self) -> &Chunk {
        self.chunk
    }
}

impl<'a> From<&'a Chunk> for NewChunk<'a> {
    fn from(chunk: &'a Chunk) -> Self {
        Self { chunk, git: &chunk.git, tokens: &chunk.tokens, metadata: &chunk.metadata, vector: None }
    }
}

impl<'a> From<&'a (Chunk, Option<Vec<f32>>)> for NewChunk<'a> {
    fn from((chunk, vector): &'a (Chunk, Option<Vec<f32>>)) -> Self {
        Self { vector: vector.as_deref(), ..Self::from(chunk) }
    }
}
