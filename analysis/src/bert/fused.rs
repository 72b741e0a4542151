//! Operations on the result of a matrix product. Each operation changes the result in place, in one pass that the
//! compiler can vectorise.

/// `x ← x + bias` for every row of `x`.
pub(super) fn add_bias(x: &mut [f32], bias: &[f32]) {
    for row in x.chunks_exact_mut(bias.len()) {
        row.iter_mut().zip(bias).for_each(|(x, bias)| *x += bias);
    }
}

/// `x ← gelu(x + bias)` for every row of `x`, with the exact ("erf") GELU.
pub(super) fn add_bias_gelu(x: &mut [f32], bias: &[f32]) {
    for row in x.chunks_exact_mut(bias.len()) {
        row.iter_mut().zip(bias).for_each(|(x, bias)| *x = gelu(*x + bias));
    }
}

/// Layer normalisation: shifts and scales every row to mean 0 and variance 1, then scales and shifts each component by
/// learned parameters.
pub(super) struct Norm {
    pub(super) scale: Vec<f32>,
    pub(super) shift: Vec<f32>,
    pub(super) epsilon: f32,
}

impl Norm {
    /// `x ← layer_norm(x + bias + residual)` for every row of `x` and of `residual`.
    pub(super) fn add(&self, x: &mut [f32], bias: &[f32], residual: &[f32]) {
        for (row, residual) in x.chunks_exact_mut(bias.len()).zip(residual.chunks_exact(bias.len())) {
            for ((x, residual), bias) in row.iter_mut().zip(residual).zip(bias) {
                *x += residual + bias;
            }
            self.apply(row);
        }
    }

    /// `row ← layer_norm(row)`.
    pub(super) fn apply(&self, row: &mut [f32]) {
        let width = row.len() as f32;
        let mean = sum(row, |x| x) / width;
        let variance = sum(row, |x| (x - mean) * (x - mean)) / width;
        let factor = 1.0 / (variance + self.epsilon).sqrt();
        for ((x, scale), shift) in row.iter_mut().zip(&self.scale).zip(&self.shift) {
            *x = (*x - mean) * factor * scale + shift;
        }
    }
}

/// `row ← exp(row)`, scaled so that its sum is 1.
pub(super) fn softmax(row: &mut [f32]) {
    let largest = in_parts(row, f32::NEG_INFINITY, |largest, x| if x > largest { x } else { largest });
    let largest = largest.into_iter().fold(f32::NEG_INFINITY, f32::max);
    row.iter_mut().for_each(|x| *x = exp(*x - largest));
    let factor = 1.0 / sum(row, |x| x);
    row.iter_mut().for_each(|x| *x *= factor);
}

/// Returns the sum, computed in eight interleaved parts: a fixed order that can be vectorised.
#[inline(always)]
fn sum(values: &[f32], value: impl Fn(f32) -> f32) -> f32 {
    in_parts(values, 0.0, |sum, x| sum + value(x)).into_iter().sum()
}

/// Combines the values in eight interleaved parts: part `n` combines `start` with the values `n`, `n + 8`, `n + 16` and
/// so on.
#[inline(always)]
fn in_parts(values: &[f32], start: f32, combine: impl Fn(f32, f32) -> f32) -> [f32; 8] {
    let mut parts = [start; 8];
    let (chunks, rest) = values.as_chunks::<8>();
    for values in chunks {
        for (part, &value) in parts.iter_mut().zip(values) {
            *part = combine(*part, value);
        }
    }
    for (part, &value) in parts.iter_mut().zip(rest) {
        *part = combine(*part, value);
    }
    parts
}

/// The exponential function of nonpositive numbers, with a relative error below 3e-7: a power of two times a polynomial
/// with the coefficients of Cephes' `expf`. For inputs below -87, the result is the value at -87, about 1e-38.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const COEFFICIENTS: [f32; 6] = [1.987_569_1e-4, 1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 0.5];
    /// Adding this constant to a number leaves the number, rounded to an integer, in the lowest bits of the sum.
    const ROUNDING: f32 = 12_582_912.0;
    let x = x.clamp(-87.0, 0.0);
    let rounded = x * std::f32::consts::LOG2_E + ROUNDING;
    let whole = rounded - ROUNDING;
    // The logarithm of 2 in two parts, so that the first product is exact.
    let rest = x - whole * 0.693_359_4 + whole * 2.121_944_4e-4;
    let power = f32::from_bits((rounded.to_bits() << 23).wrapping_add(1f32.to_bits()));
    (polynomial(&COEFFICIENTS, rest) * rest * rest + rest + 1.0) * power
}

/// `x · Φ(x)`, where Φ is the cumulative normal distribution.
#[inline(always)]
fn gelu(x: f32) -> f32 {
    0.5 * x * (1.0 + erf(x * std::f32::consts::FRAC_1_SQRT_2))
}

