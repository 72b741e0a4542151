//! Reads parts of a model from its weights, by the names that the `transformers` library uses.

use std::path::Path;

use aurora_kernels::{Matrix, multiply};

use super::config::Config;
use super::fused::Norm;
use super::weights::TensorFile;
use crate::model_error::ModelError;

pub(super) struct Linear {
    /// The weights as a matrix of inputs × outputs.
    pub(super) weight: Vec<f32>,
    pub(super) bias: Vec<f32>,
}

impl Linear {
    /// Writes the product of every row of `input` with the weights, without the bias, to `output`.
    pub(super) fn multiply(&self, input: &[f32], output: &mut Vec<f32>) {
        let outputs = self.bias.len();
        let inputs = self.weight.len() / outputs;
        let rows = input.len() / inputs;
        output.resize(rows * outputs, 0.0);
        let weight = Matrix::new(&self.weight, inputs, outputs, outputs);
        multiply(Matrix::new(input, rows, inputs, inputs), weight, output, outputs);
    }
}

pub(super) struct Reader<'a> {
    weights: TensorFile,
    pub(super) config: &'a Config,
}

impl<'a> Reader<'a> {
    pub(super) fn open(path: &Path, config: &'a Config) -> Result<Self, ModelError> {
        Ok(Self { weights: TensorFile::open(path)?, config })
    }

    /// Reads a tensor of the encoder.
    pub(super) fn tensor(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let name = self.weights.name_in_encoder(name);
        self.head(&name, shape)
    }

    /// Reads a tensor of the classification head.
    pub(super) fn head(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        self.weights.tensor(name, shape)
    }

    /// Reads linear layers of the encoder, and joins them side by side into one layer. Each of them has `inputs` inputs
    /// and `outputs` outputs.
    pub(super) fn linear(&mut self, names: &[&str], inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        let (mut rows, mut bias) = (Vec::new(), Vec::new());
        for name in names {
            rows.extend(self.tensor(&format!("{name}.weight"), &[outputs, inputs])?);
            bias.extend(self.tensor(&format!("{name}.bias"), &[outputs])?);
        }
        Ok(Linear { weight: transposed(&rows, inputs), bias })
    }

    /// Reads a normalisation layer of the encoder.
    pub(super) fn norm(&mut self, name: &str) -> Result<Norm, ModelError> {
        let width = self.config.hidden_size;
        let scale = self.tensor(&format!("{name}.weight"), &[width])?;
        let shift = self.tensor(&format!("{name}.bias"), &[width])?;
        Ok(Norm { scale, shift, epsilon: self.config.epsilon as f32 })
    }
}

/// Transposes a matrix with rows of `columns` values.
fn transposed(values: &[f32], columns: usize) -> Vec<f32> {
    /// Number of rows that are read together, so that adjacent writes fill a cache line.
    const ROWS: usize = 16;
    let rows = values.len() / columns;
    let mut transposed = vec![0.0; values.len()];
    for (block, values) in values.chunks(ROWS * columns).enumerate() {
        for (column, row) in transposed.chunks_exact_mut(rows).enumerate() {
            let values = values.iter().skip(column).step_by(columns);
            row[block * ROWS..].iter_mut().zip(values).for_each(|(to, from)| *to = *from);
        }
    }
    transposed
}
