//! Sums of scores by place in a window.

use aurora_storage::WINDOW;

/// Up to this many summands it is noted where they are; more of them, and all places are looked at.
const NOTED: u32 = 512;
/// Places that are looked at together.
const GROUP: usize = 64;

/// Sums, 0 where nothing was added.
pub(super) struct Sums {
    sums: Box<[[f32; GROUP]; WINDOW as usize / GROUP]>,
    /// A bit for each place that something was added to, if that is noted.
    noted: Option<[u64; WINDOW as usize / GROUP]>,
}

impl Default for Sums {
    fn default() -> Self {
        Self { sums: Box::new([[0.0; GROUP]; WINDOW as usize / GROUP]), noted: None }
    }
}

impl Sums {
    /// Prepares for so many summands.
    pub(super) fn begin(&mut self, summands: u32) {
        self.noted = (summands <= NOTED).then_some([0; WINDOW as usize / GROUP]);
    }

    /// Adds positive scores to places.
    pub(super) fn add(&mut self, places: &[u16], scores: &[f32]) {
        let sums = self.sums.as_flattened_mut();
        for (&place, score) in places.iter().zip(scores) {
            sums[usize::from(place) % WINDOW as usize] += score;
        }
        if let Some(noted) = &mut self.noted {
            for &place in places {
                noted[usize::from(place) % WINDOW as usize / GROUP] |= 1 << (usize::from(place) % GROUP);
            }
        }
    }

    /// Gives the positive sums that are at least `bar`, ascending by place, and forgets all.
    pub(super) fn take(&mut self, bar: f32, mut each: impl FnMut(u16, f32)) {
        // Positive floats are ordered as their bits.
        let bar = bar.max(f32::MIN_POSITIVE).to_bits() as i32;
        let is_enough = |sum: f32| sum.to_bits() as i32 >= bar;
        for (group, sums) in self.sums.iter_mut().enumerate() {
            let mut left = match &self.noted {
                Some(noted) => noted[group],
                None => sums.iter().fold(0, |any, sum| any | u32::from(is_enough(*sum))).into(),
            };
            if self.noted.is_none() && left != 0 {
                left = sums.iter().rev().fold(0, |bits, sum| bits << 1 | u64::from(is_enough(*sum)));
            }
            while left != 0 {
                let at = left.trailing_zeros() as usize;
                if is_enough(sums[at]) {
                    each((group * GROUP + at) as u16, sums[at]);
                }
                left &= left - 1;
            }
            if self.noted.is_none_or(|noted| noted[group] != 0) {
                *sums = [0.0; GROUP];
            }
        }
    }
}
