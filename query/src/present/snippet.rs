//! Selects the lines of a chunk that best match a query, and marks the matches in them.

use std::collections::BTreeMap;
use std::ops::Range;

use aurora_analysis::Analyzer;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use crate::filter::TextFilter;

/// Weight of a pattern match, greater than any sum of word weights.
const PATTERN_WEIGHT: f32 = 1_000.0;
/// Factor for the weight of a word that a chosen line already contains.
const REPEATED_FACTOR: f32 = 0.2;
/// Minimum weight of every chosen line except the best, as a share of the weight of the best line.
const MIN_LINE_SHARE: f32 = 0.25;
/// Minimum weight of a marked word, as a share of the highest weight. Words with a lower weight are too common.
const MIN_TERM_SHARE: f32 = 0.3;

/// A token of a line: its start and end in bytes, and its class, such as `keyword`.
pub type LineToken = (usize, usize, &'static str);

/// A line of a snippet.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SnippetLine {
    /// Number of the line in the file, from 1; `None` if the line could not be located in the file.
    pub line: Option<u32>,
    /// The line without its line break.
    pub text: String,
    /// Byte ranges of matches of words or patterns in the line, each as start and end.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<Vec<usize>>))]
    pub matches: Vec<(usize, usize)>,
    /// Tokens of the line for syntax highlighting, each `[start, end, class]`; empty until a caller adds them.
    #[cfg_attr(feature = "schema", schema(value_type = Vec<Vec<serde_json::Value>>, required = false))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tokens: Vec<LineToken>,
    /// Position of the line in the chunk's text, from 0.
    #[serde(skip)]
    pub place: usize,
}

/// Finds the matches of a query in a text.
#[derive(Debug, Clone, Default)]
pub struct Marker<'f> {
    /// Terms with their weights.
    terms: FxHashMap<String, f32>,
    patterns: Option<&'f TextFilter>,
}

/// A match of a term or a pattern within a line.
struct MatchMark {
    /// The matched term; `None` at the start of a pattern match, and empty in the following lines of a pattern match.
    term: Option<String>,
    range: Range<usize>,
}

impl<'f> Marker<'f> {
    /// Creates a marker for patterns and for `terms` with their weights. The terms must have the form in which the
    /// analyzer returns them. Terms with a low weight relative to the highest weight, such as `is` and `the` in a
    /// sentence, are not marked. Single letters are not marked if there are longer terms.
    pub fn new(terms: &BTreeMap<String, f32>, patterns: Option<&'f TextFilter>) -> Self {
        let heaviest = terms.values().copied().fold(0.0, f32::max);
        let has_words = terms.keys().any(|term| term.len() > 1);
        let terms = terms.iter().filter(|(term, _)| term.len() > 1 || !has_words);
        let terms = terms.filter(|(_, weight)| **weight >= heaviest * MIN_TERM_SHARE);
        Self {
            terms: terms.map(|(term, weight)| (term.clone(), *weight)).collect(),
            patterns: patterns.filter(|patterns| !patterns.is_empty()),
        }
    }

    /// Returns the matches in every line of `text` as byte ranges within the line, in order and disjoint.
    pub fn matches(&self, text: &str) -> Vec<Vec<(usize, usize)>> {
        self.marks(text).iter().map(|marks| ranges(marks)).collect()
    }

    /// Returns at most `most` lines: the best matching lines of `text`, in the order of the text. If there are fewer
    /// lines and no patterns, and none of the lines contains `name`, adds the first line that contains `name`. If no
    /// line is chosen, returns the first line that is not blank.
    ///
    /// The weight of a line is the sum of the weights of its distinct terms. A term counts less if a chosen line
    /// already contains it. Lines with the start of a pattern match come before all others.
    pub fn best_lines(&self, text: &str, name: &str, most: usize) -> Vec<SnippetLine> {
        let lines: Vec<&str> = text.lines().collect();
        let marks = self.marks(text);
        let mut shown: FxHashSet<&str> = FxHashSet::default();
        let mut chosen: Vec<usize> = Vec::new();
        let mut least = 0.0;
        while chosen.len() < most {
            let weight = |place: usize| line_weight(&marks[place], &self.terms, &shown);
            let rest = (0..lines.len()).filter(|place| !chosen.contains(place));
            let best = rest.map(|place| (weight(place), place)).max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            let Some((value, place)) = best.filter(|(value, _)| *value > least) else { break };
            if chosen.is_empty() {
                least = value.min(PATTERN_WEIGHT) * MIN_LINE_SHARE;
            }
            shown.extend(marks[place].iter().filter_map(|mark| mark.term.as_deref()));
            chosen.push(place);
        }
        let names = |place: &usize| !name.is_empty() && lines[*place].contains(name);
        if chosen.len() < most && self.patterns.is_none() && !chosen.iter().any(names) {
            chosen.extend((0..lines.len()).find(|place| names(place) && !chosen.contains(place)));
        }
        if chosen.is_empty() && most > 0 {
            chosen.extend(lines.iter().position(|line| !line.trim().is_empty()));
        }
        chosen.sort_unstable();
        let line = |place: usize| SnippetLine {
            line: None,
            text: lines[place].to_owned(),
            matches: ranges(&marks[place]),
            tokens: Vec::new(),
            place,
        };
        chosen.into_iter().map(line).collect()
    }

