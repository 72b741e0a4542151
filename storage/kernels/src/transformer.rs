//! What stands between the matrix products of a transformer encoder (Vaswani et al., 2017). Every sum of floats has a fixed order, so
//! that all variants give the same bits.

use std::array;

#[cfg(target_arch = "x86_64")]
use crate::{has_middle, has_wide};

/// Lanes of the sums.
const LANES: usize = 16;
/// Components of a head's queries, keys and values.
pub const HEAD: usize = 32;
/// Queries that attend at a time.
const QUERIES: usize = 4;
/// Adding 1.5 · 2^23 to a small float rounds it to a whole number, which is then in its lowest bits.
const ROUNDER: f32 = 12_582_912.0;

/// Rows of floats as unsigned bytes: `value ≈ (byte − 128) · scale`, one scale a row.
pub fn quantise_rows(values: &[f32], width: usize, bytes: &mut [u8], scales: &mut [f32]) {
    dispatch!(quantise_portable(values: &[f32], width: usize, bytes: &mut [u8], scales: &mut [f32]))
}

#[inline(always)]
fn quantise_portable(values: &[f32], width: usize, bytes: &mut [u8], scales: &mut [f32]) {
    let rows = values.chunks_exact(width).zip(bytes.chunks_exact_mut(width));
    for ((values, bytes), scale) in rows.zip(scales) {
        let peak = greatest(values, f32::abs).max(f32::MIN_POSITIVE * 127.0);
        *scale = peak / 127.0;
        let factor = 127.0 / peak;
        for (byte, value) in bytes.iter_mut().zip(values) {
            *byte = ((value * factor + ROUNDER).to_bits() as u8).wrapping_add(128);
        }
    }
}

/// Products of quantised rows with a quantised matrix, as floats: `(sum − offset) · column's scale · row's scale + bias`. The offset of a
/// column is 128 times the sum of its bytes.
pub fn dequantise(sums: &[i32], columns: &[ColumnScale], scales: &[f32], out: &mut [f32]) {
    dispatch!(dequantise_portable(sums: &[i32], columns: &[ColumnScale], scales: &[f32], out: &mut [f32]))
}

/// What turns a column of integer products into floats.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ColumnScale {
    /// What to take from a sum.
    pub offset: i32,
    /// The scale of the column.
    pub scale: f32,
    /// What to add at the end.
    pub bias: f32,
}

#[inline(always)]
fn dequantise_portable(sums: &[i32], columns: &[ColumnScale], scales: &[f32], out: &mut [f32]) {
    let width = columns.len();
    for ((sums, out), row) in sums.chunks_exact(width).zip(out.chunks_exact_mut(width)).zip(scales) {
        for ((sum, column), out) in sums.iter().zip(columns).zip(out) {
            *out = (sum - column.offset) as f32 * (column.scale * row) + column.bias;
        }
    }
}

/// `x ← gelu(x)` in the form with the hyperbolic tangent (Hendrycks and Gimpel, 2016).
pub fn gelu(x: &mut [f32]) {
    dispatch!(gelu_portable(x: &mut [f32]))
}

#[inline(always)]
fn gelu_portable(x: &mut [f32]) {
    for x in x {
        // tanh(u) = 2 / (1 + e^(−2u)) − 1, and 0.797… is the square root of 2 / π.
        let u = 0.797_884_6 * (*x + 0.044_715 * *x * *x * *x);
        *x /= 1.0 + exp(-2.0 * u);
    }
}

/// `x ← layer_norm(x + residual)`, row by row: to mean 0 and variance 1, then scaled and shifted by component.
pub fn add_and_normalise(x: &mut [f32], residual: &[f32], scale: &[f32], shift: &[f32]) {
    dispatch!(add_and_normalise_portable(x: &mut [f32], residual: &[f32], scale: &[f32], shift: &[f32]))
}

