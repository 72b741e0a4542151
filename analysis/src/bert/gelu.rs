//! The exact ("erf") GELU, in place, in a form that compilers can vectorise.

use candle_core::{CpuStorage, InplaceOp2, Layout, Result, bail};

/// `x ← gelu(x + bias)` over the last dimension.
pub(super) struct BiasGelu;

impl InplaceOp2 for BiasGelu {
    fn name(&self) -> &'static str {
        "bias-gelu"
    }

    fn cpu_fwd(&self, x: &mut CpuStorage, x_layout: &Layout, bias: &CpuStorage, bias_layout: &Layout) -> Result<()> {
        let (CpuStorage::F32(x), CpuStorage::F32(bias)) = (x, bias) else { bail!("bias-gelu needs f32") };
        let (Some((from, to)), Some((bias_from, bias_to))) =
            (x_layout.contiguous_offsets(), bias_layout.contiguous_offsets())
        else {
            bail!("bias-gelu needs contiguous tensors")
        };
        let bias = &bias[bias_from..bias_to];
        for row in x[from..to].chunks_exact_mut(bias.len()) {
            for (x, &bias) in row.iter_mut().zip(bias) {
                *x = gelu(*x + bias);
            }
        }
        Ok(())
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
        -2.954_599_8e-3,
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

    use super::*;

    #[test]
    fn agrees_with_the_library_function() -> Result<()> {
        let rows = 500;
        let x: Vec<f32> = (0..rows * 8).map(|i| (i as f32 - 2000.0) / 250.0).collect();
        let x = Tensor::from_vec(x, (rows, 8), &Device::Cpu)?;
        let bias = Tensor::arange(0f32, 8.0, &Device::Cpu)?;
        let expected = x.broadcast_add(&bias)?.gelu_erf()?;
        x.inplace_op2(&bias, &BiasGelu)?;
        let error = (x - expected)?.abs()?.max_all()?.to_scalar::<f32>()?;
        assert!(error < 5e-6, "{error}");
        Ok(())
    }
}