    fn marks(&self, text: &str) -> Vec<Vec<MatchMark>> {
        let lines: Vec<&str> = text.lines().collect();
        let mut marks: Vec<Vec<MatchMark>> = lines.iter().map(|line| self.words(line)).collect();
        let Some(patterns) = self.patterns else { return marks };
        let starts: Vec<usize> = lines.iter().map(|line| line.as_ptr() as usize - text.as_ptr() as usize).collect();
        for found in patterns.find(text) {
            let mut place = starts.partition_point(|start| *start <= found.start).saturating_sub(1);
            // A match over several lines is marked in each line, but only the first line gets the weight of the match.
            let mut from = found.start;
            while let (Some(&start), Some(line)) = (starts.get(place), lines.get(place)) {
                let range = from.saturating_sub(start).min(line.len())..(found.end - start).min(line.len());
                if from == found.start || !range.is_empty() {
                    let term = (from > found.start).then(String::new);
                    marks[place].push(MatchMark { term, range });
                }
                place += 1;
                match starts.get(place) {
                    Some(&next) if next < found.end => from = next,
                    _ => break,
                }
            }
        }
        marks
    }

    /// Returns the matches of terms in a line. A term matches a whole word or a part of a word.
    fn words(&self, line: &str) -> Vec<MatchMark> {
        let mut marks = Vec::new();
        if self.terms.is_empty() {
            return marks;
        }
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let mut rest = 0;
        while let Some(start) = line[rest..].find(is_part).map(|at| rest + at) {
            let end = line[start..].find(|c| !is_part(c)).map_or(line.len(), |at| start + at);
            self.word(&line[start..end], start, &mut marks);
            rest = end;
        }
        marks
    }

    fn word(&self, word: &str, offset: usize, marks: &mut Vec<MatchMark>) {
        let mut from = 0;
        let mut is_whole = true;
        let lower = word.to_ascii_lowercase();
        Analyzer.terms(word, &mut |term| {
            let first = std::mem::take(&mut is_whole);
            let place = lower[from..].find(term).map(|at| from + at..from + at + term.len());
            // The analyzer returns the whole word first, followed by its parts, which start at the same position.
            let is_word = first && place.as_ref().is_some_and(|range| range.len() == word.len());
            if let Some(range) = place.as_ref().filter(|_| !is_word) {
                from = range.end;
            }
            if self.terms.contains_key(term) {
                // If Unicode composition or lower-casing changed the term, the match covers the whole word.
                let range = place.unwrap_or(0..word.len());
                marks.push(MatchMark { term: Some(term.to_owned()), range: offset + range.start..offset + range.end });
            }
        });
    }
}

fn line_weight(marks: &[MatchMark], weights: &FxHashMap<String, f32>, shown: &FxHashSet<&str>) -> f32 {
    let mut counted: Vec<&str> = Vec::new();
    let mut sum = 0.0;
    let mut has_pattern = false;
    for mark in marks {
        let Some(term) = mark.term.as_deref() else {
            has_pattern = true;
            continue;
        };
        if !counted.contains(&term) {
            counted.push(term);
            let weight = weights.get(term).copied().unwrap_or(0.0);
            sum += if shown.contains(term) { weight * REPEATED_FACTOR } else { weight };
        }
    }
    sum + if has_pattern { PATTERN_WEIGHT } else { 0.0 }
}

