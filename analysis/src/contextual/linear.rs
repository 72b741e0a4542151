//! A linear layer over bytes.

use std::ops::Range;

use aurora_kernels::{ColumnScale, byte_products, dequantise, quantise_rows};

/// `x · w + bias`.
pub(super) struct Linear {
    depth: usize,
    /// Where the matrix stands in the file.
    matrix: Range<usize>,
    columns: Vec<ColumnScale>,
}

/// What a product needs besides its result; kept from one layer to the next.
#[derive(Default)]
pub(super) struct LinearBuffers {
    bytes: Vec<u8>,
    scales: Vec<f32>,
    sums: Vec<i32>,
}

impl Linear {
    /// A layer of `depth` inputs whose matrix are the bytes at `matrix` of `file`.
    pub(super) fn new(file: &[u8], depth: usize, matrix: Range<usize>, scales: Vec<f32>, bias: &[f32]) -> Self {
        // An activation's byte is 128 too high.
        let mut offsets = vec![0; scales.len()];
        byte_products(&vec![128; depth], &file[matrix.clone()], depth, &mut offsets);
        let column = |((offset, scale), &bias): ((i32, f32), &f32)| ColumnScale { offset, scale, bias };
        let columns = offsets.into_iter().zip(scales).zip(bias).map(column).collect();
        Self { depth, matrix, columns }
    }

    /// Puts the products of the rows of `x` into `out`.
    pub(super) fn apply(&self, file: &[u8], x: &[f32], buffers: &mut LinearBuffers, out: &mut Vec<f32>) {
        let rows = x.len() / self.depth;
        let LinearBuffers { bytes, scales, sums } = buffers;
        bytes.resize(x.len(), 0);
        scales.resize(rows, 0.0);
        sums.resize(rows * self.columns.len(), 0);
        out.resize(rows * self.columns.len(), 0.0);
        quantise_rows(x, self.depth, bytes, scales);
        byte_products(bytes, &file[self.matrix.clone()], self.depth, sums);
        dequantise(sums, &self.columns, scales, out);
    }
}
