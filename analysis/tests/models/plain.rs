//! A straightforward reference implementation of the forward pass of `BertForSequenceClassification`, with simple loops
//! and in double precision.

use std::collections::HashMap;

use crate::tiny::{self, Tensor};

pub(crate) type Matrix = Vec<Vec<f64>>;

/// A model with weights as `f64` numbers.
pub(crate) struct PlainModel {
    tensors: HashMap<String, (Vec<usize>, Vec<f64>)>,
}

impl PlainModel {
    pub(crate) fn new(weights: &HashMap<String, Tensor>) -> Self {
        let plain = |tensor: &Tensor| (tensor.shape.clone(), tensor.values.iter().copied().map(f64::from).collect());
        Self { tensors: weights.iter().map(|(name, tensor)| (name.clone(), plain(tensor))).collect() }
    }

    /// Returns the output of the last layer for a sequence of tokens, each given by its id and type.
    pub(crate) fn hidden(&self, tokens: &[(u32, u32)]) -> Matrix {
        let mut hidden: Matrix = tokens.iter().enumerate().map(|(at, &token)| self.embedded(at, token)).collect();
        for layer in 0..tiny::LAYERS {
            hidden = self.layer(layer, &hidden);
        }
        hidden
    }

    /// Returns the logit of a sequence of tokens.
    pub(crate) fn logit(&self, tokens: &[(u32, u32)]) -> f64 {
        let hidden = self.hidden(tokens);
        let pooled: Vec<f64> = self.linear("bert.pooler.dense", &hidden[0]).into_iter().map(f64::tanh).collect();
        self.linear("classifier", &pooled)[0]
    }

    fn embedded(&self, position: usize, (id, kind): (u32, u32)) -> Vec<f64> {
        let words = self.row("bert.embeddings.word_embeddings.weight", id as usize);
        let positions = self.row("bert.embeddings.position_embeddings.weight", position);
        let kinds = self.row("bert.embeddings.token_type_embeddings.weight", kind as usize);
        self.norm("bert.embeddings.LayerNorm", &added(&added(words, positions), kinds))
    }

    fn layer(&self, layer: usize, hidden: &Matrix) -> Matrix {
        let name = |part: &str| format!("bert.encoder.layer.{layer}.{part}");
        let project = |part: &str| -> Matrix {
            hidden.iter().map(|row| self.linear(&name(&format!("attention.self.{part}")), row)).collect()
        };
        let context = attention(&project("query"), &project("key"), &project("value"));
        let outputs = hidden.iter().zip(&context).map(|(row, context)| {
            let attended = self.linear(&name("attention.output.dense"), context);
            let attended = self.norm(&name("attention.output.LayerNorm"), &added(row, &attended));
            let inner = self.linear(&name("intermediate.dense"), &attended);
            let inner: Vec<f64> = inner.into_iter().map(gelu).collect();
            let output = self.linear(&name("output.dense"), &inner);
            self.norm(&name("output.LayerNorm"), &added(&attended, &output))
        });
        outputs.collect()
    }

    fn linear(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let (_, bias) = &self.tensors[&format!("{name}.bias")];
        (0..bias.len()).map(|row| bias[row] + product(self.row(&format!("{name}.weight"), row), input)).collect()
    }

    fn norm(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let (scale, shift) = (&self.tensors[&format!("{name}.weight")].1, &self.tensors[&format!("{name}.bias")].1);
        let width = input.len() as f64;
        let mean = input.iter().sum::<f64>() / width;
        let variance = input.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / width;
        let factor = 1.0 / (variance + 1e-12).sqrt();
        (0..input.len()).map(|at| (input[at] - mean) * factor * scale[at] + shift[at]).collect()
    }

    fn row(&self, name: &str, row: usize) -> &[f64] {
        let (shape, values) = &self.tensors[name];
        &values[row * shape[1]..(row + 1) * shape[1]]
    }
}

fn attention(queries: &Matrix, keys: &Matrix, values: &Matrix) -> Matrix {
    let width = tiny::HIDDEN / tiny::HEADS;
    let one = |query: &Vec<f64>| -> Vec<f64> {
        let head = |head: usize| {
            let part = head * width..(head + 1) * width;
            let scores =
                keys.iter().map(|key| product(&query[part.clone()], &key[part.clone()]) / (width as f64).sqrt());
            let weights: Vec<f64> = scores.map(f64::exp).collect();
            let total: f64 = weights.iter().sum();
            part.map(move |at| {
                weights.iter().zip(values).map(|(weight, value)| weight * value[at]).sum::<f64>() / total
            })
            .collect::<Vec<f64>>()
        };
        (0..tiny::HEADS).flat_map(head).collect()
    };
    queries.iter().map(one).collect()
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn added(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

/// `x · Φ(x)`, with the error function computed by its Maclaurin series.
fn gelu(x: f64) -> f64 {
    let z = x / std::f64::consts::SQRT_2;
    if z.abs() > 4.0 {
        return x.max(0.0);
    }
    let (mut term, mut erf) = (z, z);
    for n in 1..100 {
        term *= -z * z / f64::from(n);
        erf += term / f64::from(2 * n + 1);
    }
    0.5 * x * (1.0 + erf * std::f64::consts::FRAC_2_SQRT_PI)
}
