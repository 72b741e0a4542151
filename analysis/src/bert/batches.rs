//! Texts to batches of tokens, packed end to end, so that no padding is computed.

use std::path::Path;

use tokenizers::{Tokenizer, TruncationParams};

use super::config::Config;
use crate::model_error::ModelError;

/// Tokens of a batch: enough to fill the matrix kernels, few enough for a layer's activations to stay in the cache.
const TOKEN_BUDGET: usize = 512;

/// The tokenizer sees this many bytes for each token that the model looks at, and need not read a huge chunk to its end:
/// real text, with indentation, has 3 to 12.
const BYTES_PER_TOKEN: usize = 64;

/// The tokens of one text, or of two texts of which the second is in a segment of its own.
pub(super) struct Sequence {
    /// The caller's number.
    pub(super) text: usize,
    /// Token ids.
    pub(super) ids: Vec<u32>,
    /// How many of the tokens are in the first segment.
    pub(super) first: usize,
}

impl Sequence {
    /// The tokens of one text.
    pub(super) fn single(text: usize, ids: Vec<u32>) -> Self {
        Self { text, first: ids.len(), ids }
    }
}

/// The model's tokenizer, set to cut texts at the model's limit and to leave padding out.
pub(super) fn tokenizer(path: &Path, config: &Config) -> Result<Tokenizer, ModelError> {
    let damaged = |reason: String| ModelError::Damaged { path: path.to_owned(), reason };
    let mut tokenizer = Tokenizer::from_file(path).map_err(|error| damaged(error.to_string()))?;
    let tokens = tokenizer.get_vocab_size(true);
    if tokens > config.vocabulary {
        return Err(damaged(format!("it has {tokens} tokens and the model only {}", config.vocabulary)));
    }
    let limit = TruncationParams { max_length: config.max_tokens, ..TruncationParams::default() };
    tokenizer.with_padding(None).with_truncation(Some(limit)).map_err(|error| damaged(error.to_string()))?;
    Ok(tokenizer)
}

/// The part of a text that a model of `tokens` tokens can need.
pub(super) fn beginning(text: &str, tokens: usize) -> &str {
    &text[..text.floor_char_boundary(tokens.saturating_mul(BYTES_PER_TOKEN))]
}

/// Cuts sequences into batches of up to [`TOKEN_BUDGET`] tokens, or of one sequence. A sequence without tokens is in no batch.
pub(super) fn batches(sequences: Vec<Sequence>) -> Vec<Vec<Sequence>> {
    let mut batches: Vec<Vec<Sequence>> = Vec::new();
    let mut room = 0;
    for sequence in sequences.into_iter().filter(|sequence| !sequence.ids.is_empty()) {
        let tokens = sequence.ids.len();
        match batches.last_mut() {
            Some(batch) if tokens <= room => batch.push(sequence),
            _ => {
                batches.push(vec![sequence]);
                room = TOKEN_BUDGET;
            }
        }
        room = room.saturating_sub(tokens);
    }
    batches
}
