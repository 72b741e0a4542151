//! Derives the keywords of an entry. They are its most frequent words, weighted by the part of the entry in which they
//! occur.

use std::collections::HashMap;

use super::passages::{Passage, Prominence};
use super::words::{singulars, words};

/// Number of keywords that are selected regardless of their weight, if the entry has enough words.
const MIN_KEYWORDS: usize = 5;
/// Maximum number of keywords.
const MAX_KEYWORDS: usize = 7;

/// Minimum weight of the keywords after the first [`MIN_KEYWORDS`]. It is the weight of a word that occurs twice in the
/// body.
const MIN_WEIGHT: u64 = 2;

/// A word of an entry, with its weight.
pub(super) struct Ranked {
    pub(super) word: String,
    /// Sum of the weights of all occurrences of the word.
    weight: u64,
    /// The prominence of the most prominent passage in which the word occurs.
    pub(super) prominence: Prominence,
}

/// Ranks the words of an entry by weight, and words of equal weight by their first occurrence. If a plural and its
/// singular both occur, the occurrences of the plural count for the singular.
pub(super) fn rank(passages: &[Passage<'_>]) -> Vec<Ranked> {
    let mut indexes: HashMap<String, usize> = HashMap::new();
    let mut found: Vec<Ranked> = Vec::new();
    for passage in passages {
        for word in words(&passage.text) {
            let index = *indexes.entry(word).or_insert_with_key(|word| {
                found.push(Ranked { word: word.clone(), weight: 0, prominence: passage.prominence });
                found.len() - 1
            });
            found[index].weight += passage.prominence.weight();
            found[index].prominence = found[index].prominence.min(passage.prominence);
        }
    }
    for at in 0..found.len() {
        let singular = singulars(&found[at].word).find_map(|word| indexes.get(&word).copied());
        if let Some(singular) = singular {
            let prominence = found[at].prominence;
            found[singular].weight += std::mem::take(&mut found[at].weight);
            found[singular].prominence = found[singular].prominence.min(prominence);
        }
    }
    found.retain(|ranked| ranked.weight > 0);
    // The sort is stable, so words of equal weight keep their order.
    found.sort_by_key(|ranked| std::cmp::Reverse(ranked.weight));
    found
}

/// Selects the keywords from the ranked words of an entry.
pub(super) fn select(ranked: &[Ranked]) -> Vec<String> {
    let is_keyword = |(at, ranked): &(usize, &Ranked)| *at < MIN_KEYWORDS || ranked.weight >= MIN_WEIGHT;
    ranked.iter().enumerate().take(MAX_KEYWORDS).filter(is_keyword).map(|(_, ranked)| ranked.word.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(passages: &[(Prominence, &str)], expected: &[&str]) {
        let passages: Vec<Passage<'_>> = passages
            .iter()
            .map(|(prominence, text)| Passage { prominence: *prominence, text: (*text).into() })
            .collect();
        assert_eq!(select(&rank(&passages)), expected);
    }

    #[test]
    fn frequent_words_and_title_words_come_first() {
        check(
            &[(Prominence::Title, "cache"), (Prominence::Body, "redis redis redis redis redis cache")],
            &["cache", "redis"],
        );
        check(
            &[(Prominence::Body, "one_a two_b three_c four_d five_e six_f")],
            &["one_a", "two_b", "three_c", "four_d", "five_e"],
        );
        check(&[(Prominence::Topic, "aa bb cc dd ee ff gg hh")], &["aa", "bb", "cc", "dd", "ee", "ff", "gg"]);
        check(&[(Prominence::Body, "!!")], &[]);
    }

    #[test]
    fn plurals_count_for_their_singulars() {
        check(&[(Prominence::Body, "tokens cache token policies policy")], &["token", "policy", "cache"]);
        check(&[(Prominence::Body, "tokens")], &["tokens"]);
    }
}
