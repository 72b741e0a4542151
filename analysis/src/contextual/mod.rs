//! A small transformer encoder that compares a query with passages token by token, each in its context (late interaction: Khattab and
//! Zaharia, "ColBERT", 2020), where [`StaticModel`] knows only the tokens themselves.
//!
//! Its tokens are those of the embedded static model. Matrices are signed bytes with a scale for each column, activations unsigned
//! bytes with a scale for each token, so that sums are whole numbers and the same on every processor.
//!
//! The file, little-endian throughout:
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `AURCTX01` |
//! | 4 | length of the JSON |
//! | | JSON: name, shape, how it was trained and how well it did |
//! | | zeros up to a multiple of 64 from the start of the file |
//! | | `f32` numbers: scales of the token table; positions; two segments; norm; for each layer scales and biases of its four matrices and two norms; scales of the projection; weights of words and their bias; shares of the two parts of a score |
//! | | zeros up to a multiple of 64 |
//! | | bytes: token table, row after row; the layers' matrices and the projection in the panels of [`aurora_kernels::byte_products`] |
//!
//! The last two rows of the token table are the marks `[CLS]` and `[SEP]` around a text.

mod encoder;
mod file;
mod linear;

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use rayon::prelude::*;

use crate::built_in::read_once;
use crate::inference_error::InferenceError;
use crate::model_error::ModelError;
use crate::passage::Passage;
use crate::reranker::{AUTO, Reranker};
use crate::static_model::{PassageTokens, StaticModel};
use encoder::{Encoder, Segment};

static BUILT_IN: &[u8] = include_bytes!("../../models/context-code-v1.bin");

/// Most tokens of a path, of the enclosing scopes, of the documentation, and of a query.
const PLACE_TOKENS: usize = 8;
const SCOPE_TOKENS: usize = 8;
const DOC_TOKENS: usize = 16;
const QUERY_TOKENS: usize = 22;
/// The marks around a text.
const MARKS: usize = 2;

/// A [`Reranker`] that needs no file.
pub struct ContextualReranker {
    id: String,
    tokens: Arc<StaticModel>,
    encoder: Encoder,
}

impl ContextualReranker {
    /// The model inside the program, read once per process.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] when the program's copy is not whole.
    pub fn built_in() -> Result<Arc<Self>, ModelError> {
        static MODEL: OnceLock<Arc<ContextualReranker>> = OnceLock::new();
        read_once(&MODEL, || Self::from_bytes(BUILT_IN))
    }

    /// A model from the bytes of its file, over the tokens of the embedded static model.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] when the bytes are not such a file, whole and consistent.
    pub fn from_bytes(bytes: impl Into<Cow<'static, [u8]>>) -> Result<Self, ModelError> {
        let damaged = |reason: String| ModelError::Damaged { path: PathBuf::from(AUTO), reason };
        let bytes = bytes.into();
        let tokens = StaticModel::built_in()?;
        let encoder = file::read(bytes).map_err(damaged)?;
        // Header, scales and everything else that is a float: two trainings never share them.
        let digest = blake3::hash(encoder.floats()).to_hex();
        if encoder.rows() != tokens.vocabulary_len() + MARKS {
            return Err(damaged(format!(
                "it has {} tokens, the static model {}",
                encoder.rows(),
                tokens.vocabulary_len()
            )));
        }
        Ok(Self { id: format!("{AUTO}@{}", &digest[..16]), tokens, encoder })
    }

    fn query_tokens(&self, query: &str) -> Vec<u32> {
        let mut rows = Vec::new();
        self.tokens.rows(query, QUERY_TOKENS, &mut rows);
        self.marked(rows)
    }

    /// The ends of path and scopes, the beginning of the documentation, and of the code what fits.
    fn passage_tokens(&self, passage: &Passage<'_>) -> Vec<u32> {
        let PassageTokens { path, scopes, doc, body, .. } = self.tokens.read(passage);
        let end = |rows: &[u32], most: usize| rows[rows.len().saturating_sub(most)..].to_vec();
        let doc = &doc[..doc.len().min(DOC_TOKENS)];
        let mut all = [&end(&path, PLACE_TOKENS)[..], &end(&scopes, SCOPE_TOKENS), doc, &body].concat();
        all.truncate(self.encoder.positions() - MARKS);
        self.marked(all)
    }

    fn marked(&self, rows: Vec<u32>) -> Vec<u32> {
        let end = self.encoder.rows() as u32;
        [&[end - 2][..], &rows, &[end - 1]].concat()
    }
}

impl Reranker for ContextualReranker {
    fn id(&self) -> &str {
        &self.id
    }

    fn scores(&self, query: &str, passages: &[Passage<'_>]) -> Result<Vec<f32>, InferenceError> {
        let query = self.encoder.encode(&[&self.query_tokens(query)], Segment::Query);
        let Some(query) = query.first() else { return Ok(vec![0.0; passages.len()]) };
        let of_part = |passages: &[Passage<'_>]| {
            let tokens: Vec<Vec<u32>> = passages.iter().map(|passage| self.passage_tokens(passage)).collect();
            let tokens: Vec<&[u32]> = tokens.iter().map(Vec::as_slice).collect();
            let encoded = self.encoder.encode(&tokens, Segment::Passage);
            encoded.iter().map(|passage| self.encoder.score(query, passage)).collect::<Vec<f32>>()
        };
        let part = passages.len().div_ceil(rayon::current_num_threads()).max(1);
        Ok(passages.par_chunks(part).flat_map_iter(of_part).collect())
    }
}

#[cfg(test)]
mod tests;