#[inline(always)]
fn add_and_normalise_portable(x: &mut [f32], residual: &[f32], scale: &[f32], shift: &[f32]) {
    const EPSILON: f32 = 1e-12;
    let width = scale.len();
    for (x, residual) in x.chunks_exact_mut(width).zip(residual.chunks_exact(width)) {
        x.iter_mut().zip(residual).for_each(|(x, residual)| *x += residual);
        let mean = sum(x, |x| x) / width as f32;
        x.iter_mut().for_each(|x| *x -= mean);
        let factor = 1.0 / (sum(x, |x| x * x) / width as f32 + EPSILON).sqrt();
        for ((x, scale), shift) in x.iter_mut().zip(scale).zip(shift) {
            *x = *x * factor * scale + shift;
        }
    }
}

/// Dot-product attention of all heads inside one sequence. `mixed` has for every token its query (scaled for the products), key and value,
/// each of `hidden` components, 32 of them a head; `out` gets `hidden` for every token.
pub fn attend(mixed: &[f32], hidden: usize, scratch: &mut Vec<f32>, out: &mut [f32]) {
    dispatch!(attend_portable(mixed: &[f32], hidden: usize, scratch: &mut Vec<f32>, out: &mut [f32]))
}

#[inline(always)]
fn attend_portable(mixed: &[f32], hidden: usize, scratch: &mut Vec<f32>, out: &mut [f32]) {
    let tokens = mixed.len() / (3 * hidden);
    let padded = tokens.next_multiple_of(LANES);
    scratch.clear();
    scratch.resize(padded * (2 * HEAD + QUERIES), 0.0);
    let (keys, rest) = scratch.split_at_mut(padded * HEAD);
    let (values, weights) = rest.split_at_mut(padded * HEAD);
    for head in (0..hidden).step_by(HEAD) {
        // Keys in blocks of 16, component by component.
        for (token, row) in mixed.chunks_exact(3 * hidden).enumerate() {
            let block = &mut keys[token / LANES * LANES * HEAD..][..LANES * HEAD];
            for (component, &key) in row[hidden + head..][..HEAD].iter().enumerate() {
                block[component * LANES + token % LANES] = key;
            }
            values[token * HEAD..][..HEAD].copy_from_slice(&row[2 * hidden + head..][..HEAD]);
        }
        for first in (0..tokens).step_by(QUERIES) {
            let query = |at: usize| &mixed[(first + at).min(tokens - 1) * 3 * hidden + head..][..HEAD];
            let queries: [&[f32]; QUERIES] = array::from_fn(query);
            for (block, at) in keys.chunks_exact(LANES * HEAD).zip((0..).step_by(LANES)) {
                let mut products = [[0f32; LANES]; QUERIES];
                for (component, keys) in block.as_chunks().0.iter().enumerate() {
                    for (product, query) in products.iter_mut().zip(queries) {
                        *product = added(*product, query[component], keys);
                    }
                }
                let rows = weights.chunks_exact_mut(padded).zip(&products);
                rows.for_each(|(row, product)| row[at..at + LANES].copy_from_slice(product));
            }
            let mut sums = [0f32; QUERIES];
            for (weights, total) in weights.chunks_exact_mut(padded).zip(&mut sums) {
                weights[tokens..].fill(f32::MIN);
                let most = greatest(weights, |x| x);
                weights.iter_mut().for_each(|weight| *weight = exp(*weight - most));
                *total = sum(weights, |x| x);
            }
            let mut contexts = [[[0f32; LANES]; HEAD / LANES]; QUERIES];
            for (token, value) in values.chunks_exact(HEAD).take(tokens).enumerate() {
                for (query, context) in contexts.iter_mut().enumerate() {
                    let weight = weights[query * padded + token];
                    for (context, value) in context.iter_mut().zip(value.as_chunks().0) {
                        *context = added(*context, weight, value);
                    }
                }
            }
            for (query, (context, total)) in contexts.iter().zip(sums).take(tokens - first).enumerate() {
                let out = &mut out[(first + query) * hidden + head..][..HEAD];
                out.iter_mut().zip(context.as_flattened()).for_each(|(out, context)| *out = context / total);
            }
        }
    }
}

