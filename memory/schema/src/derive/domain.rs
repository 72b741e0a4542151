//! Derives the domain of an entry, which is an area of software such as `security`.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::passages::Passage;
use super::words::{singulars, words};
use crate::entry::Entry;

/// The domain of an entry whose words belong to no other domain.
const GENERAL: &str = "general";

/// The domains and their words, in the order of `domains.txt`.
static DOMAINS: LazyLock<Vec<(&'static str, Vec<&'static str>)>> = LazyLock::new(|| {
    let lines = include_str!("../../data/domains.txt").lines().filter(|line| !line.starts_with('#'));
    let domains = lines.filter_map(|line| line.split_once(':'));
    domains.map(|(domain, words)| (domain, words.split_whitespace().collect())).collect()
});

/// Maps every word to the index of its domain in [`DOMAINS`].
static DOMAIN_OF_WORD: LazyLock<HashMap<&'static str, usize>> = LazyLock::new(|| {
    let domains = DOMAINS.iter().enumerate();
    domains.flat_map(|(domain, (_, words))| words.iter().map(move |word| (*word, domain))).collect()
});

/// Returns the domain whose words occur most often in the keywords and texts of the entry. On a tie, the domain that
/// comes first in `domains.txt` wins.
pub(super) fn derive(entry: &Entry, passages: &[Passage<'_>]) -> &'static str {
    let mut counts = vec![0_usize; DOMAINS.len()];
    let texts = passages.iter().map(|passage| passage.text.as_ref()).chain(entry.keywords());
    for word in texts.flat_map(words) {
        // The parts of an identifier such as `token_manager` are also counted.
        let parts = word.split('_').filter(|part| *part != word);
        for domain in std::iter::once(word.as_str()).chain(parts).filter_map(domain_of) {
            counts[domain] += 1;
        }
    }
    let max = counts.iter().copied().max().unwrap_or_default();
    let first = counts.iter().position(|count| *count == max && max > 0);
    first.map_or(GENERAL, |domain| DOMAINS[domain].0)
}

fn domain_of(word: &str) -> Option<usize> {
    let lookup = |word: &str| DOMAIN_OF_WORD.get(word).copied();
    lookup(word).or_else(|| singulars(word).find_map(|word| lookup(&word)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_belongs_to_one_domain() {
        let names: Vec<&str> = DOMAINS.iter().map(|(name, _)| *name).collect();
        assert_eq!(
            names,
            ["security", "performance", "architecture", "testing", "data", "infrastructure", "frontend", "api"]
        );
        assert_eq!(DOMAIN_OF_WORD.len(), DOMAINS.iter().map(|(_, words)| words.len()).sum::<usize>());
        let unmatched: Vec<&&str> =
            DOMAIN_OF_WORD.keys().filter(|word| !words(word).eq([(**word).to_owned()])).collect();
        assert!(unmatched.is_empty(), "no text can contain these words: {unmatched:?}");
    }
}
