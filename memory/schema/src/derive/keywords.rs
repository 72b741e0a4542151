//! Keywords: the words that occur most often, and where it tells most.

use std::collections::HashMap;

use super::passages::{Passage, Standing};
use super::words::{singulars, words};

/// Keywords of an entry that has enough words.
const FEWEST: usize = 5;
const MOST: usize = 7;

/// Beyond the fewest, a keyword must weigh as much as a word that occurs twice.
const LEAST_WEIGHT: u64 = 2;

/// A word of an entry with what makes it a keyword.
pub(super) struct Ranked {
    pub(super) word: String,
    /// Occurrences, each with the weight of where it stands.
    weight: u64,
    /// The most telling place where the word stands.
    pub(super) standing: Standing,
}

/// The words of an entry, the most relevant first: by weight, then by first occurrence. A plural counts for its singular where both
/// occur.
pub(super) fn ranked(passages: &[Passage<'_>]) -> Vec<Ranked> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut found: Vec<Ranked> = Vec::new();
    for passage in passages {
        for word in words(&passage.text) {
            let place = *places.entry(word).or_insert_with_key(|word| {
                found.push(Ranked { word: word.clone(), weight: 0, standing: passage.standing });
                found.len() - 1
            });
            found[place].weight += passage.standing.weight();
            found[place].standing = found[place].standing.min(passage.standing);
        }
    }
    for at in 0..found.len() {
        let singular = singulars(&found[at].word).find_map(|word| places.get(&word).copied());
        if let Some(singular) = singular {
            let standing = found[at].standing;
            found[singular].weight += std::mem::take(&mut found[at].weight);
            found[singular].standing = found[singular].standing.min(standing);
        }
    }
    found.retain(|ranked| ranked.weight > 0);
    // The sort is stable: words of one weight keep their order.
    found.sort_by_key(|ranked| std::cmp::Reverse(ranked.weight));
    found
}

/// The keywords among the words of an entry.
pub(super) fn best(ranked: &[Ranked]) -> Vec<String> {
    let is_keyword = |(at, ranked): &(usize, &Ranked)| *at < FEWEST || ranked.weight >= LEAST_WEIGHT;
    ranked.iter().enumerate().take(MOST).filter(is_keyword).map(|(_, ranked)| ranked.word.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(passages: &[(Standing, &str)], expected: &[&str]) {
        let passages: Vec<Passage<'_>> =
            passages.iter().map(|(standing, text)| Passage { standing: *standing, text: (*text).into() }).collect();
        assert_eq!(best(&ranked(&passages)), expected);
    }

    #[test]
    fn frequent_words_and_those_of_titles_come_first() {
        check(
            &[(Standing::Title, "cache"), (Standing::Body, "redis redis redis redis redis cache")],
            &["cache", "redis"],
        );
        check(
            &[(Standing::Body, "one_a two_b three_c four_d five_e six_f")],
            &["one_a", "two_b", "three_c", "four_d", "five_e"],
        );
        check(&[(Standing::Topic, "aa bb cc dd ee ff gg hh")], &["aa", "bb", "cc", "dd", "ee", "ff", "gg"]);
        check(&[(Standing::Body, "!!")], &[]);
    }

    #[test]
    fn plurals_count_for_their_singulars() {
        check(&[(Standing::Body, "tokens cache token policies policy")], &["token", "policy", "cache"]);
        check(&[(Standing::Body, "tokens")], &["tokens"]);
    }
}