/// The error function as a quotient of polynomials on [-4, 4]. Outside this range its value is ±1 in `f32`. The
/// coefficients are from Eigen's `generic_fast_erf_float`, which XLA also uses, with an absolute error below 1e-6.
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
    x * polynomial(&NUMERATOR, square) / polynomial(&DENOMINATOR, square)
}

#[inline(always)]
fn polynomial(coefficients: &[f32], x: f32) -> f32 {
    coefficients.iter().fold(0.0, |sum, &c| sum * x + c)
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTH: usize = 13;

    fn rows(value: impl Fn(f32) -> f32) -> Vec<f32> {
        (0..300 * WIDTH).map(|i| value(i as f32)).collect()
    }

    fn parameters(around: f32) -> Vec<f32> {
        (0..WIDTH).map(|i| around + (i as f32 * 0.7).sin()).collect()
    }

    /// The error function as its Maclaurin series.
    fn plain_erf(x: f64) -> f64 {
        if x.abs() > 5.0 {
            return x.signum();
        }
        let term = |term: &mut f64, n: u32| {
            let now = *term;
            *term *= -x * x / f64::from(n + 1);
            Some(now / f64::from(2 * n + 1))
        };
        (0..120).scan(x, term).sum::<f64>() * std::f64::consts::FRAC_2_SQRT_PI
    }

    #[test]
    fn bias_and_gelu_agree_with_a_plain_computation() {
        let (x, bias) = (rows(|i| -8.0 + 0.0041 * i), parameters(0.3));
        let (mut biased, mut activated) = (x.clone(), x.clone());
        add_bias(&mut biased, &bias);
        add_bias_gelu(&mut activated, &bias);
        for (at, x) in x.iter().enumerate() {
            assert_eq!(biased[at], x + bias[at % WIDTH]);
            let x = f64::from(biased[at]);
            let expected = 0.5 * x * (1.0 + plain_erf(x / std::f64::consts::SQRT_2));
            let error = (f64::from(activated[at]) - expected).abs();
            assert!(error < 5e-6, "{error} at {x}");
        }
    }

    #[test]
    fn residual_norm_agrees_with_a_plain_computation() {
        let (x, residual) = (rows(|i| (-3.0 + 0.02 * i).sin()), rows(|i| (5.0 - 0.013 * i).cos()));
        let (bias, norm) = (parameters(0.0), Norm { scale: parameters(1.0), shift: parameters(-0.5), epsilon: 1e-12 });
        let mut found = x.clone();
        norm.add(&mut found, &bias, &residual);
        for (row, found) in found.chunks_exact(WIDTH).enumerate() {
            let at = |i| row * WIDTH + i;
            let sums = (0..WIDTH).map(|i| f64::from(x[at(i)]) + f64::from(residual[at(i)]) + f64::from(bias[i]));
            let mean = sums.clone().sum::<f64>() / WIDTH as f64;
            let variance = sums.clone().map(|sum| (sum - mean).powi(2)).sum::<f64>() / WIDTH as f64;
            for (i, sum) in sums.enumerate() {
                let normal = (sum - mean) / (variance + 1e-12).sqrt();
                let expected = normal * f64::from(norm.scale[i]) + f64::from(norm.shift[i]);
                let error = (f64::from(found[i]) - expected).abs();
                assert!(error < 1e-4, "{error} in row {row}");
            }
        }
    }

    #[test]
    fn exp_agrees_with_the_standard_library() {
        for x in (0..87_000).map(|i| i as f32 * -0.001) {
            let expected = f64::from(x).exp();
            let error = (f64::from(exp(x)) / expected - 1.0).abs();
            assert!(error < 3e-7, "{error} at {x}");
        }
        assert_eq!((exp(0.0), exp(f32::NEG_INFINITY)), (1.0, exp(-87.0)));
    }

    #[test]
    fn softmax_agrees_with_a_plain_computation() {
        for row in rows(|i| (i * 0.37).sin() * i * 0.02).chunks(29).chain([&[-1e30, 0.0, 1e30][..], &[7.0]]) {
            let mut found = row.to_vec();
            softmax(&mut found);
            let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            let powers: Vec<f64> = row.iter().map(|&x| f64::from(x - largest).exp()).collect();
            let total: f64 = powers.iter().sum();
            for (found, power) in found.into_iter().zip(powers) {
                let expected = power / total;
                let error = (f64::from(found) - expected).abs();
                assert!(error < 1e-6 * expected + 1e-37, "{found} and {expected}");
            }
        }
    }

    #[test]
    fn non_finite_inputs_give_nan() {
        for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut row = vec![x; 11];
            softmax(&mut row);
            assert!(row.iter().all(|x| x.is_nan()));
        }
        for at in 0..11 {
            let mut row = vec![0.5; 11];
            row[at] = f32::NAN;
            softmax(&mut row);
            assert!(row.iter().all(|x| x.is_nan()));
        }
        assert!(gelu(f32::NAN).is_nan());
    }
}
