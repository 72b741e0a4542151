//! Parts of a model out of its weights, by the names that the `transformers` library gives them.

use std::path::Path;

use candle_core::Tensor;

use super::config::Config;
use super::fused::Norm;
use super::weights::TensorFile;
use crate::model_error::ModelError;

pub(super) struct Linear {
    /// Inputs × outputs.
    pub(super) weight: Tensor,
    pub(super) bias: Vec<f32>,
}

pub(super) struct Reader<'a> {
    weights: TensorFile,
    path: &'a Path,
    pub(super) config: &'a Config,
}

impl<'a> Reader<'a> {
    pub(super) fn open(path: &'a Path, config: &'a Config) -> Result<Self, ModelError> {
        Ok(Self { weights: TensorFile::open(path)?, path, config })
    }

    /// A tensor of the encoder.
    pub(super) fn tensor(&mut self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        let name = self.weights.name_in_encoder(name);
        self.weights.tensor(&name, shape)
    }

    /// A linear layer of the encoder.
    pub(super) fn linear(&mut self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        let name = self.weights.name_in_encoder(name);
        self.head(&name, inputs, outputs)
    }

    /// A linear layer on top of the encoder.
    pub(super) fn head(&mut self, name: &str, inputs: usize, outputs: usize) -> Result<Linear, ModelError> {
        let weight = self.weights.tensor(&format!("{name}.weight"), &[outputs, inputs])?;
        let bias = self.weights.tensor(&format!("{name}.bias"), &[outputs])?;
        Ok(Linear { weight: self.done(weight.t())?, bias: self.done(bias.to_vec1())? })
    }

    /// A normalisation of the encoder.
    pub(super) fn norm(&mut self, name: &str) -> Result<Norm, ModelError> {
        let width = self.config.hidden_size;
        let scale = self.tensor(&format!("{name}.weight"), &[width])?;
        let shift = self.tensor(&format!("{name}.bias"), &[width])?;
        let (scale, shift) = (self.done(scale.to_vec1())?, self.done(shift.to_vec1())?);
        Ok(Norm { scale, shift, epsilon: self.config.epsilon as f32 })
    }

    /// What the tensor library made of the weights.
    pub(super) fn done<T>(&self, result: candle_core::Result<T>) -> Result<T, ModelError> {
        result.map_err(|error| ModelError::Damaged { path: self.path.to_owned(), reason: error.to_string() })
    }
}
