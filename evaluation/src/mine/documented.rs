//! Questions that come from documentation: checks that a sentence occurs nowhere else, and blanks documentation in a
//! tree.

use std::ops::Range;

use memchr::memmem;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::golden::Question;
use crate::mine::selection::Selection;
use crate::mine::sentence;
use crate::mine::source::SourceFile;

/// Number of leading characters of a sentence that must not occur anywhere else in the repository.
const PROBE_CHARS: usize = 40;

/// Byte range of a piece of documentation in the text of a file.
pub(crate) struct DocSpan<'f> {
    pub(crate) file: &'f SourceFile,
    pub(crate) bytes: Range<usize>,
}

impl<'f> DocSpan<'f> {
    /// Creates a span for the documentation at `bytes`, or returns `None` if the documentation cannot be blanked.
    pub(crate) fn new(file: &'f SourceFile, bytes: &Range<usize>) -> Option<Self> {
        can_be_blanked(file.text.get(bytes.clone())).then(|| Self { file, bytes: bytes.clone() })
    }
}

/// A candidate for a question: a sentence of the documentation at `doc`.
pub(crate) struct Candidate<'f> {
    pub(crate) file: &'f SourceFile,
    /// A key that identifies the candidate within its file.
    pub(crate) key: &'f str,
    pub(crate) question: Question,
    pub(crate) doc: Range<usize>,
}

/// Returns the keys of the sentences that occur exactly once in `sentences`.
pub(crate) fn single_keys<'s>(sentences: impl Iterator<Item = &'s str>) -> FxHashSet<String> {
    let mut counts: FxHashMap<String, usize> = FxHashMap::default();
    sentences.for_each(|sentence| *counts.entry(sentence::key(sentence)).or_default() += 1);
    counts.into_iter().filter(|(_, count)| *count == 1).map(|(key, _)| key).collect()
}

/// Chooses among the candidates whose sentences occur nowhere else. Returns each question with the path of its file.
pub(crate) fn choose(
    candidates: Vec<Candidate<'_>>,
    texts: &SqueezedTexts,
    selection: &Selection,
) -> Vec<(String, Question)> {
    let twice = Selection { most: selection.most * 2, ..*selection };
    let candidates = twice.choose(candidates, |candidate| &candidate.file.path, |candidate| candidate.key);
    let is_unique = |Candidate { file, question, doc, .. }: &Candidate<'_>| {
        texts.occurs_only_in(file.text.get(doc.clone()).unwrap_or_default(), &question.query)
    };
    let unique: Vec<bool> = candidates.par_iter().map(is_unique).collect();
    let candidates = candidates.into_iter().zip(unique).filter_map(|(candidate, unique)| unique.then_some(candidate));
    let candidates = candidates.take(selection.most);
    candidates.map(|Candidate { file, question, .. }| (file.path.clone(), question)).collect()
}

/// The texts of a repository, normalised so that a sentence can be found independently of its line breaks.
pub(crate) struct SqueezedTexts(Vec<String>);

impl SqueezedTexts {
    /// Normalises the texts of `files`.
    pub(crate) fn new(files: &[SourceFile]) -> Self {
        Self(files.par_iter().map(|file| squeezed(&file.text)).collect())
    }

    /// Returns `true` if the first [`PROBE_CHARS`] characters of a sentence occur only in `doc`, the sentence's own
    /// documentation.
    fn occurs_only_in(&self, doc: &str, sentence: &str) -> bool {
        let end = sentence.char_indices().nth(PROBE_CHARS).map_or(sentence.len(), |(at, _)| at);
        let probe = squeezed(&sentence[..end]);
        let finder = memmem::Finder::new(&probe);
        let count = |text: &str| finder.find_iter(text.as_bytes()).count();
        self.0.iter().map(|text| count(text)).sum::<usize>() <= count(&squeezed(doc))
    }
}

