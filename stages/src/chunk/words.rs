//! Finds which of many names occur in a text as whole words, in one pass over the text.

use aho_corasick::AhoCorasick;
use rustc_hash::FxHashMap;

/// Maximum length in bytes of a name that contains bytes other than identifier characters. The limit restricts the
/// number of names that can end at one offset.
const MAX_PATTERN_BYTES: usize = 128;
/// Maximum total length in bytes of all names that contain bytes other than identifier characters.
const MAX_TOTAL_PATTERN_BYTES: usize = 64 << 10;

/// The names to search for, each with the numbers that the caller assigned.
///
/// A name occurs as a word if no identifier character precedes or follows it.
pub(crate) struct Words<'a> {
    /// Names that consist only of identifier characters, with their index in `numbers`. Each name matches a whole run
    /// of identifier characters.
    plain: FxHashMap<&'a str, usize>,
    /// For each byte, a bit set of the lengths of the plain names that begin with the byte. The last bit represents all
    /// lengths of at least 63 bytes.
    lengths: [u64; 128],
    /// Finds all other names.
    patterns: Option<AhoCorasick>,
    /// For each pattern, its index in `numbers`.
    slots: Vec<usize>,
    /// For each name, the numbers that the caller assigned.
    numbers: Vec<Vec<u32>>,
}

impl<'a> Words<'a> {
    /// Prepares the search. Keeps only the first `max_numbers` numbers of each name.
    pub(crate) fn new(names: impl Iterator<Item = (&'a str, u32)>, max_numbers: usize) -> Self {
        let (mut plain, mut others) = (FxHashMap::<&str, usize>::default(), FxHashMap::<&str, usize>::default());
        let (mut patterns, mut slots, mut lengths) = (Vec::new(), Vec::new(), [0; 128]);
        let (mut numbers, mut bytes) = (Vec::<Vec<u32>>::new(), 0);
        for (name, number) in names.filter(|(name, _)| !name.is_empty()) {
            let is_plain = name.bytes().all(is_part);
            let known = if is_plain { &mut plain } else { &mut others };
            let slot = match known.get(name) {
                Some(slot) => *slot,
                None if is_plain => {
                    lengths[usize::from(name.as_bytes()[0] & 0x7f)] |= length_bit(name.len());
                    numbers.len()
                }
                None if name.len() <= MAX_PATTERN_BYTES && bytes + name.len() <= MAX_TOTAL_PATTERN_BYTES => {
                    bytes += name.len();
                    patterns.push(name);
                    slots.push(numbers.len());
                    numbers.len()
                }
                None => continue,
            };
            if slot == numbers.len() {
                known.insert(name, slot);
                numbers.push(Vec::new());
            }
            if numbers[slot].len() < max_numbers {
                numbers[slot].push(number);
            }
        }
        let patterns = if patterns.is_empty() { None } else { AhoCorasick::new(&patterns).ok() };
        Self { plain, lengths, patterns, slots, numbers }
    }

    /// Returns the numbers of the names that occur in `text`, in ascending order without duplicates.
    pub(crate) fn numbers_in(&self, text: &str) -> Vec<u32> {
        let mut found: Vec<u32> = Vec::new();
        let mut seen = vec![false; self.numbers.len()];
        let mut add = |slot: usize| {
            if !std::mem::replace(&mut seen[slot], true) {
                found.extend(&self.numbers[slot]);
            }
        };
        let bytes = text.as_bytes();
        if !self.plain.is_empty() {
            let mut start = 0;
            while let Some(skipped) = bytes[start..].iter().position(|byte| is_part(*byte)) {
                start += skipped;
                let length = bytes[start..].iter().position(|byte| !is_part(*byte)).unwrap_or(bytes.len() - start);
                let run = &text[start..start + length];
                if self.lengths[usize::from(bytes[start] & 0x7f)] & length_bit(length) != 0
                    && let Some(slot) = self.plain.get(run)
                {
                    add(*slot);
                }
                start += length;
            }
        }
        if let Some(patterns) = &self.patterns {
            let is_inner = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(|byte| is_part(*byte));
            for hit in patterns.find_overlapping_iter(text) {
                if !is_inner(hit.start().checked_sub(1)) && !is_inner(Some(hit.end())) {
                    add(self.slots[hit.pattern().as_usize()]);
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

/// Returns the bit for a length of a name in bytes.
fn length_bit(length: usize) -> u64 {
    1 << length.min(63)
}

/// Whether a byte is an identifier character: an ASCII letter, a digit, `_` or `$`.
fn is_part(byte: u8) -> bool {
    const PARTS: [bool; 256] = {
        let mut parts = [false; 256];
        let mut byte = 0u8;
        while byte < 128 {
            parts[byte as usize] = byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
            byte += 1;
        }
        parts
    };
    PARTS[usize::from(byte)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Reference implementation: whether `word` occurs in `text` as a whole word.
    fn contains_word(text: &str, word: &str) -> bool {
        let bytes = text.as_bytes();
        let is_inner = |at: Option<usize>| at.and_then(|at| bytes.get(at)).is_some_and(|byte| is_part(*byte));
        let mut offsets = (0..bytes.len()).filter(|at| bytes[*at..].starts_with(word.as_bytes()));
        !word.is_empty() && offsets.any(|at| !is_inner(at.checked_sub(1)) && !is_inner(Some(at + word.len())))
    }

    proptest! {
        #[test]
        fn one_pass_finds_the_same_words_as_separate_searches(
            names in prop::collection::vec("[ab$é.-]{0,4}", 0..12),
            text in "[ab_$é. -]{0,40}",
        ) {
            let words = Words::new(names.iter().zip(0..).map(|(name, number)| (name.as_str(), number)), 12);
            let expected: Vec<u32> =
                (0..).zip(&names).filter(|(_, name)| contains_word(&text, name)).map(|(number, _)| number).collect();
            prop_assert_eq!(words.numbers_in(&text), expected);
        }
    }

    #[test]
    fn memory_for_many_names_is_bounded() {
        let long = "é".repeat(MAX_PATTERN_BYTES);
        let names = [(long.as_str(), 0), ("a", 1), ("a", 2), ("a", 3)];
        let words = Words::new(names.into_iter(), 2);
        assert_eq!(words.numbers_in(&format!("{long} a")), [1, 2]);
    }
}
