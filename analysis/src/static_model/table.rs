//! The rows of a static model. Each row has a scale, a weight and `dimensions` signed bytes, read without copying.

use std::ops::Range;

/// Ranges of the scales, weights and values in the model's file.
pub(super) struct TokenTable {
    dimensions: usize,
    scales: Range<usize>,
    weights: Range<usize>,
    values: Range<usize>,
}

impl TokenTable {
    /// Creates the table that starts at byte `at` of the file. It must end at the end of the file, whose size is
    /// `length`.
    pub(super) fn new(dimensions: usize, rows: usize, at: usize, length: usize) -> Result<Self, String> {
        let scales = at..at + rows * 4;
        let weights = scales.end..scales.end + rows * 4;
        let values = weights.end..weights.end + rows * dimensions;
        if values.end != length {
            return Err(format!(
                "{rows} rows of {dimensions} dimensions must end at byte {}, but the file has {length} bytes",
                values.end
            ));
        }
        Ok(Self { dimensions, scales, weights, values })
    }

    pub(super) fn dimensions(&self) -> usize {
        self.dimensions
    }

    /// Adds the vectors of `rows` to `sum`. Every component is summed in the order of `rows`, independently of the SIMD
    /// width of the machine, so the same text results in the same bits on every machine.
    pub(super) fn add(&self, bytes: &[u8], rows: &[u32], sum: &mut [f32]) {
        let scales = &bytes[self.scales.clone()];
        let scaled = rows.iter().map(|&row| (row, number(scales, row as usize))).collect::<Vec<_>>();
        aurora_kernels::add_scaled(sum, &bytes[self.values.clone()], &scaled);
    }

    /// Returns the offset of the values in the file.
    pub(super) fn start_of_values(&self) -> usize {
        self.values.start
    }

    /// Returns the weight of a row's token when it occurs in a query.
    pub(super) fn weight(&self, bytes: &[u8], row: u32) -> f32 {
        number(&bytes[self.weights.clone()], row as usize)
    }

    /// Returns the values of one row.
    pub(super) fn values<'b>(&self, bytes: &'b [u8], row: u32) -> &'b [u8] {
        let row = row as usize;
        &bytes[self.values.clone()][row * self.dimensions..(row + 1) * self.dimensions]
    }
}

/// Returns the value of a row in a column of `f32` values.
#[inline]
fn number(column: &[u8], row: usize) -> f32 {
    column[row * 4..row * 4 + 4].try_into().map_or(0.0, f32::from_le_bytes)
}

/// Scales a vector to unit length. A vector of zero length becomes all zeros.
pub(crate) fn normalise(vector: &mut [f32]) {
    let length = norm(vector);
    let factor = if length > 1e-12 { 1.0 / length } else { 0.0 };
    vector.iter_mut().for_each(|value| *value *= factor);
}

/// Returns the Euclidean length. The squares are summed in eight interleaved parts: a fixed order that compilers can
/// vectorise.
pub(super) fn norm(vector: &[f32]) -> f32 {
    let mut parts = [0f32; 8];
    let mut chunks = vector.chunks_exact(8);
    for chunk in &mut chunks {
        for (part, value) in parts.iter_mut().zip(chunk) {
            *part += value * value;
        }
    }
    let rest: f32 = chunks.remainder().iter().map(|value| value * value).sum();
    (parts.iter().sum::<f32>() + rest).sqrt()
}
