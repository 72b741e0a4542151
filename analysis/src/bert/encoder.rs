//! The forward pass of a BERT encoder (Devlin et al. 2018, post-norm) over sequences packed end to end.
//!
//! Only attention combines tokens, so all other steps run over all tokens of a batch as one matrix, without padding.
//! The result of a sequence does not depend on the other sequences of its batch, not even in the last bit.

use aurora_kernels::{Matrix, multiply};

use super::batches::Sequence;
use super::config::Pooling;
use super::fused::{Norm, add_bias, add_bias_gelu, softmax};
use super::reader::{Linear, Reader};
use crate::model_error::ModelError;

pub(super) struct Encoder {
    words: Vec<f32>,
    positions: Vec<f32>,
    segments: Vec<f32>,
    norm: Norm,
    layers: Vec<EncoderLayer>,
    hidden_size: usize,
    heads: usize,
    pooling: Pooling,
}

struct EncoderLayer {
    /// The weights of query, key and value side by side, so that one matrix product computes all three. The weights of
    /// the query include the scale of the dot products.
    attention: Linear,
    attention_output: Linear,
    attention_norm: Norm,
    intermediate: Linear,
    output: Linear,
    output_norm: Norm,
}

/// Error for a token whose id is not in the model's vocabulary, or whose position is after the model's last position.
#[derive(Debug, thiserror::Error)]
#[error("the model has no embedding of token {id} at position {position}")]
pub(super) struct MissingEmbedding {
    id: u32,
    position: usize,
}

/// Intermediate results of a layer. All layers use the same buffers, because allocating new memory would take longer
/// than some of the computations.
#[derive(Default)]
struct Activations {
    /// The scaled query, the key and the value of every token.
    mixed: Vec<f32>,
    /// Attention weights of one sequence and one head, tokens × tokens.
    weights: Vec<f32>,
    context: Vec<f32>,
    attended: Vec<f32>,
    inner: Vec<f32>,
}

impl Encoder {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
        let config = reader.config;
        let hidden_size = config.hidden_size;
        Ok(Self {
            words: reader.tensor("embeddings.word_embeddings.weight", &[config.vocabulary, hidden_size])?,
            positions: reader.tensor("embeddings.position_embeddings.weight", &[config.positions, hidden_size])?,
            segments: reader.tensor("embeddings.token_type_embeddings.weight", &[2, hidden_size])?,
            norm: reader.norm("embeddings.LayerNorm")?,
            layers: (0..config.layers).map(|layer| EncoderLayer::read(reader, layer)).collect::<Result<_, _>>()?,
            hidden_size,
            heads: config.heads,
            pooling: config.pooling,
        })
    }

    /// Returns the pooled vectors of a batch's sequences, one after the other, not yet scaled to unit length. Calls
    /// `is_stopped` before every layer, and returns `None` once `is_stopped` returns true.
    pub(super) fn forward(
        &self,
        batch: &[Sequence],
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Option<Vec<f32>>, MissingEmbedding> {
        let mut hidden = self.embed(batch)?;
        let mut activations = Activations::default();
        for layer in &self.layers {
            if is_stopped() {
                return Ok(None);
            }
            layer.forward(&mut hidden, batch, self.heads, &mut activations);
        }
        let mut pooled = vec![0.0; batch.len() * self.hidden_size];
        let mut rest = &*hidden;
        for (vector, sequence) in pooled.chunks_exact_mut(self.hidden_size).zip(batch) {
            let (tokens, others) = rest.split_at(sequence.ids.len() * self.hidden_size);
            rest = others;
            let pooled = match self.pooling {
                Pooling::Mean => sequence.ids.len(),
                Pooling::FirstToken => 1,
            };
            for token in tokens.chunks_exact(self.hidden_size).take(pooled) {
                add_bias(vector, token);
            }
            vector.iter_mut().for_each(|sum| *sum /= pooled as f32);
        }
        Ok(Some(pooled))
    }

    /// Returns the normalised sum of the word, position and segment embeddings of every token.
    fn embed(&self, batch: &[Sequence]) -> Result<Vec<f32>, MissingEmbedding> {
        let mut hidden = Vec::new();
        for sequence in batch {
            for (position, &id) in sequence.ids.iter().enumerate() {
                let missing = || MissingEmbedding { id, position };
                let word = self.row(&self.words, id as usize).ok_or_else(missing)?;
                let place = self.row(&self.positions, position).ok_or_else(missing)?;
                let segment = self.row(&self.segments, usize::from(position >= sequence.first)).ok_or_else(missing)?;
                let start = hidden.len();
                hidden.extend(
                    word.iter().zip(place).zip(segment).map(|((word, place), segment)| word + (place + segment)),
                );
                self.norm.apply(&mut hidden[start..]);
            }
        }
        Ok(hidden)
    }

    fn row<'a>(&self, table: &'a [f32], row: usize) -> Option<&'a [f32]> {
        table.chunks_exact(self.hidden_size).nth(row)
    }
}

