//! SIMD kernels: inner loops over vectors, bitmaps and scores.
//!
//! Each kernel is one safe loop that is compiled for several instruction sets. At run time, the variant for the widest
//! instruction set that the processor supports is called. All variants give the same result: integer sums do not depend
//! on their order, and sums of floats have a fixed order. Matrix products (cargo feature `matrix`) come from a library
//! and may differ in the last bits between processors. Deliberately absent: intrinsics (except [`prefetch`]), and any
//! knowledge of index structures.
//!
//! ```
//! let words = [0b1010u64.to_le_bytes()];
//! let mut positions = [0; 64];
//! assert_eq!(aurora_kernels::bit_positions(&words, &mut positions), 2);
//! assert_eq!(positions[..2], [1, 3]);
//! ```

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

#[cfg(feature = "matrix")]
mod matrix;

#[cfg(feature = "matrix")]
pub use matrix::{Matrix, multiply};

/// Size of a cache line in bytes.
#[cfg(target_arch = "x86_64")]
const CACHE_LINE: usize = 64;
/// Number of partial sums of [`dot`].
const LANES: usize = 16;

/// Calls `$portable`, compiled for the widest registers that the processor has.
macro_rules! dispatch {
    ($portable:ident($($argument:ident: $kind:ty),*) $(-> $result:ty)?) => {{
        #[cfg(target_arch = "x86_64")]
        {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx2,popcnt")]
            fn wide($($argument: $kind),*) $(-> $result)? {
                $portable($($argument),*)
            }
            #[target_feature(enable = "avx2,popcnt")]
            fn middle($($argument: $kind),*) $(-> $result)? {
                $portable($($argument),*)
            }
            if has_wide() {
                // SAFETY: `has_wide` has detected every target feature of the function.
                return unsafe { wide($($argument),*) };
            }
            if has_middle() {
                // SAFETY: `has_middle` has detected every target feature of the function.
                return unsafe { middle($($argument),*) };
            }
        }
        $portable($($argument),*)
    }};
}

#[cfg(target_arch = "x86_64")]
fn has_wide() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has_middle()
        && has!("avx512f")
        && has!("avx512bw")
        && has!("avx512dq")
        && has!("avx512vl")
        && has!("avx512vpopcntdq")
}

#[cfg(target_arch = "x86_64")]
fn has_middle() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("avx2") && has!("popcnt")
}

/// Dot product of floats with signed bytes. It is computed as 16 partial sums, each over every 16th product. These sums
/// are then added in order.
pub fn dot(a: &[f32], b: &[u8]) -> f32 {
    dispatch!(dot_portable(a: &[f32], b: &[u8]) -> f32)
}

#[inline(always)]
fn dot_portable(a: &[f32], b: &[u8]) -> f32 {
    let mut sums = [0f32; LANES];
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    for (a, b) in a.iter().zip(b) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * f32::from(b[lane] as i8);
        }
    }
    for ((sum, a), b) in sums.iter_mut().zip(a_rest).zip(b_rest) {
        *sum += a * f32::from(*b as i8);
    }
    let mut all = 0.0;
    for sum in sums {
        all += sum;
    }
    all
}

/// Computes the dot product of the signed bytes `b` with each row of `rows`. Rows are stored one after the other, and
/// each has as many values as `b`: signed bytes, widened to 16 bits so that multiplying them is faster. `products` has
/// an element for each row.
pub fn dots_signed(rows: &[i16], b: &[u8], products: &mut [i32]) {
    dispatch!(dots_signed_portable(rows: &[i16], b: &[u8], products: &mut [i32]))
}

#[inline(always)]
fn dots_signed_portable(rows: &[i16], b: &[u8], products: &mut [i32]) {
    for (row, product) in rows.chunks_exact(b.len().max(1)).zip(products) {
        let multiply = |(&a, &b): (&i16, &u8)| i32::from(a) * i32::from(b as i8);
        *product = row.iter().zip(b).map(multiply).sum();
    }
}

/// Sum of the squares of signed bytes.
pub fn squares_signed(values: &[u8]) -> i32 {
    dispatch!(squares_signed_portable(values: &[u8]) -> i32)
}

