//! Sums of scores by place in a window.

use aurora_storage::WINDOW;

/// Up to this many summands it is noted where they are; more of them, and all places are looked at.
const NOTED: u32 = 512;
/// Places that are looked at together.
const GROUP: usize = 32;

/// Sums, 0 where nothing was added.
pub(super) struct Sums {
    sums: Box<[f32; WINDOW as usize]>,
    noted: Vec<u16>,
    notes: bool,
}

impl Default for Sums {
    fn default() -> Self {
        Self { sums: Box::new([0.0; WINDOW as usize]), noted: Vec::new(), notes: false }
    }
}

impl Sums {
    /// Prepares for so many summands.
    pub(super) fn begin(&mut self, summands: u32) {
        self.notes = summands <= NOTED;
    }

    /// Adds a positive score.
    #[inline]
    pub(super) fn add(&mut self, place: u16, score: f32) {
        let sum = &mut self.sums[usize::from(place) % WINDOW as usize];
        if self.notes && *sum == 0.0 {
            self.noted.push(place);
        }
        *sum += score;
    }

    /// Gives the positive sums that are at least `bar`, ascending by place, and forgets all.
    pub(super) fn take(&mut self, bar: f32, mut each: impl FnMut(u16, f32)) {
        let bar = bar.max(f32::MIN_POSITIVE);
        if self.notes {
            self.noted.sort_unstable();
            for place in self.noted.drain(..) {
                let sum = std::mem::take(&mut self.sums[usize::from(place) % WINDOW as usize]);
                if sum >= bar {
                    each(place, sum);
                }
            }
            return;
        }
        for (group, sums) in self.sums.as_chunks_mut::<GROUP>().0.iter_mut().enumerate() {
            if sums.iter().fold(false, |any, sum| any | (*sum >= bar)) {
                for (at, sum) in sums.iter().enumerate().filter(|(_, sum)| **sum >= bar) {
                    each((group * GROUP + at) as u16, *sum);
                }
            }
            *sums = [0.0; GROUP];
        }
    }
}
