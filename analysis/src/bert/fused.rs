//! What follows a matrix product, done in place in one pass over its result, in a form that compilers can vectorise.
//!
//! A tensor of its own for every step would cost more in fresh memory pages than the arithmetic does.

use candle_core::{CpuStorage, InplaceOp1, InplaceOp2, Layout, Result, bail};

/// `x ← x + bias` for every row of `x`.
pub(super) struct Bias<'a>(pub(super) &'a [f32]);

/// `x ← gelu(x + bias)` for every row of `x`, with the exact ("erf") GELU.
pub(super) struct BiasGelu<'a>(pub(super) &'a [f32]);

/// `x ← layer_norm(x + bias + residual)` for every row of `x` and of `residual`.
pub(super) struct ResidualNorm<'a> {
    pub(super) bias: &'a [f32],
    pub(super) norm: &'a Norm,
}

/// Layer normalisation: every row to mean 0 and variance 1, then scaled and shifted by component.
pub(super) struct Norm {
    pub(super) scale: Vec<f32>,
    pub(super) shift: Vec<f32>,
    pub(super) epsilon: f32,
}

impl InplaceOp1 for Bias<'_> {
    fn name(&self) -> &'static str {
        "bias"
    }

    fn cpu_fwd(&self, x: &mut CpuStorage, layout: &Layout) -> Result<()> {
        for row in values_mut(x, layout)?.chunks_exact_mut(self.0.len()) {
            row.iter_mut().zip(self.0).for_each(|(x, bias)| *x += bias);
        }
        Ok(())
    }
}

impl InplaceOp1 for BiasGelu<'_> {
    fn name(&self) -> &'static str {
        "bias-gelu"
    }

    fn cpu_fwd(&self, x: &mut CpuStorage, layout: &Layout) -> Result<()> {
        for row in values_mut(x, layout)?.chunks_exact_mut(self.0.len()) {
            row.iter_mut().zip(self.0).for_each(|(x, bias)| *x = gelu(*x + bias));
        }
        Ok(())
    }
}

impl InplaceOp2 for ResidualNorm<'_> {
    fn name(&self) -> &'static str {
        "residual-norm"
    }

    fn cpu_fwd(&self, x: &mut CpuStorage, layout: &Layout, residual: &CpuStorage, other: &Layout) -> Result<()> {
        let width = self.bias.len();
        let residual = values(residual, other)?.chunks_exact(width);
        for (row, residual) in values_mut(x, layout)?.chunks_exact_mut(width).zip(residual) {
            for ((x, residual), bias) in row.iter_mut().zip(residual).zip(self.bias) {
                *x += residual + bias;
            }
            self.norm.apply(row);
        }
        Ok(())
    }
}

impl Norm {
    fn apply(&self, row: &mut [f32]) {
        let width = row.len() as f32;
        let mean = sum(row, |x| x) / width;
        let variance = sum(row, |x| (x - mean) * (x - mean)) / width;
        let factor = 1.0 / (variance + self.epsilon).sqrt();
        for ((x, scale), shift) in row.iter_mut().zip(&self.scale).zip(&self.shift) {
            *x = (*x - mean) * factor * scale + shift;
        }
    }
}

/// Sum in eight interleaved parts: a fixed order that can be vectorised.
#[inline(always)]
fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut parts = [0f32; 8];
    let mut chunks = values.chunks_exact(8);
    for chunk in &mut chunks {
        for (part, &value) in parts.iter_mut().zip(chunk) {
            *part += of(value);
        }
    }
    let rest: f32 = chunks.remainder().iter().map(|&value| of(value)).sum();
    parts.iter().sum::<f32>() + rest
}

fn values_mut<'a>(storage: &'a mut CpuStorage, layout: &Layout) -> Result<&'a mut [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((from, to))) => Ok(&mut values[from..to]),
        _ => bail!("a contiguous f32 tensor is needed"),
    }
}

fn values<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    match (storage, layout.contiguous_offsets()) {
        (CpuStorage::F32(values), Some((from, to))) => Ok(&values[from..to]),
        _ => bail!("a contiguous f32 tensor is needed"),
    }
}

/// `x · Φ(x)`, with Φ the normal distribution.
#[inline(always)]
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The error function as a quotient of polynomials on [-4, 4], beyond which it is ±1 in `f32`; the coefficients are
/// those of Eigen's `generic_fast_erf_float` (and of XLA), with an absolute error below 1e-6.
#[inline(always)]
fn erf(x: f32) -> f32 {
    const NUMERATOR: [f32; 7] = [
        -2.726_142_3e-10,
        2.770_681_4e-8,
        -2.101_024e-6,
        -5.692_506_4e-5,
        -7.349_906_3e-4,
        -2.954_6e-3,
        -1.609_603_3e-2,
    ];
    const DENOMINATOR: [f32; 5] = [-1.456_607_2e-5, -2.133_740_6e-4, -1.682_827e-3, -7.373_329e-3, -1.426_473_9e-2];
    let x = x.clamp(-4.0, 4.0);
    let square = x * x;
    let polynomial = |coefficients: &[f32]| coefficients.iter().fold(0.0, |sum, &c| sum * square + c);
    x * polynomial(&NUMERATOR) / polynomial(&DENOMINATOR)
}

#[cfg(test)]
mod tests {
    use candle_core::{Device, Tensor};
    use candle_nn::ops::layer_norm;

    use super::*;

    const WIDTH: usize = 13;

    fn rows(from: f32, step: f32) -> Result<Tensor> {
        let values: Vec<f32> = (0..300 * WIDTH).map(|i| from + step * i as f32).collect();
        Tensor::from_vec(values, (300, WIDTH), &Device::Cpu)
    }

    fn parameters(around: f32) -> Vec<f32> {
        (0..WIDTH).map(|i| around + (i as f32 * 0.7).sin()).collect()
    }

    fn difference(a: &Tensor, b: &Tensor) -> Result<f32> {
        (a - b)?.abs()?.max_all()?.to_scalar::<f32>()
    }

    #[test]
    fn bias_and_gelu_agree_with_the_library() -> Result<()> {
        let (x, bias) = (rows(-8.0, 0.0041)?, parameters(0.3));
        let plain = x.broadcast_add(&Tensor::new(&bias[..], &Device::Cpu)?)?;
        let biased = x.copy()?;
        biased.inplace_op1(&Bias(&bias))?;
        assert_eq!(difference(&biased, &plain)?, 0.0);
        x.inplace_op1(&BiasGelu(&bias))?;
        let error = difference(&x, &plain.gelu_erf()?)?;
        assert!(error < 5e-6, "{error}");
        Ok(())
    }

    #[test]
    fn residual_norm_agrees_with_the_library() -> Result<()> {
        let (x, residual, bias) = (rows(-3.0, 0.02)?.sin()?, rows(5.0, -0.013)?.cos()?, parameters(0.0));
        let norm = Norm { scale: parameters(1.0), shift: parameters(-0.5), epsilon: 1e-12 };
        let tensor = |values: &[f32]| Tensor::new(values, &Device::Cpu);
        let sum = (&x + &residual)?.broadcast_add(&tensor(&bias)?)?;
        let expected = layer_norm(&sum, &tensor(&norm.scale)?, &tensor(&norm.shift)?, norm.epsilon)?;
        x.inplace_op2(&residual, &ResidualNorm { bias: &bias, norm: &norm })?;
        let error = difference(&x, &expected)?;
        assert!(error < 1e-4, "{error}");
        Ok(())
    }
}