#[inline(always)]
fn squares_signed_portable(values: &[u8]) -> i32 {
    let square = |&value: &u8| i32::from(value as i8) * i32::from(value as i8);
    values.iter().map(square).sum()
}

/// Adds scaled rows of `values` to `sum`. `values` holds signed bytes in consecutive rows of `sum.len()` values; `rows`
/// gives the index and the scale of each row to add. Every component is summed in the order of `rows`.
///
/// # Panics
/// Panics if the index of a row is out of range.
pub fn add_scaled(sum: &mut [f32], values: &[u8], rows: &[(u32, f32)]) {
    dispatch!(add_scaled_portable(sum: &mut [f32], values: &[u8], rows: &[(u32, f32)]))
}

/// Number of components whose sums stay in registers.
const ADDED_LANES: usize = 64;

#[inline(always)]
fn add_scaled_portable(sum: &mut [f32], values: &[u8], rows: &[(u32, f32)]) {
    let width = sum.len();
    let (blocks, rest) = sum.as_chunks_mut::<ADDED_LANES>();
    let mut at = 0;
    for block in blocks {
        let mut sums = *block;
        for &(row, scale) in rows {
            let start = row as usize * width + at;
            if let Some(values) = values[start..].first_chunk::<ADDED_LANES>() {
                for lane in 0..ADDED_LANES {
                    sums[lane] += f32::from(values[lane] as i8) * scale;
                }
            }
        }
        *block = sums;
        at += ADDED_LANES;
    }
    for &(row, scale) in rows {
        let start = row as usize * width + at;
        for (sum, value) in rest.iter_mut().zip(&values[start..start + width - at]) {
            *sum += f32::from(*value as i8) * scale;
        }
    }
}

/// Divides `values` by `scale` and rounds the quotients half away from zero to signed bytes from -127 to 127. `bytes`
/// has an element for each value.
pub fn divide_rounded(values: &[f32], scale: f32, bytes: &mut [i8]) {
    dispatch!(divide_rounded_portable(values: &[f32], scale: f32, bytes: &mut [i8]))
}

#[inline(always)]
fn divide_rounded_portable(values: &[f32], scale: f32, bytes: &mut [i8]) {
    for (byte, value) in bytes.iter_mut().zip(values) {
        *byte = (value / scale).round().clamp(-127.0, 127.0) as i8;
    }
}

/// Scores binary codes of `slices.len()` words each. The score of a code is minus the sum of those components of the
/// query whose bit is set in the code. A component is a 4-bit number in two's complement. `slices` contains the
/// components as four bit vectors, one for each bit value: 1, 2, 4 and −8. `scores` has an element for each code.
pub fn code_scores(slices: &[[u64; 4]], codes: &[u8], scores: &mut [i32]) {
    dispatch!(code_scores_portable(slices: &[[u64; 4]], codes: &[u8], scores: &mut [i32]))
}

// These loops use no closures, because a closure is a separate function, compiled without the target features.
#[inline(always)]
fn code_scores_portable(slices: &[[u64; 4]], codes: &[u8], scores: &mut [i32]) {
    // The loop over the words is unrolled for the code sizes of common models.
    match slices.len() {
        4 => code_scores_sized::<4>(slices, codes, scores),
        6 => code_scores_sized::<6>(slices, codes, scores),
        words => {
            let words = codes.as_chunks::<8>().0.chunks_exact(words.max(1));
            for (score, code) in scores.iter_mut().zip(words) {
                *score = code_score(slices, code);
            }
        }
    }
}

#[inline(always)]
fn code_scores_sized<const WORDS: usize>(slices: &[[u64; 4]], codes: &[u8], scores: &mut [i32]) {
    if let Some(slices) = slices.first_chunk::<WORDS>() {
        for (score, code) in scores.iter_mut().zip(codes.as_chunks::<8>().0.as_chunks::<WORDS>().0) {
            *score = code_score(slices, code);
        }
    }
}

