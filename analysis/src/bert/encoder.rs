//! The forward pass of a BERT encoder (Devlin et al. 2018, post-norm) over sequences packed end to end.
//!
//! Only attention looks across tokens, so everything else runs over all tokens of a batch as one matrix, without
//! padding; attention takes sequences of one length together and therefore needs no mask.

use std::path::Path;

use candle_core::{Device, Tensor};
use candle_nn::ops::softmax_last_dim;

use super::batches::{SequenceGroup, TokenBatch};
use super::config::{Config, Pooling};
use super::fused::{Bias, BiasGelu, Norm, ResidualNorm};
use super::weights::TensorFile;
use crate::model_error::ModelError;

pub(super) struct Encoder {
    words: Tensor,
    positions: Tensor,
    /// The embedding of the first segment, which all tokens are in, added to every token as a bias.
    segment: Vec<f32>,
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

struct Linear {
    /// Inputs × outputs.
    weight: Tensor,
    bias: Vec<f32>,
}

impl Encoder {
    pub(super) fn read(path: &Path, config: &Config) -> Result<Self, ModelError> {
        let mut reader = Reader { weights: TensorFile::open(path)?, path, config };
        let hidden = config.hidden_size;
        let words = reader.weights.tensor("embeddings.word_embeddings.weight", &[config.vocabulary, hidden])?;
        let positions = reader.weights.tensor("embeddings.position_embeddings.weight", &[config.positions, hidden])?;
        let segments = reader.weights.tensor("embeddings.token_type_embeddings.weight", &[2, hidden])?;
        let segment = reader.done(segments.get(0).and_then(|first| first.to_vec1()))?;
        let norm = reader.norm("embeddings.LayerNorm")?;
        let layers = (0..config.layers).map(|layer| reader.layer(layer)).collect::<Result<_, _>>()?;
        Ok(Self { words, positions, segment, norm, layers, heads: config.heads, pooling: config.pooling })
    }

    /// The pooled vectors of a batch's sequences, one after the other, not yet scaled. `None` once `is_stopped`, which is
    /// asked before every layer, returns true.
    pub(super) fn forward(
        &self,
        batch: &TokenBatch,
        is_stopped: &dyn Fn() -> bool,
    ) -> candle_core::Result<Option<Vec<f32>>> {
        let ids = Tensor::from_slice(&batch.ids, batch.ids.len(), &Device::Cpu)?;
        let positions = Tensor::from_slice(&batch.positions, batch.positions.len(), &Device::Cpu)?;
        let mut hidden = self.words.index_select(&ids, 0)?;
        let positions = self.positions.index_select(&positions, 0)?;
        hidden.inplace_op2(&positions, &ResidualNorm { bias: &self.segment, norm: &self.norm })?;
        for layer in &self.layers {
            if is_stopped() {
                return Ok(None);
            }
            hidden = layer.forward(&hidden, &batch.groups, self.heads)?;
        }
        let mut pooled = Vec::with_capacity(batch.texts.len() * self.segment.len());
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

/// Reads weights by the names that the `transformers` library gives them.
struct Reader<'a> {
    weights: TensorFile,
    path: &'a Path,
    config: &'a Config,
}

impl Reader<'_> {
    fn layer(&mut self, layer: usize) -> Result<EncoderLayer, ModelError> {
        let (hidden, inner) = (self.config.hidden_size, self.config.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let mut query = self.linear(&name("attention.self.query"), hidden, hidden)?;
        let key = self.linear(&name("attention.self.key"), hidden, hidden)?;
        let value = self.linear(&name("attention.self.value"), hidden, hidden)?;
        let scale = 1.0 / ((hidden / self.config.heads) as f32).sqrt();
        query.weight = self.done(query.weight * f64::from(scale))?;
        query.bias.iter_mut().for_each(|bias| *bias *= scale);
        let weight = Tensor::cat(&[query.weight, key.weight, value.weight], 1);
        Ok(EncoderLayer {
            attention: Linear { weight: self.done(weight)?, bias: [query.bias, key.bias, value.bias].concat() },
            attention_output: self.linear(&name("attention.output.dense"), hidden, hidden)?,
            attention_norm: self.norm(&name("attention.output.LayerNorm"))?,
            intermediate: self.linear(&name("intermediate.dense"), hidden, inner)?,
            output: self.linear(&name("output.dense"), inner, hidden)?,
            output_norm: self.norm(&name("output.LayerNorm"))?,
        })
    }

    fn linear(&mut self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        let weight = self.weights.tensor(&format!("{name}.weight"), &[outputs, inputs])?;
        Ok(Linear { weight: self.done(weight.t())?, bias: self.vector(&format!("{name}.bias"), outputs)? })
    }

    fn norm(&mut self, name: &str) -> Result<Norm, ModelError> {
        let width = self.config.hidden_size;
        let scale = self.vector(&format!("{name}.weight"), width)?;
        Ok(Norm { scale, shift: self.vector(&format!("{name}.bias"), width)?, epsilon: self.config.epsilon as f32 })
    }

    fn vector(&mut self, name: &str, length: usize) -> Result<Vec<f32>, ModelError> {
        let vector = self.weights.tensor(name, &[length])?;
        self.done(vector.to_vec1())
    }

    fn done<T>(&self, result: candle_core::Result<T>) -> Result<T, ModelError> {
        result.map_err(|error| ModelError::Damaged { path: self.path.to_owned(), reason: error.to_string() })
    }
}
