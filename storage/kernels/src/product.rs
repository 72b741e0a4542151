//! Products of byte matrices: exact sums, so that every processor gives the same.
//!
//! The one kernel with intrinsics: compilers do not find the instructions that add four products of bytes at a time.

use crate::panel::{PANEL, STEP};

/// `sums[row][column] = Σ rows[row][k] · matrix[k][column]`.
///
/// `rows` holds rows of `depth` unsigned bytes, `matrix` panels of 16 columns of signed bytes: for every four k, those of the first
/// column, then those of the second, and so on. `depth` is a multiple of 4.
///
/// # Panics
/// When the lengths do not fit each other.
pub fn byte_products(rows: &[u8], matrix: &[u8], depth: usize, sums: &mut [i32]) {
    assert!(depth > 0 && depth.is_multiple_of(STEP) && matrix.len().is_multiple_of(depth * PANEL));
    let columns = matrix.len() / depth;
    assert!(rows.len().is_multiple_of(depth) && sums.len() == rows.len() / depth * columns);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512bw") && has!("avx512vnni") {
            // SAFETY: the features that the function asks for were found.
            return unsafe { x86::with_vnni(rows, matrix, depth, sums) };
        }
        if has!("avx2") {
            // SAFETY: the feature that the function asks for was found.
            return unsafe { x86::with_avx2(rows, matrix, depth, sums) };
        }
    }
    portable(rows, matrix, depth, sums);
}

