//! The head of `BertForSequenceClassification` with one label: a score from the first token of a sequence.

use candle_core::{Device, Tensor};

use super::fused::Bias;
use super::reader::{Linear, Reader};
use crate::model_error::ModelError;

/// The tensor whose shape says how many labels there are.
pub(super) const CLASSIFIER: &str = "classifier.weight";

pub(super) struct ClassificationHead {
    pooler: Linear,
    /// Weights of the one label, and its bias.
    label: Vec<f32>,
    bias: f32,
}

impl ClassificationHead {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
        let hidden = reader.config.hidden_size;
        let pooler = reader.linear("pooler.dense", hidden, hidden)?;
        let classifier = reader.head("classifier", hidden, 1)?;
        let label = classifier.weight.flatten_all().and_then(|weight| weight.to_vec1());
        Ok(Self { pooler, label: reader.done(label)?, bias: classifier.bias.iter().sum() })
    }

    /// `label · tanh(pooler(first token)) + bias` for every sequence, given its first token's last hidden state.
    pub(super) fn scores(&self, first_tokens: &[f32]) -> candle_core::Result<Vec<f32>> {
        let hidden = self.label.len();
        let first = Tensor::from_slice(first_tokens, (first_tokens.len() / hidden, hidden), &Device::Cpu)?;
        let pooled = first.matmul(&self.pooler.weight)?;
        pooled.inplace_op1(&Bias(&self.pooler.bias))?;
        let pooled = pooled.flatten_all()?.to_vec1::<f32>()?;
        let score = |pooled: &[f32]| {
            pooled.iter().zip(&self.label).fold(self.bias, |sum, (value, weight)| sum + value.tanh() * weight)
        };
        Ok(pooled.chunks_exact(hidden).map(score).collect())
    }
}
