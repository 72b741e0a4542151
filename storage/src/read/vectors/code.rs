//! Codes of vectors. A code has one bit for each component, which is set if the component is negative. The lower bits
//! of the components are stored separately.
//!
//! To compare a query with a code, each query component is quantised to four bits, and each vector component to one bit
//! (as in Gao and Long, "RaBitQ", 2024, without the rotation). The score is minus the sum of the query components whose
//! bit in the code is set. It is computed from a few population counts, and is the same integer on every processor.

/// Maximum magnitude of a quantised query component, which has four bits including the sign.
const MAX_LEVEL: f32 = 7.0;
/// Number of bytes in a word of a code.
const WORD_BYTES: usize = 8;

/// Returns the number of bytes in the code of a vector.
pub(super) fn length(dimensions: usize) -> usize {
    dimensions.div_ceil(8 * WORD_BYTES) * WORD_BYTES
}

/// Appends the code of a row of signed bytes.
pub(super) fn encode(out: &mut Vec<u8>, row: &[u8]) {
    for components in row.chunks(8 * WORD_BYTES) {
        let negative = components.iter().enumerate().filter(|(_, x)| (**x as i8) < 0);
        let word = negative.fold(0u64, |word, (at, _)| word | 1 << at);
        out.extend_from_slice(&word.to_le_bytes());
    }
}

/// Returns the number of bytes in the lower bits of a row.
pub(super) fn packed_length(dimensions: usize) -> usize {
    dimensions.div_ceil(8) * 7
}

/// Appends the lower seven bits of a row of signed bytes, in the format of [`aurora_kernels::unpack_signed`].
pub(super) fn pack(out: &mut Vec<u8>, row: &[u8]) {
    let lanes = row.len().div_ceil(8);
    let (first, last) = row.split_at(row.len().min(7 * lanes));
    let start = out.len();
    out.extend(first.iter().map(|component| component & 0x7f));
    out.resize(start + 7 * lanes, 0);
    for (plane, bytes) in out[start..].chunks_mut(lanes.max(1)).enumerate() {
        for (byte, component) in bytes.iter_mut().zip(last) {
            *byte |= (component >> plane & 1) << 7;
        }
    }
}

/// A query as bit slices. For each word of a code, there are four words, with the bits of value 1, 2, 4 and −8 of the
/// components.
#[derive(Debug)]
pub(super) struct CodeQuery {
    slices: Vec<[u64; 4]>,
}

impl CodeQuery {
    /// Quantises a query, which must be finite.
    pub(super) fn new(query: &[f32]) -> Self {
        let peak = query.iter().fold(f32::MIN_POSITIVE, |peak, x| peak.max(x.abs()));
        let slices = query.chunks(8 * WORD_BYTES).map(|components| {
            let mut slices = [0u64; 4];
            for (at, x) in components.iter().enumerate() {
                let level = (x / peak * MAX_LEVEL).round() as i32;
                for (bit, slice) in slices.iter_mut().enumerate() {
                    *slice |= u64::from(level >> bit & 1 != 0) << at;
                }
            }
            slices
        });
        Self { slices: slices.collect() }
    }

    /// Writes the score of each of the consecutive codes to `scores`. A higher score means a nearer vector.
    pub(super) fn score(&self, codes: &[u8], scores: &mut Vec<i32>) {
        scores.clear();
        scores.resize(codes.len() / (WORD_BYTES * self.slices.len().max(1)), 0);
        aurora_kernels::code_scores(&self.slices, codes, scores);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn code_and_lower_bits_restore_the_row(row in prop::collection::vec(any::<u8>(), 1..300)) {
            let (mut code, mut packed) = (Vec::new(), Vec::new());
            encode(&mut code, &row);
            pack(&mut packed, &row);
            prop_assert_eq!(packed.len(), packed_length(row.len()));
            let mut unpacked = vec![0; row.len()];
            aurora_kernels::unpack_signed(&code, &packed, &mut unpacked);
            prop_assert_eq!(unpacked, row);
        }

        #[test]
        fn scores_are_signed_sums(
            rows in prop::collection::vec(prop::collection::vec(any::<u8>(), 130), 0..9),
            query in prop::collection::vec(-1f32..1.0, 130),
            dimensions in 1..=130usize,
        ) {
            let query = &query[..dimensions];
            let mut codes = Vec::new();
            rows.iter().for_each(|row| encode(&mut codes, &row[..dimensions]));
            prop_assert_eq!(codes.len(), rows.len() * length(dimensions));
            let mut scores = Vec::new();
            CodeQuery::new(query).score(&codes, &mut scores);
            let peak = query.iter().map(|x| x.abs()).fold(f32::MIN_POSITIVE, f32::max);
            let level = |x: &f32| (x / peak * 7.0).round() as i32;
            let sum = |row: &Vec<u8>| -> i32 {
                query.iter().zip(row).filter(|(_, y)| (**y as i8) < 0).map(|(x, _)| -level(x)).sum()
            };
            prop_assert_eq!(scores, rows.iter().map(sum).collect::<Vec<_>>());
        }
    }
}
