//! The dot product of signed bytes.

/// Sum of products; both slices have the same length, at most 131,072.
#[inline]
pub(super) fn dot(a: &[i8], b: &[u8]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, the only feature that the function asks for.
        return unsafe { dot_avx2(a, b) };
    }
    dot_portable(a, b)
}

/// The portable loop, compiled for wider registers.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_avx2(a: &[i8], b: &[u8]) -> i32 {
    dot_portable(a, b)
}

#[inline(always)]
fn dot_portable(a: &[i8], b: &[u8]) -> i32 {
    a.iter().zip(b).map(|(&x, &y)| i32::from(x) * i32::from(y as i8)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_kernel_gives_the_sum(pairs in prop::collection::vec(any::<(i8, i8)>(), 0..300)) {
            let (a, b): (Vec<i8>, Vec<u8>) = pairs.iter().map(|&(x, y)| (x, y as u8)).unzip();
            let expected: i64 = pairs.iter().map(|&(x, y)| i64::from(x) * i64::from(y)).sum();
            prop_assert_eq!(i64::from(dot(&a, &b)), expected);
            prop_assert_eq!(i64::from(dot_portable(&a, &b)), expected);
        }
    }
}
