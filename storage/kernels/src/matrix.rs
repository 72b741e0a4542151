//! Products of matrices of floats.

/// A matrix whose elements are in a slice, by rows or, after [`Matrix::transposed`], by columns.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a> {
    values: &'a [f32],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a> Matrix<'a> {
    /// Creates a matrix with `rows` rows. Row `r` is `values[r * stride..][..columns]`.
    ///
    /// # Panics
    /// Panics if rows overlap or end beyond `values`.
    pub fn new(values: &'a [f32], rows: usize, columns: usize, stride: usize) -> Self {
        assert_rows_fit(values.len(), rows, columns, stride);
        Self { values, rows, columns, row_stride: stride, column_stride: 1 }
    }

    /// Returns the transposed matrix over the same values.
    pub fn transposed(self) -> Self {
        let Self { values, rows, columns, row_stride, column_stride } = self;
        Self { values, rows: columns, columns: rows, row_stride: column_stride, column_stride: row_stride }
    }
}

/// Writes the product of `a` and `b`. Row `r` begins at `product[r * stride]`. The terms of every element are added in
/// the same order. The rounding of an element therefore does not depend on how many rows and columns are multiplied at
/// once.
///
/// # Panics
/// Panics if the number of columns of `a` differs from the number of rows of `b`, or if rows of the product overlap or
/// end beyond `product`.
pub fn multiply(a: Matrix<'_>, b: Matrix<'_>, product: &mut [f32], stride: usize) {
    assert_eq!(a.columns, b.rows, "the first matrix must have as many columns as the second has rows");
    assert_rows_fit(product.len(), a.rows, b.columns, stride);
    // SAFETY: `assert_rows_fit` has checked that all elements of the three matrices are inside their slices and that no
    // two elements of the product share an address. A slice has at most `isize::MAX` bytes, so the strides of a matrix
    // with several rows fit into `isize`. The stride of a single row is only multiplied by 0.
    unsafe {
        matrixmultiply::sgemm(
            a.rows,
            a.columns,
            b.columns,
            1.0,
            a.values.as_ptr(),
            a.row_stride as isize,
            a.column_stride as isize,
            b.values.as_ptr(),
            b.row_stride as isize,
            b.column_stride as isize,
            0.0,
            product.as_mut_ptr(),
            stride as isize,
            1,
        );
    }
}

fn assert_rows_fit(length: usize, rows: usize, columns: usize, stride: usize) {
    let end = rows.checked_sub(1).map_or(Some(0), |last| last.checked_mul(stride)?.checked_add(columns));
    let fits = columns <= stride && end.is_some_and(|end| end <= length);
    assert!(fits, "{rows} rows of {columns} floats, {stride} apart, do not fit into {length} floats");
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Irregular numbers between -1 and 1.
    fn values(seed: usize, count: usize) -> Vec<f32> {
        (0..count).map(|at| ((at * at + 31 * at + seed) as f32 * 12.9898).sin()).collect()
    }

    proptest! {
        #[test]
        fn products_match_the_definition(
            rows in 0usize..20, inner in 0usize..600, columns in 0usize..20, gap in 0usize..3, transposed: bool,
        ) {
            let (a, b) = (values(1, rows * (inner + gap)), values(2, inner * columns));
            let by_row = Matrix::new(&a, rows, inner, inner + gap);
            let factor = match transposed {
                true => Matrix::new(&b, columns, inner, inner).transposed(),
                false => Matrix::new(&b, inner, columns, columns),
            };
            let mut product = vec![f32::NAN; rows * (columns + gap)];
            multiply(by_row, factor, &mut product, columns + gap);
            for (row, found) in product.chunks_exact((columns + gap).max(1)).enumerate() {
                let a = &a[row * (inner + gap)..][..inner];
                for (column, &found) in found.iter().enumerate() {
                    if column >= columns {
                        prop_assert!(found.is_nan(), "values between the rows must not change");
                        continue;
                    }
                    let b = |at| if transposed { b[column * inner + at] } else { b[at * columns + column] };
                    let sum: f64 = a.iter().enumerate().map(|(at, &a)| f64::from(a) * f64::from(b(at))).sum();
                    prop_assert!((f64::from(found) - sum).abs() < 1e-4, "{} and {}", found, sum);
                }
                let mut alone = vec![0.0; columns];
                multiply(Matrix::new(a, 1, inner, inner), factor, &mut alone, columns);
                prop_assert_eq!(&alone, &found[..columns], "row {} alone", row);
            }
        }
    }

    #[test]
    fn matrices_that_do_not_fit_panic() {
        let (values, mut product) = ([0.0; 12], [0.0; 8]);
        let mut refused = |work: &mut dyn FnMut(&mut [f32])| {
            assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&mut product))).is_err());
        };
        for (rows, columns, stride) in
            [(4, 4, 4), (3, 4, 5), (2, 4, 3), (usize::MAX, 2, 2), (3, 2, usize::MAX), (1, 13, 13)]
        {
            refused(&mut |_| _ = Matrix::new(&values, rows, columns, stride));
        }
        let (a, b) = (Matrix::new(&values, 3, 4, 4), Matrix::new(&values, 4, 3, 3));
        refused(&mut |product| multiply(a, a, product, 4));
        refused(&mut |product| multiply(a, b, product, 3));
        refused(&mut |product| multiply(a, b, product, 2));
        multiply(a, a.transposed(), &mut [0.0; 9], 3);
    }
}
