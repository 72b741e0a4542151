//! The head of `BertForSequenceClassification` with one label. It computes a score from the first token of a sequence.

use super::fused::add_bias;
use super::reader::{Linear, Reader};
use crate::model_error::ModelError;

/// Name of the tensor whose shape contains the number of labels.
pub(super) const CLASSIFIER: &str = "classifier.weight";

pub(super) struct ClassificationHead {
    pooler: Linear,
    /// Weights of the only label.
    label: Vec<f32>,
    bias: f32,
}

impl ClassificationHead {
    pub(super) fn read(reader: &mut Reader<'_>) -> Result<Self, ModelError> {
        let hidden = reader.config.hidden_size;
        let pooler = reader.linear(&["pooler.dense"], hidden, hidden)?;
        let label = reader.head(CLASSIFIER, &[1, hidden])?;
        Ok(Self { pooler, label, bias: reader.head("classifier.bias", &[1])?.iter().sum() })
    }

    /// Computes `label · tanh(pooler(first token)) + bias` for every sequence, given the last hidden state of the first
    /// token of each sequence.
    pub(super) fn scores(&self, first_tokens: &[f32]) -> Vec<f32> {
        let mut pooled = Vec::new();
        self.pooler.multiply(first_tokens, &mut pooled);
        add_bias(&mut pooled, &self.pooler.bias);
        let score = |pooled: &[f32]| {
            pooled.iter().zip(&self.label).fold(self.bias, |sum, (value, weight)| sum + value.tanh() * weight)
        };
        pooled.chunks_exact(self.label.len()).map(score).collect()
    }
}