/// One panel after the other, spread to 16-bit numbers component by component: so compilers multiply and add
/// two components of several columns at a time.
fn portable(rows: &[u8], matrix: &[u8], depth: usize, sums: &mut [i32]) {
    let columns = matrix.len() / depth;
    let mut spread = vec![[0i16; PANEL]; depth];
    for (panel, first) in matrix.chunks_exact(depth * PANEL).zip((0..).step_by(PANEL)) {
        let fours = spread.as_chunks_mut::<STEP>().0;
        for (components, columns) in fours.iter_mut().zip(panel.as_chunks::<{ STEP * PANEL }>().0) {
            for (column, bytes) in columns.as_chunks::<STEP>().0.iter().enumerate() {
                components.iter_mut().zip(bytes).for_each(|(to, &byte)| to[column] = i16::from(byte as i8));
            }
        }
        for (row, sums) in rows.chunks_exact(depth).zip(sums.chunks_exact_mut(columns)) {
            let mut of_row = [0i32; PANEL];
            for (pair, components) in row.as_chunks::<2>().0.iter().zip(spread.as_chunks::<2>().0) {
                let [a, b] = pair.map(i32::from);
                for (sum, (&x, &y)) in of_row.iter_mut().zip(components[0].iter().zip(&components[1])) {
                    *sum += a * i32::from(x) + b * i32::from(y);
                }
            }
            sums[first..first + PANEL].copy_from_slice(&of_row);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;
    use std::array;

    use crate::panel::{PANEL, STEP};

    /// Rows that are multiplied at a time: with two panels, twelve registers of sums.
    const ROWS: usize = 6;

    #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
    pub(super) fn with_vnni(rows: &[u8], matrix: &[u8], depth: usize, sums: &mut [i32]) {
        let columns = matrix.len() / depth;
        let two = 2 * depth * PANEL;
        for (panels, first) in matrix.chunks(two).zip((0..).step_by(2 * PANEL)) {
            for (rows, sums) in rows.chunks(ROWS * depth).zip(sums.chunks_mut(ROWS * columns)) {
                let block = Block { rows, panels, depth, columns, first };
                if panels.len() == two { block.vnni_panels::<2>(sums) } else { block.vnni_panels::<1>(sums) }
            }
        }
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn with_avx2(rows: &[u8], matrix: &[u8], depth: usize, sums: &mut [i32]) {
        /// With four registers of sums for each, and four of the matrix.
        const ROWS: usize = 3;
        let columns = matrix.len() / depth;
        for (panels, first) in matrix.chunks(depth * PANEL).zip((0..).step_by(PANEL)) {
            for (rows, sums) in rows.chunks(ROWS * depth).zip(sums.chunks_mut(ROWS * columns)) {
                let block = Block { rows, panels, depth, columns, first };
                match rows.len() / depth {
                    3 => block.avx2::<3>(sums),
                    2 => block.avx2::<2>(sums),
                    _ => block.avx2::<1>(sums),
                }
            }
        }
    }

    /// Some rows and some panels, and where their sums belong.
    struct Block<'a> {
        rows: &'a [u8],
        panels: &'a [u8],
        depth: usize,
        columns: usize,
        first: usize,
    }

    impl<'a> Block<'a> {
        fn row(&self, row: usize) -> &'a [[u8; STEP]] {
            self.rows[row * self.depth..(row + 1) * self.depth].as_chunks().0
        }

        fn panel(&self, panel: usize) -> &'a [[u8; STEP * PANEL]] {
            self.panels[panel * self.depth * PANEL..(panel + 1) * self.depth * PANEL].as_chunks().0
        }

        /// All rows, up to six, with `P` panels, which must be all that there are.
        #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
        #[inline]
        fn vnni_panels<const P: usize>(&self, sums: &mut [i32]) {
            match self.rows.len() / self.depth {
                6 => self.vnni::<6, P>(sums),
                5 => self.vnni::<5, P>(sums),
                4 => self.vnni::<4, P>(sums),
                3 => self.vnni::<3, P>(sums),
                2 => self.vnni::<2, P>(sums),
                _ => self.vnni::<1, P>(sums),
            }
        }

        /// `R` rows with `P` panels, which must be all that there are.
        #[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
        #[inline]
        fn vnni<const R: usize, const P: usize>(&self, sums: &mut [i32]) {
            let (rows, panels): ([_; R], [_; P]) =
                (array::from_fn(|row| self.row(row)), array::from_fn(|p| self.panel(p)));
            let mut all = [[_mm512_setzero_si512(); P]; R];
            for k in 0..self.depth / STEP {
                // SAFETY: 64 bytes are read of an array of 64.
                let columns: [__m512i; P] =
                    array::from_fn(|p| unsafe { _mm512_loadu_si512(panels[p][k].as_ptr().cast()) });
                for (sums, row) in all.iter_mut().zip(rows) {
                    let four = _mm512_set1_epi32(i32::from_le_bytes(row[k]));
                    for (sum, columns) in sums.iter_mut().zip(columns) {
                        *sum = _mm512_dpbusd_epi32(*sum, four, columns);
                    }
                }
            }
            for (row, of_row) in all.iter().enumerate() {
                for (panel, sum) in of_row.iter().enumerate() {
                    let to = &mut sums[row * self.columns + self.first + panel * PANEL..][..PANEL];
                    // SAFETY: 16 numbers of 4 bytes are written to a slice of 16.
                    unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), *sum) };
                }
            }
        }

        /// `R` rows, which must be all that there are, with one panel. Pairs of products are added first, as 16-bit numbers are
        /// multiplied: each column has two sums until the end.
        #[target_feature(enable = "avx2")]
        #[inline]
        fn avx2<const R: usize>(&self, sums: &mut [i32]) {
            let rows: [_; R] = array::from_fn(|row| self.row(row));
            let mut all = [[_mm256_setzero_si256(); 4]; R];
            for (k, panel) in self.panel(0).iter().enumerate() {
                let quarters = panel.as_chunks::<16>().0;
                // SAFETY: 16 bytes are read of an array of 16.
                let load = |quarter: usize| unsafe { _mm_loadu_si128(quarters[quarter].as_ptr().cast()) };
                let columns: [__m256i; 4] = array::from_fn(|quarter| _mm256_cvtepi8_epi16(load(quarter)));
                for (sums, row) in all.iter_mut().zip(rows) {
                    let four = _mm256_cvtepu8_epi16(_mm_set1_epi32(i32::from_le_bytes(row[k])));
                    for (sum, columns) in sums.iter_mut().zip(columns) {
                        *sum = _mm256_add_epi32(*sum, _mm256_madd_epi16(four, columns));
                    }
                }
            }
            for (row, of_row) in all.iter().enumerate() {
                for (quarter, sum) in of_row.iter().enumerate() {
                    let mut pairs = [0i32; 8];
                    // SAFETY: 8 numbers of 4 bytes are written to an array of 8.
                    unsafe { _mm256_storeu_si256(pairs.as_mut_ptr().cast(), *sum) };
                    let to = &mut sums[row * self.columns + self.first + 4 * quarter..][..4];
                    to.iter_mut().zip(pairs.as_chunks::<2>().0).for_each(|(to, [a, b])| *to = a + b);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Kernel = fn(&[u8], &[u8], usize, &mut [i32]);

    fn kernels() -> Vec<Kernel> {
        let mut kernels: Vec<Kernel> = vec![byte_products, portable];
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the feature was found.
            kernels.push(|rows, matrix, depth, sums| unsafe { x86::with_avx2(rows, matrix, depth, sums) });
        }
        kernels
    }

    proptest! {
        #[test]
        fn every_kernel_multiplies_by_definition(
            (depth, rows, matrix) in (1usize..9, 0usize..14, 1usize..4).prop_flat_map(|(fours, rows, panels)| {
                let depth = fours * STEP;
                let bytes = prop::collection::vec(any::<u8>(), rows * depth);
                (Just(depth), bytes, prop::collection::vec(any::<u8>(), panels * PANEL * depth))
            }),
        ) {
            let columns = matrix.len() / depth;
            let of = |k: usize, column: usize| {
                let panel = &matrix[column / PANEL * PANEL * depth..];
                i32::from(panel[k / STEP * STEP * PANEL + column % PANEL * STEP + k % STEP] as i8)
            };
            let expected: Vec<i32> = rows.chunks_exact(depth).flat_map(|row| {
                (0..columns).map(|column| row.iter().enumerate().map(|(k, &a)| i32::from(a) * of(k, column)).sum()).collect::<Vec<i32>>()
            }).collect();
            for kernel in kernels() {
                let mut sums = vec![-1; expected.len()];
                kernel(&rows, &matrix, depth, &mut sums);
                prop_assert_eq!(&sums, &expected);
            }
        }
    }
}
