//! Packs token sequences end to end into batches, so that no time is spent on padding.

use std::path::Path;

use tokenizers::{Tokenizer, TruncationParams};

use super::config::Config;
use crate::model_error::ModelError;

/// Maximum number of tokens in a batch. It is large enough to use the matrix kernels fully, and small enough for the
/// activations of a layer to stay in the processor's cache.
const TOKEN_BUDGET: usize = 512;

/// Maximum number of bytes that are passed to the tokenizer for each token that the model accepts. Without the limit,
/// the tokenizer would process huge chunks completely, and most of the result would be truncated. Real text, with
/// indentation, has 3 to 12 bytes per token.
const BYTES_PER_TOKEN: usize = 64;

/// The tokens of one text or of a pair of texts. The first text is in the first segment, and the second text is in the
/// second segment.
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

/// Returns the prefix of `text` that a model with a limit of `tokens` tokens can use.
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
