//! The forward pass of a BERT encoder (Devlin et al. 2018, post-norm) over sequences packed end to end.
//!
//! Only attention looks across tokens, so everything else runs over all tokens of a batch as one matrix, without
//! padding; attention takes sequences of one length together and therefore needs no mask.

use candle_core::{Device, Tensor};
use candle_nn::ops::softmax_last_dim;

use super::batches::{SequenceGroup, TokenBatch};
use super::config::Pooling;
use super::fused::{Bias, BiasGelu, Norm, ResidualNorm};
use super::reader::{Linear, Reader};
use crate::model_error::ModelError;

pub(super) struct Encoder {
    words: Tensor,
    /// The sum of the embeddings of segment and position: all positions in the first segment, then all in the second.
    places: Tensor,
    /// Positions that the model knows.
    positions: usize,
    /// What the first normalisation adds to every token beside its place: nothing.
    no_bias: Vec<f32>,
    norm: Norm,
    layers: Vec<EncoderLayer>,
    heads: usize,
    pooling: Pooling,
}

struct EncoderLayer {
    /// Query, key and value side by side: one product instead of three. The query is scaled for the dot products.
    attention: Linear,
    attention_output: Linear,
    attention_norm: Norm,
    intermediate: Linear,
    output: Linear,
    output_norm: Norm,
}

impl Encoder {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
        let config = reader.config;
        let hidden = config.hidden_size;
        let words = reader.tensor("embeddings.word_embeddings.weight", &[config.vocabulary, hidden])?;
        let positions = reader.tensor("embeddings.position_embeddings.weight", &[config.positions, hidden])?;
        let segments = reader.tensor("embeddings.token_type_embeddings.weight", &[2, hidden])?;
        let in_segment = |segment| positions.broadcast_add(&segments.get(segment)?);
        let places = in_segment(0).and_then(|first| Tensor::cat(&[first, in_segment(1)?], 0));
        let places = reader.done(places)?;
        let norm = reader.norm("embeddings.LayerNorm")?;
        let layers = (0..config.layers).map(|layer| EncoderLayer::read(reader, layer)).collect::<Result<_, _>>()?;
        let (heads, pooling, no_bias) = (config.heads, config.pooling, vec![0.0; hidden]);
        Ok(Self { words, places, positions: config.positions, no_bias, norm, layers, heads, pooling })
    }

    /// The pooled vectors of a batch's sequences, one after the other, not yet scaled. `None` once `is_stopped`, which is
    /// asked before every layer, returns true.
    pub(super) fn forward(
        &self,
        batch: &TokenBatch,
        is_stopped: &dyn Fn() -> bool,
    ) -> candle_core::Result<Option<Vec<f32>>> {
        let ids = Tensor::from_slice(&batch.ids, batch.ids.len(), &Device::Cpu)?;
        let place = |(position, segment): (&u32, &u32)| segment * self.positions as u32 + position;
        let places: Vec<u32> = batch.positions.iter().zip(&batch.segments).map(place).collect();
        let places = Tensor::from_slice(&places, places.len(), &Device::Cpu)?;
        let mut hidden = self.words.index_select(&ids, 0)?;
        let places = self.places.index_select(&places, 0)?;
        hidden.inplace_op2(&places, &ResidualNorm { bias: &self.no_bias, norm: &self.norm })?;
        for layer in &self.layers {
            if is_stopped() {
                return Ok(None);
            }
            hidden = layer.forward(&hidden, &batch.groups, self.heads)?;
        }
        let mut pooled = Vec::with_capacity(batch.texts.len() * self.no_bias.len());
        for group in &batch.groups {
            let sequences = hidden.narrow(0, group.start, group.count * group.length)?;
            let sequences = sequences.reshape((group.count, group.length, ()))?;
            let vectors = match self.pooling {
                Pooling::Mean => sequences.mean(1)?,
                Pooling::FirstToken => sequences.narrow(1, 0, 1)?,
            };
            pooled.extend(vectors.flatten_all()?.to_vec1::<f32>()?);
        }
        Ok(Some(pooled))
    }
}

impl EncoderLayer {
    fn read(reader: &mut Reader<'_>, layer: usize) -> Result<Self, ModelError> {
        let (hidden, inner) = (reader.config.hidden_size, reader.config.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let mut query = reader.linear(&name("attention.self.query"), hidden, hidden)?;
        let key = reader.linear(&name("attention.self.key"), hidden, hidden)?;
        let value = reader.linear(&name("attention.self.value"), hidden, hidden)?;
        let scale = 1.0 / ((hidden / reader.config.heads) as f32).sqrt();
        query.weight = reader.done(query.weight * f64::from(scale))?;
        query.bias.iter_mut().for_each(|bias| *bias *= scale);
        let weight = Tensor::cat(&[query.weight, key.weight, value.weight], 1);
        Ok(Self {
            attention: Linear { weight: reader.done(weight)?, bias: [query.bias, key.bias, value.bias].concat() },
            attention_output: reader.linear(&name("attention.output.dense"), hidden, hidden)?,
            attention_norm: reader.norm(&name("attention.output.LayerNorm"))?,
            intermediate: reader.linear(&name("intermediate.dense"), hidden, inner)?,
            output: reader.linear(&name("output.dense"), inner, hidden)?,
            output_norm: reader.norm(&name("output.LayerNorm"))?,
        })
    }

    /// `hidden` is tokens × hidden size, and so is the result.
    fn forward(&self, hidden: &Tensor, groups: &[SequenceGroup], heads: usize) -> candle_core::Result<Tensor> {
        let mixed = hidden.matmul(&self.attention.weight)?;
        mixed.inplace_op1(&Bias(&self.attention.bias))?;
        let attended = attend(&mixed, groups, heads)?.matmul(&self.attention_output.weight)?;
        attended
            .inplace_op2(hidden, &ResidualNorm { bias: &self.attention_output.bias, norm: &self.attention_norm })?;
        let inner = attended.matmul(&self.intermediate.weight)?;
        inner.inplace_op1(&BiasGelu(&self.intermediate.bias))?;
        let output = inner.matmul(&self.output.weight)?;
        output.inplace_op2(&attended, &ResidualNorm { bias: &self.output.bias, norm: &self.output_norm })?;
        Ok(output)
    }
}

/// Dot-product attention inside every sequence. `mixed` is tokens × (scaled query, key, value).
fn attend(mixed: &Tensor, groups: &[SequenceGroup], heads: usize) -> candle_core::Result<Tensor> {
    let hidden = mixed.dim(1)? / 3;
    let width = hidden / heads;
    let mut contexts = Vec::with_capacity(groups.len());
    for group in groups {
        let tokens = group.count * group.length;
        let split = mixed.narrow(0, group.start, tokens)?.reshape((group.count, group.length, 3, heads, width))?;
        // 3 × sequences × heads × tokens of one × width
        let split = split.permute((2, 0, 3, 1, 4))?.contiguous()?;
        let (query, key, value) = (split.get(0)?, split.get(1)?, split.get(2)?);
        let scores = query.matmul(&key.transpose(2, 3)?)?;
        let context = softmax_last_dim(&scores)?.matmul(&value)?;
        contexts.push(context.transpose(1, 2)?.reshape((tokens, hidden))?);
    }
    Tensor::cat(&contexts, 0)
}
