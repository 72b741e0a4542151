//! Random numbers and hashes that are the same on every machine. The numbers come from SplitMix64 (Steele, Lea and
//! Flood, "Fast splittable pseudorandom number generators", 2014); the hashes give stable pseudorandom orders.

/// A generator with 64 bits of state.
#[derive(Debug, Clone)]
pub struct Random(u64);

impl Random {
    /// Creates a generator from a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`, which must not be 0. The probabilities differ by a factor of at most 1 + `bound`
    /// / 2⁶⁴.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next_u64()) * bound as u128) >> 64) as usize
    }
}

/// Returns a hash that depends only on `seed` and `parts`, for stable orders and splits.
pub(crate) fn hash(seed: u64, parts: &[&str]) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&seed.to_le_bytes());
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    let mut first = [0; 8];
    first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
    u64::from_le_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_match_the_reference_implementation() {
        let mut random = Random::new(1_234_567);
        assert_eq!(random.next_u64(), 6_457_827_717_110_365_317);
        assert_eq!(random.next_u64(), 3_203_168_211_198_807_973);
    }

    #[test]
    fn numbers_below_the_bound_are_uniformly_distributed() {
        let mut random = Random::new(7);
        let mut counts = [0_u32; 5];
        for _ in 0..10_000 {
            counts[random.below(5)] += 1;
        }
        assert!(counts.iter().all(|count| (1_850..2_150).contains(count)), "{counts:?}");
    }

    #[test]
    fn hashes_distinguish_the_borders_of_parts() {
        assert_ne!(hash(1, &["ab", "c"]), hash(1, &["a", "bc"]));
        assert_ne!(hash(1, &["a"]), hash(2, &["a"]));
    }
}
