//! The forward pass of the encoder (Devlin et al., 2018, post-norm) over sequences packed end to end: only attention looks across
//! tokens, so everything else runs over all of them as one matrix.

use std::borrow::Cow;

use aurora_kernels::{add_and_normalise, attend, gelu};

use super::linear::{Linear, LinearBuffers};
use crate::static_model::normalise;

/// The segments of the encoder: what kind of text it reads.
#[derive(Debug, Clone, Copy)]
pub(super) enum Segment {
    Query = 0,
    Passage = 1,
}

/// Weights and shape.
pub(super) struct Encoder {
    pub(super) shape: Shape,
    /// The file.
    pub(super) bytes: Cow<'static, [u8]>,
    /// Where the token table begins in it, row after row of signed bytes, and the scale of each row.
    pub(super) table: usize,
    pub(super) table_scales: Vec<f32>,
    pub(super) positions: Vec<f32>,
    pub(super) segments: Vec<f32>,
    pub(super) norm: Norm,
    pub(super) layers: Vec<EncoderLayer>,
    /// From a token in its context to what is compared.
    pub(super) projection: Linear,
    /// How much a token of a query tells: softplus of its product with these.
    pub(super) word_weights: Vec<f32>,
    pub(super) word_bias: f32,
    /// Shares of the cosine of the means, and of late interaction, in a score.
    pub(super) shares: [f32; 2],
}

/// The sizes of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
pub(super) struct Shape {
    pub(super) dimensions: usize,
    pub(super) layers: usize,
    pub(super) inner: usize,
    pub(super) positions: usize,
    pub(super) late: usize,
    pub(super) rows: usize,
}

pub(super) struct EncoderLayer {
    /// Query, key and value side by side; the query is scaled for the dot products.
    pub(super) attention: Linear,
    pub(super) attention_output: Linear,
    pub(super) attention_norm: Norm,
    pub(super) intermediate: Linear,
    pub(super) output: Linear,
    pub(super) output_norm: Norm,
}

pub(super) struct Norm {
    pub(super) scale: Vec<f32>,
    pub(super) shift: Vec<f32>,
}

/// A text after the encoder.
pub(super) struct Encoded {
    /// Direction of the mean of all tokens.
    pub(super) mean: Vec<f32>,
    /// Directions of the projected tokens, one after the other.
    pub(super) tokens: Vec<f32>,
    /// Share of every token as a word of a query.
    pub(super) weights: Vec<f32>,
}

impl Encoder {
    /// Rows of the token table.
    pub(super) fn rows(&self) -> usize {
        self.shape.rows
    }

    /// Most tokens of a text.
    pub(super) fn positions(&self) -> usize {
        self.shape.positions
    }

    /// The file up to its matrices of bytes.
    pub(super) fn floats(&self) -> &[u8] {
        &self.bytes[..self.table]
    }

    /// Every text, by the rows of its tokens: at least one and at most [`Self::positions`].
    pub(super) fn encode(&self, texts: &[&[u32]], segment: Segment) -> Vec<Encoded> {
        let width = self.shape.dimensions;
        let mut hidden = self.embeddings(texts, segment);
        let mut buffers = LinearBuffers::default();
        let (mut wide, mut narrow, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        for layer in &self.layers {
            layer.attention.apply(&self.bytes, &hidden, &mut buffers, &mut wide);
            narrow.resize(hidden.len(), 0.0);
            let mut start = 0;
            for text in texts {
                let end = start + text.len() * width;
                attend(&wide[3 * start..3 * end], width, &mut scratch, &mut narrow[start..end]);
                start = end;
            }
            layer.attention_output.apply(&self.bytes, &narrow, &mut buffers, &mut wide);
            layer.attention_norm.apply(&mut hidden, &wide);
            layer.intermediate.apply(&self.bytes, &hidden, &mut buffers, &mut wide);
            gelu(&mut wide);
            layer.output.apply(&self.bytes, &wide, &mut buffers, &mut narrow);
            layer.output_norm.apply(&mut hidden, &narrow);
        }
        self.projection.apply(&self.bytes, &hidden, &mut buffers, &mut wide);
        let (mut hidden, mut projected) = (hidden.as_slice(), wide.as_slice());
        let encoded = texts.iter().map(|text| {
            let (of_text, rest) = hidden.split_at(text.len() * width);
            let (tokens, others) = projected.split_at(text.len() * self.shape.late);
            (hidden, projected) = (rest, others);
            self.encoded(of_text, tokens)
        });
        encoded.collect()
    }

    /// The normalised sums of token, position and segment.
    fn embeddings(&self, texts: &[&[u32]], segment: Segment) -> Vec<f32> {
        let width = self.shape.dimensions;
        let count = texts.iter().map(|text| text.len()).sum::<usize>() * width;
        let (mut tokens, mut others) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let segment = &self.segments[segment as usize * width..][..width];
        for text in texts {
            for (&row, position) in text.iter().zip(self.positions.chunks_exact(width)) {
                let (row, scale) = (row as usize, self.table_scales[row as usize]);
                let values = &self.bytes[self.table + row * width..][..width];
                tokens.extend(values.iter().map(|&value| f32::from(value as i8) * scale));
                others.extend(position.iter().zip(segment).map(|(position, segment)| position + segment));
            }
        }
        self.norm.apply(&mut tokens, &others);
        tokens
    }

    fn encoded(&self, hidden: &[f32], projected: &[f32]) -> Encoded {
        let rows = || hidden.chunks_exact(self.shape.dimensions);
        let mut mean = vec![0f32; self.shape.dimensions];
        rows().for_each(|row| mean.iter_mut().zip(row).for_each(|(sum, value)| *sum += value));
        normalise(&mut mean);
        let mut tokens = projected.to_vec();
        tokens.chunks_exact_mut(self.shape.late).for_each(normalise);
        let weights: Vec<f32> = rows().map(|row| softplus(dot(row, &self.word_weights) + self.word_bias)).collect();
        let total = weights.iter().sum::<f32>().max(f32::MIN_POSITIVE);
        Encoded { mean, tokens, weights: weights.into_iter().map(|weight| weight / total).collect() }
    }

    /// `share · cosine of the means + share · Σ weight of a query token · its greatest cosine among the passage's tokens`.
    pub(super) fn score(&self, query: &Encoded, passage: &Encoded) -> f32 {
        let width = self.shape.late;
        let late = query.tokens.chunks_exact(width).zip(&query.weights).map(|(token, weight)| {
            let best = passage.tokens.chunks_exact(width).map(|other| dot(token, other)).fold(f32::MIN, f32::max);
            weight * best
        });
        self.shares[0] * dot(&query.mean, &passage.mean) + self.shares[1] * late.sum::<f32>()
    }
}

impl Norm {
    fn apply(&self, x: &mut [f32], residual: &[f32]) {
        add_and_normalise(x, residual, &self.scale, &self.shift);
    }
}

fn softplus(x: f32) -> f32 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// Dot product in eight interleaved parts: a fixed order that compilers can vectorise.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let (a, b) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let parts =
        a.0.iter().zip(b.0).fold([0f32; 8], |parts, (a, b)| std::array::from_fn(|at| parts[at] + a[at] * b[at]));
    let rest = a.1.iter().zip(b.1).map(|(a, b)| a * b);
    parts.into_iter().chain(rest).sum()
}