#[inline(always)]
fn code_score(slices: &[[u64; 4]], code: &[[u8; 8]]) -> i32 {
    let mut counts = [0u64; 4];
    for (slices, word) in slices.iter().zip(code) {
        let word = u64::from_le_bytes(*word);
        for (count, slice) in counts.iter_mut().zip(slices) {
            *count += u64::from((slice & word).count_ones());
        }
    }
    let [one, two, four, eight] = counts;
    (8 * eight) as i32 - (4 * four + 2 * two + one) as i32
}

/// Unpacks signed bytes into `row`. `signs` contains the highest bit of each byte, in order, and `packed` contains the
/// seven lower bits. The length of `packed` is `7 * lanes`, where `lanes` is the length of `row` divided by 8, rounded
/// up. The lower bits of `row[i]` are the lower bits of `packed[i]` for the first `7 * lanes` bytes of `row`. The lower
/// bits of the remaining bytes are stored in the highest bits of `packed`: bit `b` of `row[7 * lanes + j]` is the
/// highest bit of `packed[b * lanes + j]`.
pub fn unpack_signed(signs: &[u8], packed: &[u8], row: &mut [u8]) {
    dispatch!(unpack_signed_portable(signs: &[u8], packed: &[u8], row: &mut [u8]))
}

#[inline(always)]
fn unpack_signed_portable(signs: &[u8], packed: &[u8], row: &mut [u8]) {
    // Multiplying by `EVERYWHERE` copies a byte to all eight bytes; `DIAGONAL` keeps a different bit in each.
    const EVERYWHERE: u64 = 0x0101_0101_0101_0101;
    const DIAGONAL: u64 = 0x8040_2010_0804_0201;
    let lanes = packed.len() / 7;
    for (component, byte) in row.iter_mut().zip(packed) {
        *component = byte & 0x7f;
    }
    if let Some(last) = row.get_mut(7 * lanes..) {
        last.fill(0);
        for plane in 0..7 {
            for (component, byte) in last.iter_mut().zip(&packed[plane * lanes..]) {
                *component |= (byte >> 7) << plane;
            }
        }
    }
    let (eights, rest) = row.as_chunks_mut::<8>();
    for (eight, sign) in eights.iter_mut().zip(signs) {
        let bits = (u64::from(*sign) * EVERYWHERE) & DIAGONAL;
        // Sets the highest bit of each byte that is not zero, and clears all other bits.
        let signs = (bits + 0x7f * EVERYWHERE) & (0x80 * EVERYWHERE);
        *eight = (u64::from_le_bytes(*eight) | signs).to_le_bytes();
    }
    if let Some(sign) = signs.get(eights.len()) {
        for (at, component) in rest.iter_mut().enumerate() {
            *component |= ((sign >> at) & 1) << 7;
        }
    }
}

/// Prefetches bytes that will soon be read and are probably not in the processor's cache. Affects only the speed.
pub fn prefetch(bytes: &[u8]) {
    #[cfg(target_arch = "x86_64")]
    for line in bytes.chunks(CACHE_LINE) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: the address is inside a slice, and a prefetch has no effect that the program can observe.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = bytes;
}

/// Writes the positions of the set bits of `words` in ascending order, and returns their number. Stops before a word
/// whose positions do not fit in `positions`.
pub fn bit_positions(words: &[[u8; 8]], positions: &mut [u16]) -> usize {
    dispatch!(bit_positions_portable(words: &[[u8; 8]], positions: &mut [u16]) -> usize)
}

#[inline(always)]
fn bit_positions_portable(words: &[[u8; 8]], positions: &mut [u16]) -> usize {
    let mut at = 0;
    for (number, word) in words.iter().enumerate() {
        let mut word = u64::from_le_bytes(*word);
        let first = number as u16 * 64;
        let count = word.count_ones() as usize;
        let Some(room) = positions.get_mut(at..at + count) else { break };
        for position in room {
            *position = first + word.trailing_zeros() as u16;
            word &= word.wrapping_sub(1);
        }
        at += count;
    }
    at
}

