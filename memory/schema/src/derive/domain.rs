//! The domain: the area of software that most words of an entry belong to.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::passages::Passage;
use super::words::{singulars, words};
use crate::entry::Entry;

/// The domain of an entry without a word of any other.
const GENERAL: &str = "general";

/// The domains with their words, in the order of the file.
static DOMAINS: LazyLock<Vec<(&'static str, Vec<&'static str>)>> = LazyLock::new(|| {
    let lines = include_str!("../../data/domains.txt").lines().filter(|line| !line.starts_with('#'));
    let domains = lines.filter_map(|line| line.split_once(':'));
    domains.map(|(domain, words)| (domain, words.split_whitespace().collect())).collect()
});

/// The place of every word's domain in [`DOMAINS`].
static DOMAIN_OF_WORD: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let domains = DOMAINS.iter().enumerate();
    domains.flat_map(|(domain, (_, words))| words.iter().map(move |word| (*word, domain))).collect()
});

/// The domain with the most occurrences of its words among keywords and texts; of several, the first of the file.
pub(super) fn of(entry: &Entry, passages: &[Passage<'_>]) -> &'static str {
    let mut counts = vec![0_usize; DOMAINS.len()];
    let texts = passages.iter().map(|passage| passage.text.as_ref()).chain(entry.keywords());
    for word in texts.flat_map(words) {
        // The parts of `token_manager` count as well.
        let parts = word.split('_').filter(|part| *part != word);
        for domain in std::iter::once(word.as_str()).chain(parts).filter_map(domain_of) {
            counts[domain] += 1;
        }
    }
    let most = counts.iter().copied().max().unwrap_or_default();
    let first = counts.iter().position(|count| *count == most && most > 0);
    first.map_or(GENERAL, |domain| DOMAINS[domain].0)
}

fn domain_of(word: &str) -> Option<usize> {
    let known = |word: &str| DOMAIN_OF_WORD.get(word).copied();
    known(word).or_else(|| singulars(word).find_map(|word| known(&word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_word_once() {
        let names: Vec<&str> = DOMAINS.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            ["security", "performance", "architecture", "testing", "data", "infrastructure", "frontend", "api"]
        );
        assert_eq!(DOMAIN_OF_WORD.len(), DOMAINS.iter().map(|(_, words)| words.len()).sum::<usize>());
        let unmatched: Vec<&&str> =
            DOMAIN_OF_WORD.keys().filter(|word| !words(word).eq([(**word).to_owned()])).collect();
        assert!(unmatched.is_empty(), "no text has these words: {unmatched:?}");
    }
}
