//! Batches of token sequences, packed end to end, so that no padding is computed.

use std::path::Path;

use tokenizers::{Tokenizer, TruncationParams};

use super::config::Config;
use crate::model_error::ModelError;

/// Maximum number of tokens in a batch: enough to fill the matrix kernels, few enough for the activations of a layer to
/// stay in the cache.
const TOKEN_BUDGET: usize = 512;

/// Number of bytes that the tokenizer reads per token of the model's limit, so that it need not read huge chunks to
/// their end. Real text, with indentation, has 3 to 12 bytes per token.
const BYTES_PER_TOKEN: usize = 64;

/// The tokens of one text, or of two texts. The second text is in a separate segment.
pub(super) struct Sequence {
    /// Index of the text in the caller's list.
    pub(super) text: usize,
    /// Token ids.
    pub(super) ids: Vec<u32>,
    /// Number of tokens in the first segment.
    pub(super) first: usize,
}

impl Sequence {
    /// Creates the sequence of one text.
    pub(super) fn single(text: usize, ids: Vec<u32>) -> Self {
        Self { text, first: ids.len(), ids }
    }
}

/// Reads the model's tokenizer and configures it to truncate texts at the model's limit and not to pad them.
pub(super) fn tokenizer(path: &Path, config: &Config) -> Result<Tokenizer, ModelError> {
    let damaged = |reason: String| ModelError::Damaged { path: path.to_owned(), reason };
    let mut tokenizer = Tokenizer::from_file(path).map_err(|error| damaged(error.to_string()))?;
    let tokens = tokenizer.get_vocab_size(true);
    if tokens > config.vocabulary {
        return Err(damaged(format!("it has {tokens} tokens, but the model has only {}", config.vocabulary)));
    }
    let limit = TruncationParams { max_length: config.max_tokens, ..TruncationParams::default() };
    tokenizer.with_padding(None).with_truncation(Some(limit)).map_err(|error| damaged(error.to_string()))?;
    Ok(tokenizer)
}

/// Returns the beginning of a text that may be relevant to a model with a limit of `tokens` tokens.
pub(super) fn beginning(text: &str, tokens: usize) -> &str {
    &text[..text.floor_char_boundary(tokens.saturating_mul(BYTES_PER_TOKEN))]
}

/// Groups sequences into batches of up to [`TOKEN_BUDGET`] tokens. A longer sequence gets its own batch. Sequences
/// without tokens are omitted.
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
