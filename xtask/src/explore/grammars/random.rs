//! A random number generator that depends only on a seed.

/// SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
pub(crate) struct Random(u64);

impl Random {
    /// Creates a generator for one case of a language. It is independent of the generators of other cases.
    pub(crate) fn for_case(seed: u64, language: &str, case: u64) -> Self {
        let mut random = Self(seed);
        for value in language.bytes().map(u64::from).chain([case]) {
            random.0 = random.next() ^ value;
        }
        random
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `end`, or 0 if `end` is 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() % end as u64) as usize }
    }

    /// Returns a number below `end` whose logarithm is evenly distributed, so that small numbers are likely.
    pub(crate) fn small(&mut self, end: usize) -> usize {
        let bits = usize::BITS - end.leading_zeros();
        let shift = self.below(bits as usize + 1);
        self.below(end.min(1 << shift))
    }

    /// Returns true with probability 1/`n`.
    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// Returns one of several values.
    pub(crate) fn choose<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_case_has_the_same_numbers_every_time() {
        let numbers = |language: &str, case: u64| {
            let mut random = Random::for_case(7, language, case);
            (0..4).map(|_| random.below(1_000)).collect::<Vec<_>>()
        };
        assert_eq!(numbers("c", 1), numbers("c", 1));
        assert!(numbers("c", 1) != numbers("c", 2) && numbers("c", 1) != numbers("go", 1));
        let mut random = Random::for_case(1, "", 1);
        assert!((0..1_000).all(|_| random.small(100) < 100) && random.below(0) == 0);
    }
}
