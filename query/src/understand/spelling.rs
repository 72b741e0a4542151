//! Spelling correction: replaces words that no chunk contains with the nearest indexed words.

use aurora_analysis::Analyzer;
use aurora_storage::{ChunkId, Label, StorageError, Walk};

use crate::corpus::Corpus;
use crate::query::QueryError;
use crate::understand::edit_distance::PrefixDistance;
use crate::understand::expansion::has_relatives;
use crate::work::WorkBudget;

/// Minimum length in bytes of a word to correct. A shorter word is close to too many other words.
const MIN_WORD_BYTES: usize = 4;
/// Minimum length in bytes of a word in which two typos are corrected.
const MIN_TWO_TYPOS_BYTES: usize = 8;
/// Maximum length in bytes of a word to correct.
const MAX_WORD_BYTES: usize = 64;
/// Maximum number of nearest words whose frequencies are compared.
const MAX_NEAREST: usize = 64;
/// Maximum number of words of a query to look up in the dictionary.
const MAX_LOOKUPS: usize = 4;
/// Maximum number of chunks whose names are read to find the original case of an identifier.
const MAX_NAMESAKES: usize = 1_000;

/// Replaces the words of `text` that no chunk contains with the nearest indexed words. Skips a word from which
/// expansion derives indexed terms. Returns the corrected query, and a sentence for the user about each change, in the
/// order of the query; `None` if nothing was replaced.
pub(crate) fn correct(
    corpus: &Corpus<'_>,
    text: &str,
    work: &WorkBudget,
) -> Result<Option<(String, Vec<String>)>, QueryError> {
    let (mut corrected, mut notes) = (String::new(), Vec::new());
    let mut left = MAX_LOOKUPS;
    for raw in text.split_inclusive(char::is_whitespace) {
        work.check()?;
        let read = correct_word(corpus, raw, &mut left)?;
        if let Some(read) = &read {
            let strip = |text: &str| text.trim_matches(|c: char| !c.is_alphanumeric() && c != '_').to_owned();
            notes.push(format!("No match for \"{}\"; searched for {}", strip(raw), strip(read)));
        }
        corrected.push_str(read.as_deref().unwrap_or(raw));
    }
    Ok((!notes.is_empty()).then_some((corrected, notes)))
}

/// Replaces the misspelt parts of `raw`; `None` if nothing was replaced. `left` is the number of words that may still
/// be looked up.
fn correct_word(corpus: &Corpus<'_>, raw: &str, left: &mut usize) -> Result<Option<String>, StorageError> {
    let mut terms: Vec<String> = Vec::new();
    Analyzer.terms(raw, &mut |term| terms.push(term.to_owned()));
    let mut unknown = Vec::new();
    for term in &terms {
        if is_correctable(term) && !corpus.contains(term)? {
            unknown.push(term.as_str());
        }
    }
    let mut read = raw.to_owned();
    let mut changed = false;
    for term in &unknown {
        let has_unknown_part = unknown.iter().any(|part| part != term && term.contains(part));
        let is_whole = terms.iter().any(|part| part != term && term.contains(part.as_str()));
        // An identifier whose parts are all indexed is considered correct.
        let is_done = !read.to_ascii_lowercase().contains(term);
        if is_done || (is_whole && !has_unknown_part) || (!is_whole && has_relatives(corpus, term)?) {
            continue;
        }
        if *left == 0 {
            break;
        }
        *left -= 1;
        let Some(near) = nearest(corpus, term)? else { continue };
        let written = if is_whole { original_case(corpus, &near)? } else { near };
        changed |= replace(&mut read, term, &written);
    }
    Ok(changed.then_some(read))
}

/// Returns whether a term consists of letters and `_`. Terms with digits are rarely mistyped words.
fn is_correctable(term: &str) -> bool {
    (MIN_WORD_BYTES..=MAX_WORD_BYTES).contains(&term.len())
        && term.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
}

