//! Reorders the turns of conversations by the keywords of the turn, of its neighbours and of its session.
//!
//! A turn is short and depends on the turns around it, so its own score says little about whether it answers a query.
//! All statistics cover only the candidates of the query, so the work is bounded.

use std::collections::BTreeMap;

use aurora_inverted::idf;
use aurora_storage::{ChunkType, StorageError};
use rust_stemmers::{Algorithm, Stemmer};
use rustc_hash::FxHashMap;

use crate::memory::{column, text};
use crate::rank::candidate::RankedCandidate;
use crate::retrieve::PreparedQuery;
use crate::understand::ParsedQuery;

/// Name of the rule that reorders turns.
const RULE: &str = "conversation";
/// Maximum distance between a turn and a neighbour.
const NEIGHBOURS: u32 = 3;
/// Maximum number of bytes of a turn that are read.
const MAX_TEXT_BYTES: usize = 4_096;
/// Number of words from which the share for the length of a turn is 1.
const LONG_WORDS: f32 = 50.0;
/// BM25 parameters, lower than for documents: in short turns, repeated words and length mean less.
const K1: f32 = 0.9;
const B: f32 = 0.4;

/// Function words of questions about people. Questions about code rarely contain these words.
const FUNCTION_WORDS: [&str; 30] = [
    "about", "am", "been", "being", "could", "did", "had", "he", "her", "him", "his", "may", "me", "might", "my", "no",
    "our", "s", "she", "should", "so", "t", "than", "them", "there", "they", "us", "were", "would", "your",
];
/// Weight of these words.
const FUNCTION_WORD_WEIGHT: f32 = 0.15;

/// Words that tell when something happens. Names of months that are also common words are left out.
const TIME_WORDS: [&str; 34] = [
    "ago",
    "april",
    "august",
    "day",
    "days",
    "december",
    "february",
    "friday",
    "january",
    "july",
    "june",
    "last",
    "monday",
    "month",
    "months",
    "next",
    "november",
    "october",
    "recently",
    "saturday",
    "september",
    "sunday",
    "thursday",
    "today",
    "tomorrow",
    "tonight",
    "tuesday",
    "wednesday",
    "week",
    "weekend",
    "weeks",
    "year",
    "years",
    "yesterday",
];

/// Weights of the properties of a turn; the score of the turn has the weight 1. They were chosen on the conversations
/// of REALTALK (Lee et al., "REALTALK: A 21-Day Real-World Dataset for Long-Term Conversation", 2025).
const OWN: f32 = 0.5;
const NEIGHBOURHOOD: f32 = 0.5;
const SESSION: f32 = 0.3;
const SPEAKER: f32 = 0.4;
const LENGTH: f32 = 0.4;
/// Weight of a word of time in the turn, if the query asks when something happened.
const TIME: f32 = 0.2;

