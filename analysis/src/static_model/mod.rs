//! A table of token vectors trained on code: a text's vector is the sum of its tokens' vectors, scaled to unit length.
//!
//! The file, little-endian throughout:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `AURSTAT1` |
//! | 3 × 4 | dimensions, rows, length of the JSON |
//! | | JSON: name, version, how it was trained and how well it did |
//! | | a token string for every row: `u16` length, UTF-8; tokens that go on inside a word begin with `##` |
//! | | zeros up to a multiple of 64 from the start of the file |
//! | rows × 4 | `f32` scale of every row |
//! | rows × dimensions | `i8` values, row after row |

mod table;
mod tokenizer;

use std::borrow::Cow;
use std::path::PathBuf;

use serde::Deserialize;

use crate::embedder::{EmbedError, Embedder, STATIC};
use crate::model_dir::ModelError;
use crate::passage::Passage;
use table::Table;
pub(crate) use table::normalise;
use tokenizer::{Vocabulary, pieces};

const MAGIC: &[u8; 8] = b"AURSTAT1";
/// Trained on code and documentation in six languages; `xtask/model` says how, the file's JSON how well it did.
const BUILT_IN: &[u8] = include_bytes!("../../models/static-code-v1.bin");
const ALIGNMENT: usize = 64;

/// Tokens of a passage or query that are looked at; what follows is ignored.
const TOKEN_BUDGET: usize = 256;

/// An [`Embedder`] that looks token vectors up in a table and adds them.
pub struct StaticModel {
    bytes: Cow<'static, [u8]>,
    id: String,
    vocabulary: Vocabulary,
    table: Table,
}

/// What the program reads of a file's JSON; the rest is for people.
#[derive(Deserialize)]
struct About {
    name: String,
}

impl StaticModel {
    /// The model inside the program.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] when the program's copy is not whole.
    pub fn built_in() -> Result<Self, ModelError> {
        let mut model = Self::from_bytes(BUILT_IN)?;
        // Pipelines call it by its place in the program, whatever the file is called.
        if let Some((_, digest)) = model.id.split_once('@') {
            model.id = format!("{STATIC}@{digest}");
        }
        Ok(model)
    }

    /// A model from the bytes of its file, which stay where they are; nothing but an index of the tokens is built.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] when the bytes are not such a file, whole and consistent.
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, ModelError> {
        let bytes = bytes.into();
        Self::parse(bytes).map_err(|reason| ModelError::Damaged { path: PathBuf::from(STATIC), reason })
    }

    fn parse(bytes: Cow<'static, [u8]>) -> Result<Self, String> {
        if !bytes.starts_with(MAGIC) {
            return Err("it does not start with AURSTAT1".to_owned());
        }
        let number = |at: usize| {
            let field = bytes.get(at..at + 4).and_then(|field| field.try_into().ok());
            field.map(|field| u32::from_le_bytes(field) as usize).ok_or("it ends inside its header")
        };
        let (dimensions, rows, json) = (number(8)?, number(12)?, number(16)?);
        if dimensions == 0 || rows == 0 || rows.saturating_mul(dimensions + 6) > bytes.len() {
            return Err(format!("{rows} rows of {dimensions} dimensions do not fit its {} bytes", bytes.len()));
        }
        let json = bytes.get(20..20 + json).ok_or("it ends inside its JSON")?;
        let about: About = serde_json::from_slice(json).map_err(|error| format!("its JSON: {error}"))?;
        let (vocabulary, end) = Vocabulary::read(&bytes, 20 + json.len(), rows)?;
        let start = end.next_multiple_of(ALIGNMENT);
        let table = Table::new(dimensions, rows, start, bytes.len())?;
        // Header, tokens and scales: two trainings never share them, and the megabytes of values need not be touched.
        let digest = blake3::hash(&bytes[..start + rows * 4]).to_hex();
        let id = format!("{}@{}", about.name, &digest[..16]);
        Ok(Self { id, vocabulary, table, bytes })
    }

    /// The tokens of a text as they stand in the vocabulary, at most `limit`.
    ///
    /// Pieces of identifiers (`getUserData` → `get`, `user`, `data`), lower-cased, then greedy longest-match WordPiece;
    /// pieces with characters outside ASCII, longer than 64 bytes, or not in the vocabulary have none.
    pub fn tokens(&self, text: &str, limit: usize) -> Vec<&str> {
        let mut rows = Vec::new();
        self.rows(text, limit, &mut rows);
        rows.iter()
            .map(|&row| std::str::from_utf8(self.vocabulary.token(&self.bytes, row)).unwrap_or_default())
            .collect()
    }

    /// Adds rows of the tokens of `text` to `rows` until there are `limit` in it.
    fn rows(&self, text: &str, limit: usize, rows: &mut Vec<u32>) {
        if rows.len() >= limit {
            return;
        }
        pieces(text, &mut |piece| {
            self.vocabulary.word_piece(&self.bytes, piece, rows);
            rows.len() < limit
        });
        rows.truncate(limit);
    }

    /// `normalise(normalise(full) + normalise(heading))`, with the two texts of [`Passage`]. Both begin with kind and
    /// name, so these are added once.
    fn embed_passage(&self, passage: &Passage<'_>, rows: &mut Vec<u32>) -> Vec<f32> {
        rows.clear();
        for text in [passage.kind, passage.qualified_name] {
            self.rows(text, TOKEN_BUDGET, rows);
        }
        let mut heading = vec![0f32; self.table.dimensions()];
        self.table.add(&self.bytes, rows, &mut heading);
        let mut full = heading.clone();
        let shared = rows.len();
        self.rows(passage.signature, TOKEN_BUDGET, rows);
        self.table.add(&self.bytes, &rows[shared..], &mut heading);
        rows.truncate(shared);
        for text in [passage.extra_signature(), passage.extra_doc(), passage.body] {
            self.rows(text, TOKEN_BUDGET, rows);
        }
        self.table.add(&self.bytes, &rows[shared..], &mut full);
        normalise(&mut heading);
        normalise(&mut full);
        full.iter_mut().zip(&heading).for_each(|(full, heading)| *full += heading);
        normalise(&mut full);
        full
    }
}

impl Embedder for StaticModel {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.table.dimensions()
    }

    fn embed(&self, passages: &[Passage<'_>]) -> Vec<Result<Vec<f32>, EmbedError>> {
        let mut rows = Vec::with_capacity(TOKEN_BUDGET);
        passages.iter().map(|passage| Ok(self.embed_passage(passage, &mut rows))).collect()
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let mut rows = Vec::new();
        self.rows(text, TOKEN_BUDGET, &mut rows);
        let mut vector = vec![0f32; self.table.dimensions()];
        self.table.add(&self.bytes, &rows, &mut vector);
        normalise(&mut vector);
        Ok(vector)
    }
}

#[cfg(test)]
mod tests;