/// Replaces every run of white space and comment characters by one space, so that a sentence can be found independently
/// of its line breaks.
fn squeezed(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '*' | '/' | '#')).filter(|word| !word.is_empty());
    for (at, word) in words.enumerate() {
        if at > 0 {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Returns `true` if documentation can be blanked. A comment can always be blanked. A string can be blanked only if its
/// quotes can remain, which requires that it has triple quotes or only one line.
pub(crate) fn can_be_blanked(doc: Option<&str>) -> bool {
    doc.is_some_and(|doc| match quotes(doc) {
        Some((_, quote)) => doc.ends_with(quote) && (quote.len() == 3 || !doc.contains('\n')),
        None => true,
    })
}

/// Returns the text without the documentation at `ranges`. Line feeds stay, so that every line keeps its number. A
/// string keeps its prefix and quotes, so that the code still parses.
pub(crate) fn blanked(text: &str, mut ranges: Vec<Range<usize>>) -> String {
    ranges.sort_by_key(|range| range.start);
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for range in ranges {
        let Some(doc) = text.get(range.clone()).filter(|_| range.start >= from) else { continue };
        out.push_str(&text[from..range.start]);
        let (open, close) = match quotes(doc) {
            Some((prefix, quote)) => (&doc[..prefix + quote.len()], quote),
            None => ("", ""),
        };
        out.push_str(open);
        out.extend(doc.chars().filter(|c| matches!(c, '\n' | '\r')));
        out.push_str(close);
        from = range.end;
    }
    out.push_str(&text[from..]);
    out
}

/// Returns the length of a string literal's prefix, and its quote, or `None` for a comment.
fn quotes(doc: &str) -> Option<(usize, &str)> {
    let prefix = doc.len() - doc.trim_start_matches(|c: char| c.is_ascii_alphabetic() || c == '~').len();
    let quote = ["\"\"\"", "'''", "\"", "'"].into_iter().find(|quote| doc[prefix..].starts_with(quote))?;
    Some((prefix, quote))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(start: usize, end: usize) -> Vec<Range<usize>> {
        std::iter::once(start..end).collect()
    }

    #[test]
    fn another_occurrence_of_a_sentence_is_found_with_other_line_breaks() {
        let doc = "/** Collect overdue\n * invoices. */";
        let own = format!("{doc}\nvoid f() {{}}");
        for (other, alone) in [("- collect overdue\n  invoices", true), ("# Collect overdue\n# invoices", false)] {
            let texts = SqueezedTexts(vec![squeezed(&own), squeezed(other)]);
            assert_eq!(texts.occurs_only_in(doc, "Collect overdue invoices"), alone, "{other}");
        }
    }

    #[test]
    fn documentation_is_removed_and_lines_stay() {
        let python = "def f():\n    r\"\"\"One.\n\n    Two.\n    \"\"\"\n    return 1\n";
        let start = python.find("r\"").expect("the docstring");
        let end = python.rfind("\"\"\"").expect("its end") + 3;
        assert_eq!(blanked(python, one(start, end)), "def f():\n    r\"\"\"\n\n\n\"\"\"\n    return 1\n");
        let elixir = "@moduledoc ~S\"\"\"\nOne.\n\"\"\"\n";
        assert_eq!(blanked(elixir, one(11, elixir.len() - 1)), "@moduledoc ~S\"\"\"\n\n\"\"\"\n");
        let go = "// F does.\r\n// It.\r\nfunc F() {}\n";
        let end = go.find("\r\nfunc").expect("the function");
        assert_eq!(blanked(go, one(0, end)), "\r\n\r\nfunc F() {}\n");
    }

    proptest! {
        #[test]
        fn every_line_keeps_its_number(text in "[a-z/*\"\n\r ]{0,80}", cuts in prop::collection::vec((0..80_usize, 0..20_usize), 0..4)) {
            let ranges: Vec<_> = cuts
                .into_iter()
                .map(|(start, length)| start.min(text.len())..(start + length).min(text.len()))
                .filter(|range| can_be_blanked(text.get(range.clone())))
                .collect();
            let out = blanked(&text, ranges);
            prop_assert_eq!(out.matches('\n').count(), text.matches('\n').count());
        }
    }
}
