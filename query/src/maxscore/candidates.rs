//! Chunks of a window that may be among the best.

/// Places, ascending, and what is known of their scores.
#[derive(Default)]
pub(super) struct Candidates {
    /// As long as ever was needed.
    room: Vec<(u16, f32)>,
    len: usize,
}

impl Candidates {
    /// Forgets everything, and makes room for so many.
    pub(super) fn begin(&mut self, most: usize) {
        self.len = 0;
        if self.room.len() < most {
            self.room.resize(most, (0, 0.0));
        }
    }

    /// Adds a place above all others.
    #[inline]
    pub(super) fn push(&mut self, place: u16, sum: f32) {
        self.room[self.len] = (place, sum);
        self.len += 1;
    }

    /// Number of places.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Adds a score to the sum of a place, by its index.
    #[inline]
    pub(super) fn add(&mut self, index: usize, score: f32) {
        self.room[index].1 += score;
    }

    /// The index of a place.
    pub(super) fn find(&self, place: u16) -> Option<usize> {
        self.as_slice().binary_search_by_key(&place, |(place, _)| *place).ok()
    }

    /// Keeps those with sums of at least `bar`: without a branch, since nobody can guess them.
    pub(super) fn keep(&mut self, bar: f32) {
        let mut kept = 0;
        for at in 0..self.len {
            let candidate = self.room[at];
            self.room[kept] = candidate;
            kept += usize::from(candidate.1 >= bar);
        }
        self.len = kept;
    }

    /// Places and sums.
    pub(super) fn as_slice(&self) -> &[(u16, f32)] {
        &self.room[..self.len]
    }
}
