//! Finds terms within a bounded edit distance of a word. Uses the optimal string alignment distance (insertion,
//! deletion, substitution, and transposition of neighbours; no part edited twice) over terms in sorted order, and
//! reuses the rows of the shared prefix.

use aurora_storage::Walk;

/// The distance table of a word against the current term. The next term reuses the rows of their common prefix.
pub(crate) struct PrefixDistance<'w> {
    word: &'w [u8],
    most: u8,
    /// Row `d` contains the distances between the first `d` bytes of the term and every prefix of the word.
    rows: Vec<Vec<u8>>,
    /// The prefix of the last term whose rows are filled.
    filled: Vec<u8>,
}

impl<'w> PrefixDistance<'w> {
    /// Creates the distance table of `word`, which accepts terms within `most` edits, counted in bytes.
    pub(crate) fn new(word: &'w str, most: u8) -> Self {
        let word = word.as_bytes();
        let deepest = word.len() + usize::from(most) + 1;
        let mut rows = vec![vec![0u8; word.len() + 1]; deepest + 1];
        for (at, cell) in rows[0].iter_mut().enumerate() {
            *cell = at.min(255) as u8;
        }
        Self { word, most, rows, filled: Vec::with_capacity(deepest) }
    }

    /// Lowers the maximum distance to `most`; never raises it.
    pub(crate) fn tighten(&mut self, most: u8) {
        self.most = self.most.min(most);
    }

    /// Returns the distance of `term`, if it does not exceed the maximum, and the terms that the walk can skip next.
    pub(crate) fn step(&mut self, term: &[u8]) -> (Option<u8>, Walk) {
        let shared = self.filled.iter().zip(term).take_while(|(a, b)| a == b).count();
        self.filled.truncate(shared);
        for depth in 1..=term.len() {
            if depth > shared {
                self.fill(term, depth);
            }
            if self.rows[depth].iter().all(|&distance| distance > self.most) {
                return (None, Walk::SkipPrefix(depth));
            }
        }
        let distance = self.rows[term.len()][self.word.len()];
        ((distance <= self.most).then_some(distance), Walk::Next)
    }

    /// Fills row `depth` from the two rows before it.
    fn fill(&mut self, term: &[u8], depth: usize) {
        let byte = term[depth - 1];
        let (above, below) = self.rows.split_at_mut(depth);
        let (last, row) = (&above[depth - 1], &mut below[0]);
        row[0] = depth.min(255) as u8;
        for at in 1..=self.word.len() {
            let same = self.word[at - 1] == byte;
            let mut distance = last[at - 1].saturating_add(u8::from(!same));
            distance = distance.min(last[at].saturating_add(1)).min(row[at - 1].saturating_add(1));
            let swapped = depth > 1 && at > 1 && self.word[at - 2] == byte && self.word[at - 1] == term[depth - 2];
            if swapped {
                distance = distance.min(above[depth - 2][at - 2].saturating_add(1));
            }
            row[at] = distance;
        }
        self.filled.push(byte);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn distance(word: &str, term: &str, most: u8) -> Option<u8> {
        PrefixDistance::new(word, most).step(term.as_bytes()).0
    }

    #[test]
    fn typos_are_one_edit() {
        assert_eq!(distance("parsequrey", "parsequery", 1), Some(1));
        assert_eq!(distance("retrieve", "retreive", 1), Some(1));
        assert_eq!(distance("confg", "config", 1), Some(1));
        assert_eq!(distance("connfig", "config", 1), Some(1));
        assert_eq!(distance("canfig", "config", 1), Some(1));
        assert_eq!(distance("fetching", "matching", 1), None);
        assert_eq!(distance("query", "query", 1), Some(0));
    }

    proptest! {
        #[test]
        fn a_sorted_walk_equals_separate_comparisons(
            word in "[abc_]{1,9}", mut terms in prop::collection::btree_set("[abc_]{1,11}", 1..200), most in 0u8..3,
        ) {
            terms.insert(word.clone());
            let mut distances = PrefixDistance::new(&word, most);
            let mut found = Vec::new();
            let mut past = Vec::new();
            for term in &terms {
                if !past.is_empty() && term.as_bytes().starts_with(&past) {
                    continue;
                }
                let (distance, walk) = distances.step(term.as_bytes());
                past = match walk {
                    Walk::SkipPrefix(bytes) => term.as_bytes()[..bytes].to_vec(),
                    Walk::Next | Walk::Stop => Vec::new(),
                };
                found.extend(distance.map(|distance| (term.clone(), usize::from(distance))));
            }
            let expected: Vec<_> = terms
                .iter()
                .map(|term| (term.clone(), strsim::osa_distance(&word, term)))
                .filter(|(_, distance)| *distance <= usize::from(most))
                .collect();
            prop_assert_eq!(found, expected);
        }
    }
}
