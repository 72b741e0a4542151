//! Adds terms to a query, with lower weights than the query's own terms: other forms of a word, abbreviations, and
//! longer words that begin with a rare word.

use std::collections::BTreeSet;

use aurora_storage::{StorageError, Walk};
use rustc_hash::FxHashSet;

use crate::config::ExpansionConfig;
use crate::corpus::Corpus;
use crate::query::QueryError;
use crate::understand::parsed_query::{ExpansionReason, ExtraTerm, ParsedQuery};
use crate::understand::{abbreviations, inflection};
use crate::work::WorkBudget;

/// Minimum length in bytes of a word that is expanded to the longer words that begin with it.
const MIN_PREFIX_BYTES: usize = 4;
/// Maximum number of words with one prefix; a more frequent prefix is not expanded.
const MAX_CONTINUATIONS: usize = 64;
/// Maximum number of additional terms per term.
const MAX_EXPANSIONS_PER_TERM: usize = 6;

/// Returns the additional indexed terms of a query, in the order of the query's terms, without duplicates.
pub(crate) fn expand(
    corpus: &Corpus<'_>,
    query: &ParsedQuery,
    config: &ExpansionConfig,
    work: &WorkBudget,
) -> Result<Vec<ExtraTerm>, QueryError> {
    let mut taken: FxHashSet<String> = query.terms.iter().map(|term| term.text.clone()).collect();
    let mut extras = Vec::new();
    for (of, term) in query.parts() {
        work.check()?;
        if config.prefixes > 0.0 && is_one_character(&term.text) {
            for text in pairs(corpus, &term.text)? {
                if taken.insert(text.clone()) {
                    extras.push(ExtraTerm { of, text, weight: config.prefixes, reason: ExpansionReason::Prefix });
                }
            }
        }
        if !term.text.bytes().all(|byte| byte.is_ascii_lowercase()) {
            continue;
        }
        let most = config.abbreviated_in.max(config.inflected_in);
        let frequency = corpus.doc_frequency_up_to(&term.text, most.try_into().unwrap_or(u32::MAX))?;
        let is_in_at_most = |most: usize| frequency.is_some_and(|frequency| frequency as usize <= most);
        let mut left = MAX_EXPANSIONS_PER_TERM;
        let mut add = |text: String, weight: f32, reason: ExpansionReason| {
            if left > 0 && taken.insert(text.clone()) {
                left -= 1;
                extras.push(ExtraTerm { of, text, weight, reason });
            }
        };
        if config.abbreviations > 0.0 && is_in_at_most(config.abbreviated_in) {
            for other in abbreviations::counterparts(&term.text) {
                if corpus.contains(other)? {
                    add(other.to_owned(), config.abbreviations, ExpansionReason::Abbreviation);
                }
            }
        }
        if config.inflections > 0.0 && is_in_at_most(config.inflected_in) {
            for other in relatives(corpus, &term.text, frequency != Some(0))? {
                add(other, config.inflections, ExpansionReason::Inflection);
            }
        }
        if config.prefixes > 0.0 && frequency == Some(0) {
            for other in continuations(corpus, &term.text)? {
                add(other, config.prefixes, ExpansionReason::Prefix);
            }
        }
    }
    Ok(extras)
}

/// Returns whether expansion leads from `term`, which the index does not contain, to an indexed term.
pub(crate) fn has_relatives(corpus: &Corpus<'_>, term: &str) -> Result<bool, StorageError> {
    for other in abbreviations::counterparts(term) {
        if corpus.contains(other)? {
            return Ok(true);
        }
    }
    Ok(!relatives(corpus, term, false)?.is_empty() || !continuations(corpus, term)?.is_empty())
}

/// Returns the indexed forms of a word. Empty if neither the word nor any of its bases is indexed. `is_indexed` is true
/// if the word itself is indexed.
fn relatives(corpus: &Corpus<'_>, term: &str, is_indexed: bool) -> Result<Vec<String>, StorageError> {
    let mut found = Vec::new();
    let mut roots = Vec::new();
    for base in inflection::bases(term) {
        if corpus.contains(&base)? {
            roots.push(base.clone());
            found.push(base);
        }
    }
    if is_indexed && roots.is_empty() {
        roots.push(term.to_owned());
    }
    for root in roots {
        for form in inflection::forms(&root) {
            if form != term && !found.contains(&form) && corpus.contains(&form)? {
                found.push(form);
            }
        }
    }
    Ok(found)
}

/// Returns whether a term is a single non-ASCII character, which may be a word in a script without spaces.
fn is_one_character(term: &str) -> bool {
    !term.is_ascii() && term.chars().count() == 1
}

/// Returns the first terms of two characters that begin with `character`.
fn pairs(corpus: &Corpus<'_>, character: &str) -> Result<Vec<String>, StorageError> {
    let mut found = BTreeSet::new();
    for snapshot in corpus.snapshots() {
        let mut left = MAX_CONTINUATIONS;
        snapshot.walk_terms(character, &mut |word| {
            if let Some(pair) = std::str::from_utf8(word).ok().filter(|word| word.chars().count() == 2) {
                found.insert(pair.to_owned());
                left -= 1;
            }
            if left > 0 { Walk::Next } else { Walk::Stop }
        })?;
    }
    Ok(found.into_iter().take(MAX_CONTINUATIONS).collect())
}

/// Returns the words that begin with `term`, most frequent first; empty if there are too many such words.
fn continuations(corpus: &Corpus<'_>, term: &str) -> Result<Vec<String>, StorageError> {
    let mut found: FxHashSet<Vec<u8>> = FxHashSet::default();
    if term.len() < MIN_PREFIX_BYTES {
        return Ok(Vec::new());
    }
    corpus.walk_terms(term, &mut |word| {
        if word.len() > term.len() && word.iter().all(u8::is_ascii_lowercase) {
            found.insert(word.to_vec());
        }
        if found.len() > MAX_CONTINUATIONS { Walk::Stop } else { Walk::Next }
    })?;
    let mut ranked = Vec::new();
    if found.len() <= MAX_CONTINUATIONS {
        for word in found.into_iter().filter_map(|word| String::from_utf8(word).ok()) {
            ranked.push((corpus.doc_frequency(&word)?, word));
        }
    }
    ranked.retain(|(frequency, _)| *frequency > 0);
    ranked.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    Ok(ranked.into_iter().map(|(_, word)| word).collect())
}
