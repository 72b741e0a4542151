//! Chunks of a window that may be among the best.

use aurora_storage::WINDOW;

/// Places, ascending, and what is known of their scores.
pub(super) struct Candidates {
    places: Box<[u16; WINDOW as usize]>,
    sums: Box<[f32; WINDOW as usize]>,
    len: usize,
}

impl Default for Candidates {
    fn default() -> Self {
        Self { places: Box::new([0; WINDOW as usize]), sums: Box::new([0.0; WINDOW as usize]), len: 0 }
    }
}

impl Candidates {
    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.len = 0;
    }

    /// Adds a place above all others, of which there are fewer than places in a window.
    #[inline]
    pub(super) fn push(&mut self, place: u16, sum: f32) {
        let at = self.len % WINDOW as usize;
        (self.places[at], self.sums[at]) = (place, sum);
        self.len = at + 1;
    }

    /// The places.
    pub(super) fn places(&self) -> &[u16] {
        &self.places[..self.len]
    }

    /// Adds a score to the sum of a place, by its index.
    #[inline]
    pub(super) fn add(&mut self, index: usize, score: f32) {
        self.sums[index] += score;
    }

    /// Keeps those with sums of at least `bar`: without a branch, since nobody can guess them.
    pub(super) fn keep(&mut self, bar: f32) {
        let mut kept = 0;
        for at in 0..self.len.min(WINDOW as usize) {
            let (place, sum) = (self.places[at], self.sums[at]);
            (self.places[kept % WINDOW as usize], self.sums[kept % WINDOW as usize]) = (place, sum);
            kept += usize::from(sum >= bar);
        }
        self.len = kept;
    }

    /// Places and sums.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u16, f32)> + '_ {
        self.places().iter().copied().zip(self.sums.iter().copied())
    }
}
