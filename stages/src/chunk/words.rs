//! Finds which of many names occur in a text as whole words, in one pass over the text.

use aho_corasick::AhoCorasick;
use rustc_hash::{FxHashMap, FxHashSet};

/// Longest name, in bytes, that is searched if it contains other bytes than those of [`is_part`]. It bounds the number of
/// names that can end at one offset to half of it.
const LONGEST_PATTERN: usize = 128;
/// Most bytes of such names of one file.
const MOST_PATTERN_BYTES: usize = 64 << 10;

/// The names to search for, each with the caller's numbers.
///
/// A name occurs as a word if no identifier character precedes or follows it.
pub(crate) struct Words<'a> {
    /// Names that consist of identifier characters only: they match whole runs of such characters.
    plain: FxHashMap<&'a str, Vec<u32>>,
    patterns: Option<AhoCorasick>,
    /// By number of the pattern.
    numbers: Vec<Vec<u32>>,
}

impl<'a> Words<'a> {
    /// Keeps the first `most` numbers of a name.
    pub(crate) fn new(names: impl Iterator<Item = (&'a str, u32)>, most: usize) -> Self {
        let mut plain: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
        let mut others: FxHashMap<&str, usize> = FxHashMap::default();
        let (mut patterns, mut numbers, mut bytes) = (Vec::new(), Vec::<Vec<u32>>::new(), 0);
        for (name, number) in names.filter(|(name, _)| !name.is_empty()) {
            let known = if name.bytes().all(is_part) {
                plain.entry(name).or_default()
            } else if let Some(at) = others.get(name) {
                &mut numbers[*at]
            } else if name.len() <= LONGEST_PATTERN && bytes + name.len() <= MOST_PATTERN_BYTES {
                bytes += name.len();
                others.insert(name, patterns.len());
                patterns.push(name);
                numbers.push(Vec::new());
                &mut numbers[patterns.len() - 1]
            } else {
                continue;
            };
            if known.len() < most {
                known.push(number);
            }
        }
        let patterns = if patterns.is_empty() { None } else { AhoCorasick::new(&patterns).ok() };
        Self { plain, patterns, numbers }
    }

    /// The numbers of the names that occur in `text`, ascending, without duplicates.
    pub(crate) fn numbers_in(&self, text: &str) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        if !self.plain.is_empty() {
            let mut seen = FxHashSet::default();
            for run in text.split(|c: char| !u8::try_from(c).is_ok_and(is_part)) {
                match self.plain.get(run) {
                    Some(numbers) if seen.insert(run) => found.extend(numbers),
                    _ => {}
                }
            }
        }
        if let Some(patterns) = &self.patterns {
            let bytes = text.as_bytes();
            let is_inner = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(|byte| is_part(*byte));
            let mut seen = vec![false; self.numbers.len()];
            for hit in patterns.find_overlapping_iter(text) {
                let pattern = hit.pattern().as_usize();
                if !seen[pattern] && !is_inner(hit.start().checked_sub(1)) && !is_inner(Some(hit.end())) {
                    seen[pattern] = true;
                    found.extend(&self.numbers[pattern]);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Whether a byte is an identifier character in every language.
fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$'
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Whether `word` occurs in `text`, by definition.
    fn holds(text: &str, word: &str) -> bool {
        let bytes = text.as_bytes();
        let is_inner = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(|byte| is_part(*byte));
        let mut places = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(word.as_bytes()));
        !word.is_empty() && places.any(|at| !is_inner(at.checked_sub(1)) && !is_inner(Some(at + word.len())))
    }

    proptest! {
        #[test]
        fn words_are_those_that_a_search_for_each_finds(
            names in prop::collection::vec("[ab$é.-]{0,4}", 0..12),
            text in "[ab_$é. -]{0,40}",
        ) {
            let words = Words::new(names.iter().zip(0..).map(|(name, number)| (name.as_str(), number)), 12);
            let expected: Vec<u32> =
                (0..).zip(&names).filter(|(_, name)| holds(&text, name)).map(|(number, _)| number).collect();
            prop_assert_eq!(words.numbers_in(&text), expected);
        }
    }

    #[test]
    fn what_is_kept_of_many_names_is_bounded() {
        let long = "é".repeat(LONGEST_PATTERN);
        let names = [(long.as_str(), 0), ("a", 1), ("a", 2), ("a", 3)];
        let words = Words::new(names.into_iter(), 2);
        assert_eq!(words.numbers_in(&format!("{long} a")), [1, 2]);
    }
}