/// Compares 64 scores with `threshold` for each word of `words`. Sets the bits of the scores that are at least
/// `threshold`.
pub fn threshold_words(scores: &[[f32; 64]], threshold: f32, words: &mut [u64]) {
    dispatch!(threshold_words_portable(scores: &[[f32; 64]], threshold: f32, words: &mut [u64]))
}

#[inline(always)]
fn threshold_words_portable(scores: &[[f32; 64]], threshold: f32, words: &mut [u64]) {
    // Multiplying by `TOGETHER` gathers the lowest bits of eight bytes in the highest byte.
    const TOGETHER: u64 = 0x0102_0408_1020_4080;
    for (word, scores) in words.iter_mut().zip(scores) {
        let mut bytes = [0u8; 64];
        for (byte, score) in bytes.iter_mut().zip(scores) {
            *byte = (*score >= threshold) as u8;
        }
        *word = 0;
        for (at, bytes) in bytes.as_chunks().0.iter().enumerate() {
            *word |= (u64::from_le_bytes(*bytes).wrapping_mul(TOGETHER) >> 56) << (8 * at);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_dot_variant_computes_the_sum(pairs in prop::collection::vec((-1f32..1.0, any::<i8>()), 0..300)) {
            let (a, b): (Vec<f32>, Vec<u8>) = pairs.iter().map(|&(x, y)| (x, y as u8)).unzip();
            let expected: f64 = pairs.iter().map(|&(x, y)| f64::from(x) * f64::from(y)).sum();
            prop_assert_eq!(dot(&a, &b).to_bits(), dot_portable(&a, &b).to_bits());
            prop_assert!((f64::from(dot(&a, &b)) - expected).abs() <= 0.05);
        }

        #[test]
        fn every_signed_dot_variant_computes_the_sums(rows in prop::collection::vec(prop::collection::vec(any::<i8>(), 70), 0..5), b in prop::collection::vec(any::<i8>(), 70)) {
            let product = |a: &[i8]| a.iter().zip(&b).map(|(&x, &y)| i32::from(x) * i32::from(y)).sum::<i32>();
            let wide: Vec<i16> = rows.iter().flatten().map(|&value| i16::from(value)).collect();
            let bytes: Vec<u8> = b.iter().map(|&value| value as u8).collect();
            let (mut products, mut portable) = (vec![0; rows.len()], vec![0; rows.len()]);
            dots_signed(&wide, &bytes, &mut products);
            dots_signed_portable(&wide, &bytes, &mut portable);
            prop_assert_eq!(&products, &rows.iter().map(|row| product(row)).collect::<Vec<_>>());
            prop_assert_eq!(products, portable);
            prop_assert_eq!((squares_signed(&bytes), squares_signed_portable(&bytes)), (product(&b), product(&b)));
        }

        #[test]
        fn every_add_scaled_variant_gives_the_same_sums(
            before in prop::collection::vec(-1f32..1.0, 0..200),
            values in prop::collection::vec(any::<u8>(), 1000),
            rows in prop::collection::vec((0u32..5, -1f32..1.0), 0..9),
        ) {
            let width = before.len();
            let mut by_definition = before.clone();
            for &(row, scale) in &rows {
                for (at, sum) in by_definition.iter_mut().enumerate() {
                    *sum += f32::from(values[row as usize * width + at] as i8) * scale;
                }
            }
            let (mut best, mut portable) = (before.clone(), before);
            add_scaled(&mut best, &values, &rows);
            add_scaled_portable(&mut portable, &values, &rows);
            prop_assert_eq!(&best, &by_definition);
            prop_assert_eq!(&portable, &by_definition);
        }

        #[test]
        fn every_divide_variant_rounds_the_same_way(
            values in prop::collection::vec(prop_oneof![-200f32..200.0, (-400i16..400).prop_map(|half| f32::from(half) / 2.0)], 0..70),
            scale in prop_oneof![Just(1f32), 0.01f32..2.0],
        ) {
            let (mut best, mut portable) = (vec![0; values.len()], vec![0; values.len()]);
            divide_rounded(&values, scale, &mut best);
            divide_rounded_portable(&values, scale, &mut portable);
            prop_assert_eq!(&best, &portable);
            for (&byte, &value) in best.iter().zip(&values) {
                let quotient = f64::from(value / scale);
                let distance = (quotient.clamp(-127.0, 127.0) - f64::from(byte)).abs();
                prop_assert!(distance < 0.5 || distance == 0.5 && f64::from(byte).abs() > quotient.abs());
            }
        }

        #[test]
        fn every_unpack_variant_matches_the_definition(
            signs in prop::collection::vec(any::<u8>(), 40),
            packed in prop::collection::vec(any::<u8>(), 280),
            components in 0usize..320,
        ) {
            let lanes = components.div_ceil(8);
            let packed = &packed[..7 * lanes];
            let by_definition: Vec<u8> = (0..components)
                .map(|at| {
                    let low = match packed.get(at) {
                        Some(byte) => byte & 0x7f,
                        None => (0..7).map(|plane| (packed[plane * lanes + at - 7 * lanes] >> 7) << plane).sum(),
                    };
                    low | (signs[at / 8] >> (at % 8) & 1) << 7
                })
                .collect();
            let (mut row, mut portable) = (vec![0xaa; components], vec![0x55; components]);
            unpack_signed(&signs, packed, &mut row);
            unpack_signed_portable(&signs, packed, &mut portable);
            prop_assert_eq!(&row, &by_definition);
            prop_assert_eq!(&portable, &by_definition);
        }

        #[test]
        fn every_bit_positions_variant_lists_all_bits(words in prop::collection::vec(prop_oneof![any::<[u8; 8]>(), Just([0; 8]), Just([0xff; 8])], 0..64), room in 0usize..4096) {
            let bit = |at: &u16| words[usize::from(*at) / 64][usize::from(*at) / 8 % 8] >> (at % 8) & 1 != 0;
            let by_definition: Vec<u16> = (0..words.len() as u16 * 64).filter(bit).collect();
            let (mut found, mut portable) = ([0; 4096], [0; 4096]);
            prop_assert_eq!(bit_positions(&words, &mut found), by_definition.len());
            prop_assert_eq!(&found[..by_definition.len()], &by_definition);
            prop_assert_eq!(bit_positions_portable(&words, &mut portable), by_definition.len());
            prop_assert_eq!(&portable[..by_definition.len()], &by_definition);
            prop_assert!(bit_positions(&words, &mut found[..room]) <= room);
        }

        #[test]
        fn every_threshold_variant_matches_the_definition(scores in prop::collection::vec(prop_oneof![Just(0f32), Just(0.5), 0f32..1.0], 0..300), threshold in prop_oneof![Just(f32::MIN_POSITIVE), Just(0.5), 0f32..1.0]) {
            let groups = scores.as_chunks().0;
            let by_definition = groups.iter().map(|group: &[f32; 64]| (0..64).filter(|&at| group[at] >= threshold).fold(0, |word, at| word | 1u64 << at));
            let (mut best, mut portable) = (vec![7; groups.len()], vec![9; groups.len()]);
            threshold_words(groups, threshold, &mut best);
            threshold_words_portable(groups, threshold, &mut portable);
            prop_assert_eq!(&best, &by_definition.collect::<Vec<_>>());
            prop_assert_eq!(best, portable);
        }

        #[test]
        fn every_code_scores_variant_gives_the_same_scores(
            slices in prop::collection::vec(any::<[u64; 4]>(), 1..8),
            words in prop::collection::vec(any::<[u8; 8]>(), 0..60),
        ) {
            let whole = words.len() / slices.len() * slices.len();
            let codes = words[..whole].as_flattened();
            let (mut best, mut portable) = (vec![0; whole / slices.len()], vec![0; whole / slices.len()]);
            code_scores(&slices, codes, &mut best);
            code_scores_portable(&slices, codes, &mut portable);
            let by_definition = words[..whole].chunks(slices.len()).map(|code| code_score(&slices, code));
            prop_assert_eq!(&best, &by_definition.collect::<Vec<_>>());
            prop_assert_eq!(best, portable);
        }
    }
}
