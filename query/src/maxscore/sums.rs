//! Sums of scores by place in a window.

use aurora_storage::WINDOW;

/// Places that are looked at together, and within those.
const GROUP: usize = 64;
const FEW: usize = 16;
/// Up to this many summands it is noted where they are; more of them, and all places are looked at.
const NOTED: u32 = 512;

type Groups<T> = [T; WINDOW as usize / GROUP];

/// Sums, 0 where nothing was added.
pub(super) struct Sums {
    sums: Box<Groups<[f32; GROUP]>>,
    /// A bit for each place that something was added to, if that is noted.
    noted: Option<Groups<u64>>,
}

impl Default for Sums {
    fn default() -> Self {
        Self { sums: Box::new([[0.0; GROUP]; WINDOW as usize / GROUP]), noted: Some([0; WINDOW as usize / GROUP]) }
    }
}

impl Sums {
    /// Forgets everything, and prepares for so many summands.
    pub(super) fn begin(&mut self, summands: u32) {
        match &self.noted {
            Some(noted) => {
                let touched = self.sums.iter_mut().zip(noted).filter(|(_, noted)| **noted != 0);
                touched.for_each(|(sums, _)| *sums = [0.0; GROUP]);
            }
            None => self.sums.as_flattened_mut().fill(0.0),
        }
        self.noted = (summands <= NOTED).then_some([0; WINDOW as usize / GROUP]);
    }

    /// The sum of a place.
    #[inline]
    pub(super) fn at(&self, place: u16) -> f32 {
        self.sums.as_flattened()[usize::from(place) % WINDOW as usize]
    }

    /// Adds a positive score to a place.
    #[inline]
    pub(super) fn add_one(&mut self, place: u16, score: f32) {
        self.add(&[place], &[score]);
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

    /// Gives the places with positive sums of at least `bar`, ascending.
    pub(super) fn each(&self, bar: f32, mut each: impl FnMut(u16)) {
        if let Some(noted) = &self.noted {
            for (group, (sums, noted)) in self.sums.iter().zip(noted).enumerate() {
                let mut left = *noted;
                while left != 0 {
                    let at = left.trailing_zeros() as usize;
                    if reaches(sums[at], bar) {
                        each((group * GROUP + at) as u16);
                    }
                    left &= left - 1;
                }
            }
            return;
        }
        for (group, sums) in self.sums.iter().enumerate().filter(|(_, sums)| any_reaches(*sums, bar)) {
            for (few, sums) in sums.as_chunks::<FEW>().0.iter().enumerate().filter(|(_, sums)| any_reaches(*sums, bar))
            {
                let found = sums.iter().enumerate().filter(|(_, sum)| reaches(**sum, bar));
                found.for_each(|(at, _)| each((group * GROUP + few * FEW + at) as u16));
            }
        }
    }
}

/// Whether a score is positive and at least `bar`.
#[inline]
fn reaches(score: f32, bar: f32) -> bool {
    // Positive floats are ordered as their bits.
    score.to_bits() as i32 >= bar.max(f32::MIN_POSITIVE).to_bits() as i32
}

/// Whether one of some scores is.
#[inline]
pub(super) fn any_reaches(scores: &[f32], bar: f32) -> bool {
    let bar = bar.max(f32::MIN_POSITIVE).to_bits() as i32;
    let (groups, rest) = scores.as_chunks::<FEW>();
    // Without a way out of the inner loop, which then looks at several at once.
    let any = |group: &[f32; FEW]| group.iter().fold(false, |any, score| any | (score.to_bits() as i32 >= bar));
    groups.iter().any(any) || rest.iter().any(|score| score.to_bits() as i32 >= bar)
}
