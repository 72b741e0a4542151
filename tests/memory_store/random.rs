//! Random numbers, and numbers from environment variables.

/// A SplitMix64 generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    /// Returns a random number below a bound.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ mixed >> 31) as usize % bound
    }
}

/// Returns the number that an environment variable contains.
pub(crate) fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}
