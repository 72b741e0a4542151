//! Texts to batches of tokens: sorted by length and packed end to end, so that no padding is computed.

use std::path::Path;

use tokenizers::{Tokenizer, TruncationParams};

use super::config::Config;
use crate::model_error::ModelError;

/// Tokens of a batch: enough to fill the matrix kernels, few enough for a layer's activations to stay in the cache.
const TOKEN_BUDGET: usize = 512;

/// Token sequences, one after the other.
pub(super) struct TokenBatch {
    /// The caller's number of every sequence.
    pub(super) texts: Vec<usize>,
    /// Token ids of all sequences.
    pub(super) ids: Vec<u32>,
    /// Position of every token in its sequence.
    pub(super) positions: Vec<u32>,
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

/// Sorts sequences by length (and number, so that the order is one) and cuts them into batches of up to
/// [`TOKEN_BUDGET`] tokens. A sequence without tokens is in no batch.
pub(super) fn batches(mut sequences: Vec<(usize, Vec<u32>)>) -> Vec<TokenBatch> {
    sequences.retain(|(_, ids)| !ids.is_empty());
    sequences.sort_by_key(|(text, ids)| (ids.len(), *text));
    let mut batches: Vec<TokenBatch> = Vec::new();
    for (text, ids) in sequences {
        let batch = match batches.last_mut() {
            Some(batch) if batch.ids.len() + ids.len() <= TOKEN_BUDGET => batch,
            _ => {
                batches.push(TokenBatch {
                    texts: Vec::new(),
                    ids: Vec::new(),
                    positions: Vec::new(),
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
        batch.ids.extend(ids);
    }
    batches
}
