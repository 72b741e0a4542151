//! Overlap of a name and a query.
//!
//! Within one search, the same words occur in many names and the same names in many chunks, so comparisons are cached.

use std::ops::Range;

use aurora_analysis::Analyzer;
use rustc_hash::FxHashMap;

use crate::understand::ParsedQuery;

/// The overlap of a text and a query; both shares are 0..1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Overlap {
    /// Share of the query that the text contains, by weight.
    pub(crate) of_query: f32,
    /// Share of the text's parts that the query contains.
    pub(crate) of_text: f32,
}

impl Overlap {
    /// Returns the harmonic mean of the two shares.
    pub(crate) fn mean(self) -> f32 {
        let sum = self.of_query + self.of_text;
        if sum > 0.0 { 2.0 * self.of_query * self.of_text / sum } else { 0.0 }
    }
}

/// The parts of a query ([`ParsedQuery::parts`]) that occur in the index, with their weights.
pub(crate) struct WeighedParts<'q> {
    parts: Vec<(&'q str, f32)>,
    total: f32,
}

impl<'q> WeighedParts<'q> {
    /// Weights the parts of a query. `idfs` contains the inverse document frequencies of the query's terms; `None` for
    /// a term that no chunk contains.
    pub(crate) fn new(query: &'q ParsedQuery, idfs: &[Option<f32>]) -> Self {
        let parts: Vec<_> =
            query.parts().filter_map(|(at, term)| Some((term.text.as_str(), term.weight * idfs[at]?))).collect();
        let total = parts.iter().fold(0.0, |sum, (_, idf)| sum + idf);
        Self { parts, total }
    }
}

/// Compares texts with the query of one search.
pub(crate) struct Overlaps<'q, 'c> {
    query: &'q WeighedParts<'q>,
    texts: FxHashMap<&'c str, Overlap>,
    /// For each word that was compared, the positions of the query's parts with the same stem.
    forms: FxHashMap<Box<str>, Vec<usize>>,
    /// The parts of the current text.
    parts: Parts,
    /// For each part of the query, whether the current text contains it.
    is_matched: Vec<bool>,
}

impl<'q, 'c> Overlaps<'q, 'c> {
    /// Creates an empty cache.
    pub(crate) fn new(query: &'q WeighedParts<'q>) -> Self {
        let is_matched = vec![false; query.parts.len()];
        Self { query, texts: FxHashMap::default(), forms: FxHashMap::default(), parts: Parts::default(), is_matched }
    }

    /// Returns the overlap of `text` and the query.
    pub(crate) fn with(&mut self, text: &'c str) -> Overlap {
        if self.query.total <= 0.0 {
            return Overlap::default();
        }
        if let Some(known) = self.texts.get(text) {
            return *known;
        }
        let overlap = self.compare(text);
        self.texts.insert(text, overlap);
        overlap
    }

    fn compare(&mut self, text: &str) -> Overlap {
        self.parts.read(text);
        self.is_matched.fill(false);
        let (mut count, mut in_query) = (0, 0);
        for word in self.parts.iter() {
            count += 1;
            if !self.forms.contains_key(word) {
                let parts = self.query.parts.iter().enumerate();
                let forms = parts.filter(|(_, (part, _))| same_stem(part, word)).map(|(at, _)| at).collect();
                self.forms.insert(word.into(), forms);
            }
            let forms = self.forms.get(word).map_or(&[][..], Vec::as_slice);
            forms.iter().for_each(|&at| self.is_matched[at] = true);
            in_query += usize::from(!forms.is_empty());
        }
        if count == 0 {
            return Overlap::default();
        }
        let matched = self.query.parts.iter().zip(&self.is_matched).filter(|(_, is_matched)| **is_matched);
        let matched = matched.fold(0.0, |sum, ((_, idf), _)| sum + idf);
        Overlap { of_query: matched / self.query.total, of_text: in_query as f32 / count as f32 }
    }
}

/// The parts of a text, as [`ParsedQuery::parts`] returns them, computed without the other data of a parsed query.
#[derive(Default)]
struct Parts {
    letters: String,
    /// Distinct terms as ranges of `letters`, and whether each consists of other terms.
    terms: Vec<(Range<usize>, bool)>,
}

