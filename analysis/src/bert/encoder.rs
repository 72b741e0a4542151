//! The forward pass of a BERT encoder (Devlin et al. 2018, post-norm) over sequences packed end to end.
//!
//! Only attention looks across tokens, so everything else runs over all tokens of a batch as one matrix, without
//! padding; attention takes sequences of one length together and therefore needs no mask.

use std::path::Path;

use candle_core::{D, Device, Result, Tensor};
use candle_nn::ops::{layer_norm, softmax_last_dim};

use super::batches::{Batch, Group};
use super::config::{Config, Pooling};
use super::gelu::BiasGelu;
use super::weights::Weights;
use crate::model_dir::ModelError;

pub(super) struct Encoder {
    words: Tensor,
    /// Position embeddings, to which that of the first segment is added: there is never another segment.
    positions: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
    heads: usize,
    pooling: Pooling,
}

struct Layer {
    /// Query, key and value side by side: one product instead of three.
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
    bias: Tensor,
}

struct Norm {
    weight: Tensor,
    bias: Tensor,
    epsilon: f32,
}

impl Encoder {
    pub(super) fn read(path: &Path, config: &Config) -> std::result::Result<Self, ModelError> {
        let mut reader = Reader { weights: Weights::open(path)?, path, config };
        let hidden = config.hidden_size;
        let words = reader.weights.tensor("embeddings.word_embeddings.weight", &[config.vocabulary, hidden])?;
        let positions = reader.weights.tensor("embeddings.position_embeddings.weight", &[config.positions, hidden])?;
        let segments = reader.weights.tensor("embeddings.token_type_embeddings.weight", &[2, hidden])?;
        let positions = reader.done(segments.get(0).and_then(|first| positions.broadcast_add(&first)))?;
        let norm = reader.norm("embeddings.LayerNorm")?;
        let layers = (0..config.layers).map(|layer| reader.layer(layer)).collect::<std::result::Result<_, _>>()?;
        Ok(Self { words, positions, norm, layers, heads: config.heads, pooling: config.pooling })
    }

    /// The pooled vectors of a batch's sequences, one after the other, not yet scaled.
    pub(super) fn forward(&self, batch: &Batch) -> Result<Vec<f32>> {
        let ids = Tensor::from_slice(&batch.ids, batch.ids.len(), &Device::Cpu)?;
        let positions = Tensor::from_slice(&batch.positions, batch.positions.len(), &Device::Cpu)?;
        let words = self.words.index_select(&ids, 0)?;
        let mut hidden = self.norm.forward(&(words + self.positions.index_select(&positions, 0)?)?)?;
        for layer in &self.layers {
            hidden = layer.forward(&hidden, &batch.groups, self.heads)?;
        }
        let mut pooled = Vec::with_capacity(batch.texts.len() * hidden.dim(D::Minus1)?);
        for group in &batch.groups {
            let sequences = hidden.narrow(0, group.start, group.count * group.length)?;
            let sequences = sequences.reshape((group.count, group.length, ()))?;
            let vectors = match self.pooling {
                Pooling::Mean => sequences.mean(1)?,
                Pooling::FirstToken => sequences.narrow(1, 0, 1)?,
            };
            pooled.extend(vectors.flatten_all()?.to_vec1::<f32>()?);
        }
        Ok(pooled)
    }
}

impl Layer {
    /// `hidden` is tokens × hidden size, and so is the result.
    fn forward(&self, hidden: &Tensor, groups: &[Group], heads: usize) -> Result<Tensor> {
        let attended = attend(&self.attention.forward(hidden)?, groups, heads)?;
        let hidden = self.attention_norm.forward(&(self.attention_output.forward(&attended)? + hidden)?)?;
        let inner = hidden.matmul(&self.intermediate.weight)?;
        inner.inplace_op2(&self.intermediate.bias, &BiasGelu)?;
        self.output_norm.forward(&(self.output.forward(&inner)? + &hidden)?)
    }
}

/// Scaled dot-product attention inside every sequence. `mixed` is tokens × (query, key, value).
fn attend(mixed: &Tensor, groups: &[Group], heads: usize) -> Result<Tensor> {
    let hidden = mixed.dim(1)? / 3;
    let width = hidden / heads;
    let scale = 1.0 / (width as f64).sqrt();
    let mut contexts = Vec::with_capacity(groups.len());
    for group in groups {
        let tokens = group.count * group.length;
        // 3 × sequences × heads × tokens × width
        let split = mixed.narrow(0, group.start, tokens)?.reshape((group.count, group.length, 3, heads, width))?;
        let split = split.permute((2, 0, 3, 1, 4))?.contiguous()?;
        let (query, key, value) = (split.get(0)?, split.get(1)?, split.get(2)?);
        let scores = (query.matmul(&key.transpose(2, 3)?)? * scale)?;
        let context = softmax_last_dim(&scores)?.matmul(&value)?;
        contexts.push(context.transpose(1, 2)?.reshape((tokens, hidden))?);
    }
    Tensor::cat(&contexts, 0)
}

impl Linear {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        x.matmul(&self.weight)?.broadcast_add(&self.bias)
    }
}

impl Norm {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        layer_norm(x, &self.weight, &self.bias, self.epsilon)
    }
}

/// Reads weights by the names that the `transformers` library gives them.
struct Reader<'a> {
    weights: Weights,
    path: &'a Path,
    config: &'a Config,
}

impl Reader<'_> {
    fn layer(&mut self, layer: usize) -> std::result::Result<Layer, ModelError> {
        let (hidden, inner) = (self.config.hidden_size, self.config.intermediate_size);
        let name = |part: &str| format!("encoder.layer.{layer}.{part}");
        let [query, key, value] =
            ["query", "key", "value"].map(|part| self.linear(&name(&format!("attention.self.{part}")), hidden, hidden));
        let (query, key, value) = (query?, key?, value?);
        Ok(Layer {
            attention: Linear {
                weight: self.done(Tensor::cat(&[query.weight, key.weight, value.weight], 1))?,
                bias: self.done(Tensor::cat(&[query.bias, key.bias, value.bias], 0))?,
            },
            attention_output: self.linear(&name("attention.output.dense"), hidden, hidden)?,
            attention_norm: self.norm(&name("attention.output.LayerNorm"))?,
            intermediate: self.linear(&name("intermediate.dense"), hidden, inner)?,
            output: self.linear(&name("output.dense"), inner, hidden)?,
            output_norm: self.norm(&name("output.LayerNorm"))?,
        })
    }

    fn linear(&mut self, name: &str, inputs: usize, outputs: usize) -> std::result::Result<Linear, ModelError> {
        let weight = self.weights.tensor(&format!("{name}.weight"), &[outputs, inputs])?;
        Ok(Linear { weight: self.done(weight.t())?, bias: self.weights.tensor(&format!("{name}.bias"), &[outputs])? })
    }

    fn norm(&mut self, name: &str) -> std::result::Result<Norm, ModelError> {
        let shape = [self.config.hidden_size];
        let weight = self.weights.tensor(&format!("{name}.weight"), &shape)?;
        let bias = self.weights.tensor(&format!("{name}.bias"), &shape)?;
        Ok(Norm { weight, bias, epsilon: self.config.epsilon as f32 })
    }

    fn done(&self, tensor: Result<Tensor>) -> std::result::Result<Tensor, ModelError> {
        tensor.map_err(|error| ModelError::Damaged { path: self.path.to_owned(), reason: error.to_string() })
    }
}
