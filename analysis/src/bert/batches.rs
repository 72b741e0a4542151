//! Texts to batches of tokens: sorted by length and packed end to end, so that no padding is computed.

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

/// Token sequences, one after the other.
pub(super) struct TokenBatch {
    /// The caller's number of every sequence.
    pub(super) texts: Vec<usize>,
    /// Token ids of all sequences.
    pub(super) ids: Vec<u32>,
    /// Position of every token in its sequence.
    pub(super) positions: Vec<u32>,
    /// Segment of every token: 0, or 1 for the second of two texts.
    pub(super) segments: Vec<u32>,
    /// Stretches of sequences of one length: attention takes each in one step.
    pub(super) groups: Vec<SequenceGroup>,
}

/// `count` sequences of `length` tokens each, from token `start` of the batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SequenceGroup {
    pub(super) start: usize,
    pub(super) count: usize,
    pub(super) length: usize,
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

/// Sorts sequences by length (and number, so that the order is one) and cuts them into batches of up to
/// [`TOKEN_BUDGET`] tokens. A sequence without tokens is in no batch.
pub(super) fn batches(mut sequences: Vec<Sequence>) -> Vec<TokenBatch> {
    sequences.retain(|sequence| !sequence.ids.is_empty());
    sequences.sort_by_key(|sequence| (sequence.ids.len(), sequence.text));
    let mut batches: Vec<TokenBatch> = Vec::new();
    for Sequence { text, ids, first } in sequences {
        let batch = match batches.last_mut() {
            Some(batch) if batch.ids.len() + ids.len() <= TOKEN_BUDGET => batch,
            _ => {
                batches.push(TokenBatch {
                    texts: Vec::new(),
                    ids: Vec::new(),
                    positions: Vec::new(),
                    segments: Vec::new(),
                    groups: Vec::new(),
                });
                let last = batches.len() - 1;
                &mut batches[last]
            }
        };
        match batch.groups.last_mut() {
            Some(group) if group.length == ids.len() => group.count += 1,
            _ => batch.groups.push(SequenceGroup { start: batch.ids.len(), count: 1, length: ids.len() }),
        }
        batch.texts.push(text);
        batch.positions.extend(0..ids.len() as u32);
        batch.segments.extend((0..ids.len()).map(|at| u32::from(at >= first)));
        batch.ids.extend(ids);
    }
    batches
}
