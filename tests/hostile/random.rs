//! Random choices that can be repeated with the same seed.
//!
//! `AURORA_SEED` sets the first seed, and `AURORA_CORRUPTIONS` the number of attempts of a test. `cargo xtask explore`
//! sets both.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use crate::process::number;

/// A SplitMix64 generator (Steele, Lea and Flood, 2014).
pub(crate) struct Random(u64);

impl Random {
    /// Creates the generator for an attempt.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15))
    }

    /// Returns a random number of 64 bits.
    pub(crate) fn any(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    /// Returns a number below a bound, or 0 if the bound is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.any() % bound.max(1) as u64) as usize
    }

    /// Returns one of several values.
    pub(crate) fn pick<'a, T: ?Sized>(&mut self, of: &'a [&'a T]) -> &'a T {
        of[self.below(of.len())]
    }

    /// Returns a number at which arithmetic overflows or a range ends.
    pub(crate) fn boundary(&mut self) -> u64 {
        const NUMBERS: [u64; 14] = [
            0,
            1,
            2,
            127,
            128,
            255,
            4_096,
            65_535,
            65_536,
            0x7fff_ffff,
            0x8000_0000,
            0xffff_ffff,
            u64::MAX >> 1,
            u64::MAX,
        ];
        let number = NUMBERS[self.below(NUMBERS.len())];
        if self.below(4) == 0 { number.wrapping_sub(self.any() % 3) } else { number }
    }

    /// Damages bytes in one of several typical ways, and returns a description of the damage.
    pub(crate) fn damage(&mut self, bytes: &mut Vec<u8>) -> &'static str {
        let length = bytes.len();
        if length == 0 {
            bytes.extend_from_slice(&self.any().to_le_bytes());
            return "bytes in an empty file";
        }
        let at = self.below(length);
        let end = (at + 1 + self.below(64)).min(length);
        match self.below(9) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes[at] = self.any() as u8,
            2 => bytes[at..end].fill(0),
            3 => bytes[at..end].fill(0xff),
            4 => {
                let number = self.boundary().to_le_bytes();
                let width = [2, 4, 8][self.below(3)].min(length - at);
                bytes[at..at + width].copy_from_slice(&number[..width]);
                return "a number that is a boundary";
            }
            5 => {
                bytes.truncate(at);
                return "cut short";
            }
            6 => {
                let copy = bytes[at..end].to_vec();
                bytes.splice(at..at, copy);
                return "bytes twice";
            }
            7 => {
                bytes.drain(at..end);
                return "bytes left out";
            }
            _ => {
                let from = self.below(length);
                let count = self.below(64).min(length - from).min(length - at);
                bytes.copy_within(from..from + count, at);
                return "bytes from elsewhere";
            }
        }
        "other bytes"
    }
}

/// Makes attempts with consecutive seeds. If an attempt fails, prints how to repeat only this attempt.
pub(crate) fn attempts(test: &str, usual: u64, attempt: impl Fn(&mut Random)) {
    let (first, count) = (number("AURORA_SEED").unwrap_or(15), number("AURORA_CORRUPTIONS").unwrap_or(usual));
    for seed in first..first + count {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| attempt(&mut Random::new(seed)))) {
            eprintln!("FINDING in {test}, seed {seed}. To repeat it:");
            eprintln!("  AURORA_SEED={seed} AURORA_CORRUPTIONS=1 cargo test --test hostile {test}");
            eprintln!("Add a separate test that reproduces the error.");
            resume_unwind(panic);
        }
    }
}