/// Returns the indexed word nearest to `term`. Of several nearest words, returns the most frequent, and of equally
/// frequent words the first.
fn nearest(corpus: &Corpus<'_>, term: &str) -> Result<Option<String>, StorageError> {
    let mut found: Vec<(u8, String)> = Vec::new();
    for word in with_another_first_letter(term) {
        if corpus.contains(&word)? {
            found.push((1, word));
        }
    }
    // Two edits are accepted only if the first letter is the same.
    let most = if term.len() < MIN_TWO_TYPOS_BYTES || !found.is_empty() { 1 } else { 2 };
    let mut distances = PrefixDistance::new(term, most);
    let mut failure = None;
    corpus.walk_terms(&term[..1], &mut |bytes| {
        let (distance, walk) = distances.step(bytes);
        let near = distance.filter(|&distance| distance > 0).zip(str::from_utf8(bytes).ok());
        if let Some((distance, word)) = near {
            match corpus.contains(word) {
                Ok(true) => {
                    distances.tighten(distance);
                    found.push((distance, word.to_owned()));
                }
                Ok(false) => {}
                Err(error) => {
                    failure = Some(error);
                    return Walk::Stop;
                }
            }
        }
        walk
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    found.sort_unstable();
    found.dedup();
    let mut best: Option<(u8, u32, String)> = None;
    for (distance, word) in found.into_iter().take(MAX_NEAREST) {
        let frequency = corpus.doc_frequency(&word)?;
        if best.as_ref().is_none_or(|best| distance == best.0 && frequency > best.1) {
            best = Some((distance, frequency, word));
        }
    }
    Ok(best.map(|(_, _, word)| word))
}

/// Returns the ASCII words that begin with another character and are one edit away from `term`, which must be ASCII.
fn with_another_first_letter(term: &str) -> Vec<String> {
    let (first, rest) = term.split_at(1);
    let mut words: Vec<String> = (b'0'..=b'9')
        .chain(b'a'..=b'z')
        .chain([b'_'])
        .map(char::from)
        .filter(|other| !first.starts_with(*other))
        .flat_map(|other| [format!("{other}{rest}"), format!("{other}{term}")])
        .collect();
    if !rest.starts_with(first) {
        let second = rest.get(..1).unwrap_or_default();
        words.push(rest.to_owned());
        words.push([second, first, rest.get(1..).unwrap_or_default()].concat());
    }
    words
}

/// Returns an identifier in the case of its definition, if a chunk defines it.
fn original_case(corpus: &Corpus<'_>, folded: &str) -> Result<String, StorageError> {
    // Takes the first name by key, so that the result does not depend on the order of insertion.
    let mut names = Vec::new();
    for snapshot in corpus.snapshots() {
        for id in snapshot.label(Label::Defines(folded))?.into_iter().take(MAX_NAMESAKES) {
            let Some(chunk) = snapshot.chunk(ChunkId(id))? else { continue };
            if chunk.name().to_lowercase() == folded {
                names.push((chunk.key(), chunk.name()));
            }
        }
    }
    Ok(names.into_iter().min().map_or_else(|| folded.to_owned(), |(_, name)| name.to_owned()))
}

/// Replaces the first occurrence of `old` in `text` with `new`, ignoring case. Keeps a capital first letter. Returns
/// whether `text` contains `old`.
fn replace(text: &mut String, old: &str, new: &str) -> bool {
    let Some(start) = text.to_ascii_lowercase().find(old) else { return false };
    let capital = text[start..].starts_with(|c: char| c.is_ascii_uppercase()) && new.is_ascii();
    let mut new = new.to_owned();
    if capital {
        new[..1].make_ascii_uppercase();
    }
    text.replace_range(start..start + old.len(), &new);
    true
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn words_with_another_first_letter_are_one_edit_away(term in "[abz_]{4,6}") {
            let words: BTreeSet<String> = with_another_first_letter(&term).into_iter().collect();
            for word in &words {
                prop_assert_eq!(strsim::osa_distance(&term, word), 1, "{}", word);
                prop_assert!(!word.starts_with(&term[..1]));
            }
            // All edits: delete a letter, replace a letter, insert a letter, and swap two letters.
            let letters = || "abz_09".chars();
            let mut expected = BTreeSet::new();
            for at in 0..=term.len() {
                let (before, after) = term.split_at(at);
                expected.extend(letters().map(|letter| format!("{before}{letter}{after}")));
                if let Some(rest) = after.get(1..) {
                    expected.insert([before, rest].concat());
                    expected.extend(letters().map(|letter| format!("{before}{letter}{rest}")));
                }
                if let (Some(two), Some(rest)) = (after.get(..2), after.get(2..)) {
                    expected.insert([before, &two[1..], &two[..1], rest].concat());
                }
            }
            expected.retain(|word| !word.starts_with(&term[..1]));
            prop_assert!(expected.is_subset(&words), "{:?}", expected.difference(&words).collect::<Vec<_>>());
        }
    }

    #[test]
    fn words_are_replaced_in_place() {
        let check = |text: &str, old: &str, new: &str| {
            let mut text = text.to_owned();
            assert!(replace(&mut text, old, new));
            text
        };
        assert_eq!(check("getUserDta()", "dta", "data"), "getUserData()");
        assert_eq!(check("(parseQurey)", "parsequrey", "parseQuery"), "(parseQuery)");
        assert_eq!(check("Qurey", "qurey", "query"), "Query");
        assert!(!replace(&mut "other".to_owned(), "qurey", "query"));
    }
}