impl Parts {
    fn read(&mut self, text: &str) {
        self.letters.clear();
        self.terms.clear();
        for raw in text.split_whitespace() {
            let mut before: Option<Range<usize>> = None;
            Analyzer.terms(raw, &mut |term| {
                let start = self.letters.len();
                self.letters.push_str(term);
                if let Some(before) = before.replace(start..start + term.len()) {
                    self.add(before, Some(start));
                }
            });
            if let Some(last) = before {
                self.add(last, None);
            }
        }
    }

    /// Adds a term unless it is already known. `next` is the start of the following term.
    fn add(&mut self, term: Range<usize>, next: Option<usize>) {
        let text = &self.letters.as_bytes()[term.clone()];
        if !self.terms.iter().any(|(known, _)| &self.letters.as_bytes()[known.clone()] == text) {
            let whole = next.is_some_and(|next| {
                let part = &self.letters.as_bytes()[next..];
                text.len() > part.len() && text.windows(part.len()).any(|window| window == part)
            });
            self.terms.push((term, whole));
        }
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        self.terms.iter().filter(|(_, whole)| !whole).map(|(term, _)| &self.letters[term.clone()])
    }
}

/// Returns whether two words have the same stem: they are equal except for English endings after at least four common
/// letters.
fn same_stem(a: &str, b: &str) -> bool {
    const ENDINGS: [&str; 20] = [
        "", "e", "s", "es", "ed", "er", "ers", "or", "ors", "ing", "ings", "ion", "ions", "y", "ies", "ied", "able",
        "ment", "al", "ly",
    ];
    if a == b {
        return true;
    }
    let common = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y && x.is_ascii_alphabetic()).count();
    (4..=common).rev().any(|cut| ENDINGS.contains(&&a[cut..]) && ENDINGS.contains(&&b[cut..]))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(text: &str) -> ParsedQuery {
        ParsedQuery::parse(text).expect("words")
    }

    #[test]
    fn english_endings_are_one_stem() {
        for (a, b) in [
            ("histogram", "histograms"),
            ("dependency", "dependencies"),
            ("parse", "parser"),
            ("write", "writing"),
            ("validate", "validation"),
        ] {
            assert!(same_stem(a, b) && same_stem(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("form", "format"),
            ("set", "sets"),
            ("cluster", "clutter"),
            ("utf8", "utf16"),
            ("contract", "contrast"),
            ("größe", "größen"),
        ] {
            assert!(!same_stem(a, b), "{a} {b}");
        }
    }

    #[test]
    fn shares_by_hand() {
        let query = parse("parse configFile");
        let idfs: Vec<_> = query.terms.iter().map(|term| (!term.whole).then_some(2.0)).collect();
        let parts = WeighedParts::new(&query, &idfs);
        let mut overlaps = Overlaps::new(&parts);
        let third = 1.0f32 / 3.0;
        assert_eq!(overlaps.with("parser"), Overlap { of_query: third, of_text: 1.0 });
        assert_eq!(overlaps.with("Files of parsers"), Overlap { of_query: 4.0 / 6.0, of_text: 2.0 * third });
        assert_eq!(overlaps.with("Parser").mean(), 0.5);
        assert_eq!(overlaps.with("--").mean(), 0.0);
    }

    proptest! {
        #[test]
        fn parts_equal_the_parts_of_a_parsed_query(text in "([a-cA-C_. 1-]{0,12} ?){0,4}") {
            let parsed = ParsedQuery::parse(&text);
            let expected: Vec<_> =
                parsed.iter().flat_map(ParsedQuery::parts).map(|(_, term)| term.text.clone()).collect();
            let mut parts = Parts::default();
            parts.read("something before");
            parts.read(&text);
            prop_assert_eq!(parts.iter().collect::<Vec<_>>(), expected);
        }

        #[test]
        fn cached_overlaps_equal_fresh_ones(names in prop::collection::vec("(parse|file|Config|s|er|_){1,4}", 1..20)) {
            let query = parse("parses the config files");
            let idfs: Vec<_> = (1..=query.terms.len()).map(|at| Some(at as f32 * 0.7)).collect();
            let parts = WeighedParts::new(&query, &idfs);
            let mut all = Overlaps::new(&parts);
            for name in names.iter().chain(&names) {
                prop_assert_eq!(all.with(name), Overlaps::new(&parts).with(name));
            }
        }
    }
}