/// Returns the ranges of the marks in order, and merges touching ranges.
fn ranges(marks: &[MatchMark]) -> Vec<(usize, usize)> {
    let mut ranges: Vec<_> = marks.iter().map(|mark| (mark.range.start, mark.range.end)).collect();
    ranges.retain(|(start, end)| start < end);
    ranges.sort_unstable();
    let mut merged: Vec<(usize, usize)> = Vec::with_capacity(ranges.len());
    for (start, end) in ranges {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TEXT: &str = "def rotate_token(request):\n    \"\"\"Change the CSRF token.\"\"\"\n    request.META.update(\n        {\n            \"CSRF_COOKIE_NEEDS_UPDATE\": True,\n        }\n    )";

    fn weights(terms: &[(&str, f32)]) -> BTreeMap<String, f32> {
        terms.iter().map(|&(term, weight)| (term.to_owned(), weight)).collect()
    }

    fn marker(terms: &[(&str, f32)]) -> Marker<'static> {
        Marker::new(&weights(terms), None)
    }

    fn places_and_matches(lines: &[SnippetLine]) -> Vec<(usize, Vec<&str>)> {
        let words = |line: &SnippetLine| line.matches.iter().map(|&(start, end)| start..end).collect::<Vec<_>>();
        lines
            .iter()
            .map(|line| (line.place, words(line).into_iter().map(|range| &line.text[range]).collect()))
            .collect()
    }

    #[test]
    fn lines_with_the_rarest_words_come_first() {
        let marker = marker(&[("csrf", 5.0), ("token", 2.0), ("rotate", 6.0)]);
        assert_eq!(
            places_and_matches(&marker.best_lines(TEXT, "", 2)),
            [(0, vec!["rotate", "token"]), (1, vec!["CSRF", "token"])]
        );
        assert_eq!(places_and_matches(&marker.best_lines(TEXT, "", 1)), [(0, vec!["rotate", "token"])]);
        assert!(marker.best_lines(TEXT, "", 0).is_empty());
    }

    #[test]
    fn whole_words_and_parts_are_marked() {
        let found = marker(&[("getuserdata", 1.0), ("user", 1.0)]).matches("getUserData(user_id, superuser)");
        assert_eq!(found, [[(0, 11), (12, 16)]]);
        assert_eq!(marker(&[("größe", 1.0)]).matches("x = GRÖSSE + Größe"), [[(14, 21)]]);
    }

    #[test]
    fn common_words_are_not_marked() {
        let marker = marker(&[("token", 5.0), ("the", 0.4), ("a", 4.0)]);
        assert_eq!(marker.matches("the token a"), [[(4, 9)]]);
        assert_eq!(
            places_and_matches(&marker.best_lines("def rotate():\n    pass\n    # the token", "rotate", 2)).len(),
            2
        );
    }

    #[test]
    fn without_a_match_the_line_with_the_name_is_shown() {
        let lines = marker(&[("zebra", 1.0)]).best_lines("# comment\ndef f():\n    pass", "f", 2);
        assert_eq!(places_and_matches(&lines), [(1, vec![])]);
        assert_eq!(marker(&[]).best_lines("\n  x", "f", 2)[0].place, 1);
        assert!(marker(&[]).best_lines("", "f", 2).is_empty());
    }

    #[test]
    fn lines_that_match_a_pattern_come_before_words() {
        let patterns = TextFilter::new(&[r"update\(\s*\{".to_owned()], &[]).expect("a pattern");
        let marker = Marker::new(&weights(&[("rotate", 9.0)]), Some(&patterns));
        assert_eq!(places_and_matches(&marker.best_lines(TEXT, "", 1)), [(2, vec!["update("])]);
        assert_eq!(marker.matches(TEXT)[3], [(0, 9)]);
    }

    proptest! {
        #[test]
        fn matches_are_within_their_lines_in_order_and_disjoint(
            text in "[a-cA-C_é日 \n\r.]{0,80}", terms in prop::collection::vec("[a-cé]{1,3}", 0..4), pattern in "[a-c]{1,2}(\\\\s[a-c])?",
        ) {
            let patterns = TextFilter::new(&[pattern], &[]).expect("a pattern");
            let marker = Marker::new(&terms.into_iter().map(|term| (term, 1.0)).collect(), Some(&patterns));
            let lines: Vec<&str> = text.lines().collect();
            let found = marker.matches(&text);
            prop_assert_eq!(found.len(), lines.len());
            for (line, ranges) in lines.iter().zip(&found) {
                prop_assert!(ranges.iter().all(|&(start, end)| start < end && line.get(start..end).is_some()));
                prop_assert!(ranges.windows(2).all(|pair| pair[0].1 < pair[1].0));
            }
            let best = marker.best_lines(&text, "a", 3);
            prop_assert!(best.len() <= 3 && best.windows(2).all(|pair| pair[0].place < pair[1].place));
            for line in &best {
                prop_assert_eq!(&line.text, lines[line.place]);
                prop_assert_eq!(&line.matches, &found[line.place]);
            }
        }
    }
}