impl EncoderLayer {
    fn read(reader: &mut Reader<'_>, layer: usize) -> Result<Self, ModelError> {
        let (hidden, inner) = (reader.config.hidden_size, reader.config.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let parts = ["query", "key", "value"].map(|part| name(&format!("attention.self.{part}")));
        let mut attention = reader.linear(&parts.each_ref().map(String::as_str), hidden, hidden)?;
        let scale = 1.0 / ((hidden / reader.config.heads) as f32).sqrt();
        for row in attention.weight.chunks_exact_mut(3 * hidden).chain([&mut *attention.bias]) {
            row[..hidden].iter_mut().for_each(|query| *query *= scale);
        }
        Ok(Self {
            attention,
            attention_output: reader.linear(&[&name("attention.output.dense")], hidden, hidden)?,
            attention_norm: reader.norm(&name("attention.output.LayerNorm"))?,
            intermediate: reader.linear(&[&name("intermediate.dense")], hidden, inner)?,
            output: reader.linear(&[&name("output.dense")], inner, hidden)?,
            output_norm: reader.norm(&name("output.LayerNorm"))?,
        })
    }

    /// Replaces `hidden` (tokens × hidden size) with the output of the layer.
    fn forward(&self, hidden: &mut Vec<f32>, batch: &[Sequence], heads: usize, activations: &mut Activations) {
        let Activations { mixed, weights, context, attended, inner } = activations;
        self.attention.multiply(hidden, mixed);
        add_bias(mixed, &self.attention.bias);
        context.resize(hidden.len(), 0.0);
        attend(mixed, batch, self.attention_output.bias.len(), heads, weights, context);
        self.attention_output.multiply(context, attended);
        self.attention_norm.add(attended, &self.attention_output.bias, hidden);
        self.intermediate.multiply(attended, inner);
        add_bias_gelu(inner, &self.intermediate.bias);
        self.output.multiply(inner, hidden);
        self.output_norm.add(hidden, &self.output.bias, attended);
    }
}

/// Computes dot-product attention within every sequence. `mixed` is tokens × (scaled query, key, value), and `context`
/// is tokens × `hidden`.
fn attend(mixed: &[f32], batch: &[Sequence], hidden: usize, heads: usize, weights: &mut Vec<f32>, context: &mut [f32]) {
    let width = hidden / heads;
    let mut start = 0;
    for sequence in batch {
        let tokens = sequence.ids.len();
        weights.resize(tokens * tokens, 0.0);
        for head in 0..heads {
            let part = |part: usize| {
                Matrix::new(&mixed[(start * 3 + part) * hidden + head * width..], tokens, width, 3 * hidden)
            };
            multiply(part(0), part(1).transposed(), weights, tokens);
            weights.chunks_exact_mut(tokens).for_each(softmax);
            let weights = Matrix::new(weights, tokens, tokens, tokens);
            multiply(weights, part(2), &mut context[start * hidden + head * width..], hidden);
        }
        start += tokens;
    }
}
