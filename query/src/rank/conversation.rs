//! Reorders the turns of conversations by keyword scores of the turn, of its neighbours and of its session.
//!
//! A turn is short and depends on the turns around it, so its own score says little about whether it answers a query.
//! The statistics cover the candidates of the query, so the work is bounded.

use std::collections::BTreeMap;

use aurora_analysis::Analyzer;
use aurora_storage::{ChunkType, StorageError};

use crate::memory::{column, text};
use crate::rank::RankingContext;
use crate::rank::candidate::RankedCandidate;
use crate::rank::overlap::{Overlaps, WeighedParts};

/// Name of the rule that reorders turns.
const RULE: &str = "conversation";
/// Maximum number of turns between a turn and a neighbour.
const NEIGHBOURS: u32 = 3;
/// Maximum number of bytes of a turn that are read.
const MAX_TEXT_BYTES: usize = 4_096;
/// Number of words from which a turn has the full share [`Shares::length`].
const LONG_WORDS: f32 = 50.0;
/// BM25 parameters. Turns are short, so repeated words and long turns matter less than in documents.
const K1: f32 = 0.9;
const B: f32 = 0.4;

/// Weights of the properties of a turn, relative to the weight 1 of its score. The weights were chosen on the
/// conversations of REALTALK (Lee et al., 2025).
struct Shares {
    own: f32,
    neighbours: f32,
    session: f32,
    speaker: f32,
    length: f32,
}

const SHARES: Shares = Shares { own: 0.6, neighbours: 0.6, session: 0.3, speaker: 0.5, length: 0.4 };

/// Words of one or several turns: the number of occurrences of each part of the query, and the number of all words.
#[derive(Clone, Default)]
struct Counts {
    parts: Vec<f32>,
    words: f32,
}

impl Counts {
    fn add(&mut self, other: &Self) {
        self.parts.resize(self.parts.len().max(other.parts.len()), 0.0);
        self.parts.iter_mut().zip(&other.parts).for_each(|(sum, count)| *sum += count);
        self.words += other.words;
    }
}

/// Reorders the candidates that are turns. The best score of a turn stays the same, so the order of turns and other
/// candidates changes little. `strength` is 0..=1; 0 keeps the order.
///
/// # Errors
/// Fails if an index cannot be read.
pub(super) fn reorder(
    context: &RankingContext<'_, '_>,
    query: &WeighedParts<'_>,
    ranked: &mut [RankedCandidate<'_>],
) -> Result<(), StorageError> {
    let strength = context.config.rules.conversation;
    let is_turn = |candidate: &RankedCandidate<'_>| candidate.retrieved.chunk.chunk_type() == ChunkType::Turn;
    let turns: Vec<usize> = (0..ranked.len()).filter(|&at| is_turn(&ranked[at])).collect();
    let best = turns.iter().map(|&at| ranked[at].score).fold(0.0, f32::max);
    if turns.len() < 2 || strength == 0.0 || best <= 0.0 {
        return Ok(());
    }
    let mut overlaps = Overlaps::new(query);
    let mut counts = vec![Counts::default(); turns.len()];
    for (root, searched) in context.roots.iter().enumerate() {
        let of_root = turns.iter().enumerate().filter(|(_, at)| ranked[**at].retrieved.root == root);
        let turns: BTreeMap<u32, usize> = of_root.map(|(turn, at)| (ranked[*at].retrieved.id.0, turn)).collect();
        let ids: Vec<u32> = turns.keys().copied().collect();
        let read = |id, text: &str| counts[turns[&id]] = count(&mut overlaps, query.weights().count(), text);
        searched.snapshot.for_each_text(&ids, read)?;
    }
    let mut speaker = |&at: &usize| {
        let name = text(ranked[at].retrieved.chunk, column::SPEAKER).unwrap_or_default();
        let first = name.split_whitespace().next().unwrap_or_default().to_lowercase();
        !overlaps.forms(&first).is_empty()
    };
    let speakers: Vec<bool> = turns.iter().map(&mut speaker).collect();
    let keys: Vec<_> = turns.iter().map(|&at| position(&ranked[at])).collect();
    let mut sessions: BTreeMap<(usize, &str), Vec<(u32, usize)>> = BTreeMap::new();
    for (turn, &(root, session, order)) in keys.iter().enumerate() {
        sessions.entry((root, session)).or_default().push((order, turn));
    }
    let (mut windows, mut wholes) = (vec![Counts::default(); turns.len()], vec![Counts::default(); turns.len()]);
    for session in sessions.values_mut() {
        session.sort_unstable();
        let mut whole = Counts::default();
        session.iter().for_each(|&(_, turn)| whole.add(&counts[turn]));
        for (at, &(order, turn)) in session.iter().enumerate() {
            let before = session[..at].iter().rev().take_while(|(other, _)| order - other <= NEIGHBOURS);
            let from = session[at..].iter().take_while(|(other, _)| other - order <= NEIGHBOURS);
            before.chain(from).for_each(|&(_, other)| windows[turn].add(&counts[other]));
            wholes[turn] = whole.clone();
        }
    }
    let (own, windows, wholes) = (scores(query, &counts), scores(query, &windows), scores(query, &wholes));
    let combined: Vec<f32> = (0..turns.len())
        .map(|turn| {
            let length = ((1.0 + counts[turn].words).ln() / (1.0 + LONG_WORDS).ln()).min(1.0);
            let evidence = SHARES.own * own[turn]
                + SHARES.neighbours * windows[turn]
                + SHARES.session * wholes[turn]
                + SHARES.speaker * f32::from(u8::from(speakers[turn]))
                + SHARES.length * length;
            ranked[turns[turn]].score / best + strength * evidence
        })
        .collect();
    let highest = combined.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    for (&at, combined) in turns.iter().zip(combined) {
        let effect = best * combined / highest - ranked[at].score;
        ranked[at].change(RULE, effect);
    }
    Ok(())
}

/// Returns the index, the session and the number of a turn.
fn position<'c>(candidate: &'c RankedCandidate<'_>) -> (usize, &'c str, u32) {
    let retrieved = &candidate.retrieved;
    let parts = retrieved.key.rsplit_once(':').and_then(|(session, order)| Some((session, order.parse().ok()?)));
    // The key of a later piece of a long turn has a suffix; such a piece has no neighbours.
    let (session, order) = parts.unwrap_or((&*retrieved.key, 0));
    (retrieved.root, session, order)
}

/// Counts the words of a turn.
fn count(overlaps: &mut Overlaps<'_, '_>, parts: usize, text: &str) -> Counts {
    let mut counts = Counts { parts: vec![0.0; parts], words: 0.0 };
    let end = text.floor_char_boundary(MAX_TEXT_BYTES);
    for word in text[..end].split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        counts.words += 1.0;
        Analyzer.terms(word, &mut |term| {
            overlaps.forms(term).iter().for_each(|&part| counts.parts[part] += 1.0);
        });
    }
    counts
}

/// Returns the BM25 scores of texts, divided by the best score. The length of a text is compared with the mean length.
fn scores(query: &WeighedParts<'_>, texts: &[Counts]) -> Vec<f32> {
    let mean = texts.iter().map(|text| text.words).sum::<f32>() / texts.len().max(1) as f32;
    let score = |text: &Counts| {
        let norm = K1 * (1.0 - B + B * text.words / mean.max(1.0));
        let weights = query.weights().zip(&text.parts);
        weights.fold(0.0, |sum, (weight, count)| sum + weight * count / (count + norm))
    };
    let scores: Vec<f32> = texts.iter().map(score).collect();
    let best = scores.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    scores.into_iter().map(|score| score / best).collect()
}