/// `sum + factor · values`: by value, so that it stays in registers.
#[inline(always)]
fn added(sum: [f32; LANES], factor: f32, values: &[f32; LANES]) -> [f32; LANES] {
    array::from_fn(|lane| sum[lane] + factor * values[lane])
}

/// Sum of `of` all values, in 16 interleaved parts and then in order. What exceeds a multiple of 16 comes last.
#[inline(always)]
fn sum(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let (chunks, rest) = values.as_chunks::<LANES>();
    let parts = chunks.iter().fold([0f32; LANES], |parts, chunk| array::from_fn(|lane| parts[lane] + of(chunk[lane])));
    parts.into_iter().chain(rest.iter().map(|&value| of(value))).sum()
}

/// The greatest of `of` all values; they are numbers.
#[inline(always)]
fn greatest(values: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let greater = |a: f32, b: f32| if b > a { b } else { a };
    let (chunks, rest) = values.as_chunks::<LANES>();
    let parts = chunks
        .iter()
        .fold([f32::MIN; LANES], |parts, chunk| array::from_fn(|lane| greater(parts[lane], of(chunk[lane]))));
    parts.into_iter().chain(rest.iter().map(|&value| of(value))).fold(f32::MIN, greater)
}

/// `e^x` as 2^n times a polynomial, with the coefficients of the Cephes library's `expf`: within 2 units in the last place, and 0 or
/// infinity nowhere, as `x` is clamped.
#[inline(always)]
fn exp(x: f32) -> f32 {
    let x = if x < -87.0 { -87.0 } else { x };
    let x = if x > 88.0 { 88.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUNDER;
    let n = shifted - ROUNDER;
    let r = x - n * 0.693_359_4 + n * 2.121_944_4e-4;
    let p = 1.987_569_2e-4;
    let p = p * r + 1.398_199_9e-3;
    let p = p * r + 8.333_452e-3;
    let p = p * r + 4.166_579_6e-2;
    let p = p * r + 0.166_666_66;
    let p = p * r + 0.5;
    f32::from_bits((p * r * r + r + 1.0).to_bits().wrapping_add(shifted.to_bits() << 23))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn floats(range: std::ops::Range<f32>, count: usize) -> impl Strategy<Value = Vec<f32>> {
        prop::collection::vec(range, count)
    }

    fn bits(values: &[f32]) -> Vec<u32> {
        values.iter().map(|value| value.to_bits()).collect()
    }

    /// Attention by definition, in f64.
    fn attention(mixed: &[f32], hidden: usize) -> Vec<f64> {
        let tokens = mixed.len() / (3 * hidden);
        let of = |token: usize, part: usize, at: usize| f64::from(mixed[token * 3 * hidden + part * hidden + at]);
        let mut out = vec![0.0; tokens * hidden];
        for token in 0..tokens {
            for at in 0..hidden {
                let head = at / HEAD * HEAD..(at / HEAD + 1) * HEAD;
                let product = |other: usize| head.clone().map(|at| of(token, 0, at) * of(other, 1, at)).sum::<f64>();
                let weights: Vec<f64> = (0..tokens).map(|other| product(other).exp()).collect();
                let total: f64 = weights.iter().sum();
                let value = weights.iter().enumerate().map(|(other, weight)| weight * of(other, 2, at)).sum::<f64>();
                out[token * hidden + at] = value / total;
            }
        }
        out
    }

    proptest! {
        #[test]
        fn attention_is_that_of_the_definition(mixed in (1usize..40).prop_flat_map(|tokens| floats(-1.0..1.0, tokens * 3 * 2 * HEAD))) {
            let hidden = 2 * HEAD;
            let mut out = vec![0.0; mixed.len() / 3];
            let mut portable = out.clone();
            attend(&mixed, hidden, &mut Vec::new(), &mut out);
            attend_portable(&mixed, hidden, &mut Vec::new(), &mut portable);
            prop_assert_eq!(bits(&out), bits(&portable));
            for (found, expected) in out.iter().zip(attention(&mixed, hidden)) {
                prop_assert!((f64::from(*found) - expected).abs() < 1e-5, "{found} {expected}");
            }
        }

        #[test]
        fn rows_come_back_from_bytes(values in floats(-9.0..9.0, 3 * 40)) {
            let (mut bytes, mut scales) = (vec![0; values.len()], vec![0.0; 3]);
            quantise_rows(&values, 40, &mut bytes, &mut scales);
            let (mut other, mut others) = (bytes.clone(), scales.clone());
            quantise_portable(&values, 40, &mut other, &mut others);
            prop_assert_eq!((&bytes, bits(&scales)), (&other, bits(&others)));
            for (at, (value, byte)) in values.iter().zip(&bytes).enumerate() {
                let scale = scales[at / 40];
                prop_assert!((value - (f32::from(*byte) - 128.0) * scale).abs() <= scale * 0.501);
            }
        }

        #[test]
        fn sums_become_floats(sums in prop::collection::vec(-1_000_000i32..1_000_000, 2 * 20), scales in floats(0.0..0.1, 2)) {
            let columns: Vec<ColumnScale> =
                (0..20).map(|at| ColumnScale { offset: at * 1000, scale: 0.001 * at as f32, bias: at as f32 - 9.0 }).collect();
            let (mut out, mut portable) = (vec![0.0; 40], vec![0.0; 40]);
            dequantise(&sums, &columns, &scales, &mut out);
            dequantise_portable(&sums, &columns, &scales, &mut portable);
            prop_assert_eq!(bits(&out), bits(&portable));
            for (at, (sum, found)) in sums.iter().zip(&out).enumerate() {
                let ColumnScale { offset, scale, bias } = columns[at % 20];
                let expected = f64::from(sum - offset) * f64::from(scale) * f64::from(scales[at / 20]) + f64::from(bias);
                prop_assert!((f64::from(*found) - expected).abs() <= 1e-5 * expected.abs().max(1.0));
            }
        }

        #[test]
        fn norm_and_gelu_are_those_of_the_definitions(x in floats(-8.0..8.0, 2 * 48), residual in floats(-8.0..8.0, 2 * 48), scale in floats(0.5..2.0, 48)) {
            let shift: Vec<f32> = scale.iter().map(|scale| scale - 1.0).collect();
            let (mut normed, mut portable) = (x.clone(), x.clone());
            add_and_normalise(&mut normed, &residual, &scale, &shift);
            add_and_normalise_portable(&mut portable, &residual, &scale, &shift);
            prop_assert_eq!(bits(&normed), bits(&portable));
            for row in 0..2 {
                let sums: Vec<f64> = (row * 48..(row + 1) * 48).map(|at| f64::from(x[at]) + f64::from(residual[at])).collect();
                let mean = sums.iter().sum::<f64>() / 48.0;
                let variance = sums.iter().map(|sum| (sum - mean).powi(2)).sum::<f64>() / 48.0;
                for (at, sum) in sums.iter().enumerate() {
                    let expected = (sum - mean) / variance.sqrt() * f64::from(scale[at]) + f64::from(shift[at]);
                    prop_assert!((f64::from(normed[row * 48 + at]) - expected).abs() < 1e-3);
                }
            }
            let (mut found, mut portable) = (x.clone(), x.clone());
            gelu(&mut found);
            gelu_portable(&mut portable);
            prop_assert_eq!(bits(&found), bits(&portable));
            for (found, x) in found.iter().zip(&x) {
                let x = f64::from(*x);
                let expected = 0.5 * x * (1.0 + ((2.0 / std::f64::consts::PI).sqrt() * (x + 0.044715 * x.powi(3))).tanh());
                prop_assert!((f64::from(*found) - expected).abs() < 1e-5);
            }
        }

        #[test]
        fn the_exponential_is_near(x in -100f32..100.0) {
            let expected = f64::from(x.clamp(-87.0, 88.0)).exp();
            prop_assert!((f64::from(exp(x)) / expected - 1.0).abs() < 1e-6);
        }
    }
}