/// Reorders the candidates that are turns. The best turn gets the best score of a turn, so the order of turns and other
/// candidates changes little. `strength` is 0..=1; 0 keeps the order.
///
/// # Errors
/// Fails if an index cannot be read.
pub(super) fn reorder(
    strength: f32,
    parsed: &ParsedQuery,
    roots: &[PreparedQuery<'_>],
    ranked: &mut [RankedCandidate<'_>],
) -> Result<(), StorageError> {
    let is_turn = |candidate: &RankedCandidate<'_>| candidate.retrieved.chunk.chunk_type() == ChunkType::Turn;
    let turns: Vec<usize> = (0..ranked.len()).filter(|&at| is_turn(&ranked[at])).collect();
    let best = turns.iter().map(|&at| ranked[at].score).fold(0.0, f32::max);
    if turns.len() < 2 || strength == 0.0 || best <= 0.0 {
        return Ok(());
    }
    let mut query = StemmedQuery::new(parsed);
    let mut own = vec![Counts::default(); turns.len()];
    for (root, searched) in roots.iter().enumerate() {
        let of_root = turns.iter().enumerate().filter(|(_, at)| ranked[**at].retrieved.root == root);
        let turns: BTreeMap<u32, usize> = of_root.map(|(turn, at)| (ranked[*at].retrieved.id.0, turn)).collect();
        let ids: Vec<u32> = turns.keys().copied().collect();
        searched.snapshot.for_each_text(&ids, |id, text| own[turns[&id]] = query.count(text))?;
    }
    let mut sessions: BTreeMap<(usize, &str), Vec<(u32, usize)>> = BTreeMap::new();
    for (turn, &at) in turns.iter().enumerate() {
        let (session, order) = position(&ranked[at].retrieved.key);
        sessions.entry((ranked[at].retrieved.root, session)).or_default().push((order, turn));
    }
    let (mut around, mut whole) = (own.clone(), own.clone());
    for session in sessions.values_mut() {
        session.sort_unstable();
        let sum = Counts::sum(session.iter().map(|&(_, turn)| &own[turn]));
        for (at, &(order, turn)) in session.iter().enumerate() {
            let is_near = |other: &&(u32, usize)| other.0.abs_diff(order) <= NEIGHBOURS;
            let before = session[..at].iter().rev().take_while(is_near);
            let from = session[at..].iter().take_while(is_near);
            around[turn] = Counts::sum(before.chain(from).map(|&(_, turn)| &own[turn]));
            whole[turn] = sum.clone();
        }
    }
    let weights = query.weights(&own);
    let scores = [(OWN, &own), (NEIGHBOURHOOD, &around), (SESSION, &whole)];
    let scores = scores.map(|(share, texts)| (share, keyword_scores(&weights, texts)));
    let combine = |(turn, &at): (usize, &usize)| {
        let keywords: f32 = scores.iter().map(|(share, scores)| share * scores[turn]).sum();
        let name = text(ranked[at].retrieved.chunk, column::SPEAKER).unwrap_or_default();
        let is_named = name.split_whitespace().next().is_some_and(|name| query.mentions(name));
        let length = ((1.0 + own[turn].words).ln() / (1.0 + LONG_WORDS).ln()).min(1.0);
        let tells_time = query.asks_when && own[turn].tells_time;
        let share = |holds: bool| f32::from(u8::from(holds));
        let evidence = keywords + SPEAKER * share(is_named) + LENGTH * length + TIME * share(tells_time);
        ranked[at].score / best + strength * evidence
    };
    let combined: Vec<f32> = turns.iter().enumerate().map(combine).collect();
    let highest = combined.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    for (&at, combined) in turns.iter().zip(combined) {
        let effect = best * combined / highest - ranked[at].score;
        ranked[at].change(RULE, effect);
    }
    Ok(())
}

/// Returns the session of a turn and its number in the session, given the key of the turn. The key of a later piece of
/// a long turn ends with the number of the piece; such a piece has no neighbours.
fn position(key: &str) -> (&str, u32) {
    let parts = key.rsplit_once(':').and_then(|(session, order)| Some((session, order.parse().ok()?)));
    parts.unwrap_or((key, 0))
}

/// The distinct stems of a query.
struct StemmedQuery {
    stemmer: Stemmer,
    /// Each stem with the weight of its term in the query.
    stems: Vec<(String, f32)>,
    /// Whether the query asks when something happened.
    asks_when: bool,
    /// For each word that was compared, the position of its stem in the query, and whether it tells a time.
    known: FxHashMap<Box<str>, (Option<usize>, bool)>,
}

impl StemmedQuery {
    fn new(query: &ParsedQuery) -> Self {
        let stemmer = Stemmer::create(Algorithm::English);
        let mut stems: Vec<(String, f32)> = Vec::new();
        for (_, term) in query.parts() {
            let stem = stemmer.stem(&term.text);
            if !stems.iter().any(|(known, _)| *known == stem) {
                let is_function_word = FUNCTION_WORDS.contains(&term.text.as_str());
                let weight = if is_function_word { FUNCTION_WORD_WEIGHT } else { term.weight };
                stems.push((stem.into_owned(), weight));
            }
        }
        let asks_when = query.parts().any(|(_, term)| term.text == "when");
        Self { stemmer, stems, asks_when, known: FxHashMap::default() }
    }

    /// Whether the query contains a form of `word`.
    fn mentions(&self, word: &str) -> bool {
        let word = word.to_lowercase();
        let stem = self.stemmer.stem(&word);
        self.stems.iter().any(|(known, _)| *known == stem)
    }

    /// Counts the words of a turn.
    fn count(&mut self, text: &str) -> Counts {
        let mut counts = Counts { stems: vec![0.0; self.stems.len()], words: 0.0, tells_time: false };
        let text = text[..text.floor_char_boundary(MAX_TEXT_BYTES)].to_lowercase();
        for word in text.split(|character: char| !character.is_alphanumeric()).filter(|word| !word.is_empty()) {
            counts.words += 1.0;
            let (position, tells_time) = match self.known.get(word) {
                Some(known) => *known,
                None => {
                    let stem = self.stemmer.stem(word);
                    let position = self.stems.iter().position(|(known, _)| *known == stem);
                    let known = (position, tells_time(word));
                    self.known.insert(word.into(), known);
                    known
                }
            };
            counts.tells_time |= tells_time;
            if let Some(position) = position {
                counts.stems[position] += 1.0;
            }
        }
        counts
    }

    /// Returns the weight of each stem: the weight of its term times its inverse document frequency in `turns`.
    fn weights(&self, turns: &[Counts]) -> Vec<f32> {
        let weight = |(at, (_, weight)): (usize, &(String, f32))| {
            let frequency = turns.iter().filter(|turn| turn.stems[at] > 0.0).count();
            weight * idf(turns.len() as u64, frequency as u64)
        };
        self.stems.iter().enumerate().map(weight).collect()
    }
}

/// Words of one or several turns.
#[derive(Clone, Default)]
struct Counts {
    /// Number of occurrences of each stem of the query.
    stems: Vec<f32>,
    /// Number of all words.
    words: f32,
    /// Whether a word tells a time.
    tells_time: bool,
}

impl Counts {
    fn sum<'c>(turns: impl Iterator<Item = &'c Self>) -> Self {
        let mut sum = Self::default();
        for turn in turns {
            sum.stems.resize(turn.stems.len(), 0.0);
            sum.stems.iter_mut().zip(&turn.stems).for_each(|(sum, count)| *sum += count);
            sum.words += turn.words;
        }
        sum
    }
}

/// Whether a lower-case word tells when something happens. The years 1900 to 2099 are such words.
fn tells_time(word: &str) -> bool {
    let is_year = word.len() == 4 && word.parse().is_ok_and(|year: u32| (1900..2100).contains(&year));
    is_year || TIME_WORDS.binary_search(&word).is_ok()
}

/// Returns the BM25 scores of texts, divided by the highest score.
fn keyword_scores(weights: &[f32], texts: &[Counts]) -> Vec<f32> {
    let mean = (texts.iter().map(|text| text.words).sum::<f32>() / texts.len() as f32).max(1.0);
    let score = |text: &Counts| {
        let norm = K1 * (1.0 - B + B * text.words / mean);
        weights.iter().zip(&text.stems).map(|(weight, count)| weight * count / (count + norm)).sum::<f32>()
    };
    let scores: Vec<f32> = texts.iter().map(score).collect();
    let highest = scores.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    scores.into_iter().map(|score| score / highest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(query: &str, turns: &[&str]) -> (StemmedQuery, Vec<Counts>) {
        let mut query = StemmedQuery::new(&ParsedQuery::parse(query).expect("the query has words"));
        let counts = turns.iter().map(|turn| query.count(turn)).collect();
        (query, counts)
    }

    #[test]
    fn forms_of_a_word_are_counted_together() {
        let (query, counts) =
            counts("Where did Carol hike?", &["We hiked. Hiking is fun, Carol's HIKES are long!", ""]);
        let stem = |word: &str| query.stems.iter().position(|(stem, _)| stem == word).expect("the stem is known");
        assert_eq!((counts[0].stems[stem("hike")], counts[0].stems[stem("carol")], counts[0].words), (3.0, 1.0, 10.0));
        assert_eq!((counts[1].stems[stem("hike")], counts[1].words), (0.0, 0.0));
        assert!(query.mentions("CAROL") && query.mentions("hiking") && !query.mentions("Dave"));
    }

    #[test]
    fn words_of_time_are_recognised() {
        assert!(TIME_WORDS.is_sorted());
        let (query, counts) =
            counts("When did Carol move?", &["We moved LAST spring", "in 1998!", "5 boxes, 3000 books"]);
        assert!(query.asks_when && !StemmedQuery::new(&ParsedQuery::parse("Where?").expect("a word")).asks_when);
        assert_eq!(counts.iter().map(|turn| turn.tells_time).collect::<Vec<_>>(), [true, true, false]);
    }

    #[test]
    fn scores_grow_with_rare_words_and_fall_with_length() {
        let turns =
            ["a trip to Peru", "a trip", "a trip to the sea with all of the family and many other friends", "no"];
        let (query, counts) = counts("trip Peru", &turns);
        let scores = keyword_scores(&query.weights(&counts), &counts);
        assert_eq!((scores[0], scores[3]), (1.0, 0.0));
        assert!(scores[0] > scores[1] && scores[1] > scores[2] && scores[2] > 0.0, "{scores:?}");
    }

    #[test]
    fn long_turns_are_cut_at_a_character() {
        let text = "é".repeat(MAX_TEXT_BYTES);
        let (_, counts) = counts("query", &[&text]);
        assert_eq!(counts[0].words, 1.0);
    }

    #[test]
    fn keys_give_the_session_and_the_number() {
        assert_eq!(position("turn:a:b:12"), ("turn:a:b", 12));
        assert_eq!(position("turn:a:12~2"), ("turn:a:12~2", 0));
    }
}
