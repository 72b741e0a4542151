//! Text filters, which select the chunks that contain a match of every pattern.
//!
//! A pattern is matched against a chunk's text as it was indexed. Case is ignored unless the pattern contains an
//! upper-case letter. `^` and `$` match at the ends of a line. `.` does not match a line break, but `\s` does.
//!
//! The dictionary first excludes chunks without the terms that every chunk with a match contains ([`required_terms`]).
//! All threads then search the texts of the remaining chunks.
//!
//! All patterns of a filter share a memory limit, which also bounds the time to compile them and to match a text.

use std::ops::Range;
use std::sync::Arc;

use aurora_storage::Snapshot;
use rayon::prelude::*;
use regex_automata::meta::{Builder, Config, Regex};
use regex_syntax::ast::{self, Ast};
use regex_syntax::hir::translate::TranslatorBuilder;
use roaring::RoaringBitmap;

use crate::filter::error::{FilterError, MAX_PATTERN_BYTES, SelectError};
use crate::filter::required_terms::{RequiredTerm, required_terms};
use crate::work::WorkBudget;

/// Maximum number of terms to look up for a prefix.
const MAX_PREFIX_TERMS: usize = 2_000;
/// Number of chunks that a thread searches at a time.
const BATCH: usize = 512;
/// Maximum number of matches that are located in one text.
const MAX_MATCHES: usize = 4_096;
/// Maximum memory of the lazily built automata of all patterns, in bytes per searching thread.
const MAX_CACHE_BYTES: usize = 16 << 20;
/// Maximum memory of the lazily built automaton of one pattern, in bytes.
const MAX_CACHE_BYTES_OF_ONE: usize = 2 << 20;

/// Patterns that must all match a chunk's text. Clones share the compiled patterns.
#[derive(Debug, Clone, Default)]
pub struct TextFilter {
    patterns: Arc<[TextPattern]>,
}

#[derive(Debug)]
struct TextPattern {
    regex: Regex,
    required_terms: Vec<RequiredTerm>,
}

impl TextFilter {
    /// Compiles regular expressions and fixed texts.
    ///
    /// # Errors
    /// Returns [`FilterError::Pattern`] for the first pattern that is empty or not a regular expression, and
    /// [`FilterError::PatternMemory`] if the patterns together need too much memory.
    pub fn new(expressions: &[String], fixed: &[String]) -> Result<Self, FilterError> {
        Self::within(expressions, fixed, &WorkBudget::default())
    }

    /// Compiles regular expressions and fixed texts within the memory that the request may still use for patterns.
    pub(crate) fn within(expressions: &[String], fixed: &[String], work: &WorkBudget) -> Result<Self, FilterError> {
        let fixed = fixed.iter().map(|text| (text, regex_syntax::escape(text)));
        let mut distinct: Vec<(&String, String)> = Vec::new();
        for pattern in expressions.iter().map(|text| (text, text.clone())).chain(fixed) {
            if !distinct.iter().any(|(_, expression)| *expression == pattern.1) {
                distinct.push(pattern);
            }
        }
        let cache_bytes = MAX_CACHE_BYTES_OF_ONE.min(MAX_CACHE_BYTES / distinct.len().max(1));
        let mut left = MAX_PATTERN_BYTES;
        let patterns = distinct.into_iter().map(|(given, expression)| {
            let limit = left.min(work.pattern_bytes_left());
            let compiled = TextPattern::new(given, &expression, limit, cache_bytes);
            let taken = match &compiled {
                Ok(pattern) => pattern.regex.memory_usage(),
                Err(FilterError::PatternMemory { .. }) => limit,
                Err(_) => 0,
            };
            left = left.saturating_sub(taken);
            work.take_pattern_bytes(taken);
            compiled
        });
        Ok(Self { patterns: patterns.collect::<Result<_, _>>()? })
    }

    /// Returns whether there is no pattern, so that every text passes.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Returns whether every pattern matches somewhere in the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.patterns.iter().all(|pattern| pattern.regex.is_match(text))
    }

    /// Returns the byte ranges of the non-empty matches, ordered by start. If a text has more matches than a fixed
    /// limit, only the first matches of each pattern are located.
    pub fn find(&self, text: &str) -> Vec<Range<usize>> {
        let most = MAX_MATCHES.div_ceil(self.patterns.len().max(1));
        let found = self.patterns.iter().flat_map(|pattern| pattern.regex.find_iter(text).take(most));
        let mut found: Vec<_> = found.map(|found| found.range()).filter(|range| !range.is_empty()).collect();
        found.sort_unstable_by_key(|range| (range.start, range.end));
        found
    }

    /// Returns the live chunks whose text passes, among the chunks in `within` (`None` for all).
    pub(crate) fn select(
        &self,
        snapshot: &Snapshot,
        within: Option<&RoaringBitmap>,
        work: &WorkBudget,
    ) -> Result<RoaringBitmap, SelectError> {
        let mut possible = match within {
            Some(within) => within & snapshot.live(),
            None => snapshot.live().clone(),
        };
        // An index without keywords has no terms to look up.
        if snapshot.field_totals().iter().any(|total| *total > 0) {
            for need in self.patterns.iter().flat_map(|pattern| &pattern.required_terms) {
                if possible.is_empty() {
                    break;
                }
                if let Some(chunks) = chunks_meeting(snapshot, need, work)? {
                    possible &= chunks;
                }
            }
        }
        let ids: Vec<u32> = possible.iter().collect();
        let is_match = |text: &str| {
            let mut patterns = self.patterns.iter();
            patterns.all(|pattern| !work.is_cancelled() && pattern.regex.is_match(text))
        };
        let matches = |ids: &[u32]| -> Result<Vec<u32>, SelectError> {
            work.check()?;
            let mut found = Vec::new();
            snapshot.for_each_text(ids, |id, text| found.extend(is_match(text).then_some(id)))?;
            Ok(found)
        };
        let found = ids.par_chunks(BATCH).map(matches).collect::<Result<Vec<_>, _>>()?;
        work.check()?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// Returns the chunks that meet a requirement. Returns `None` if more than [`MAX_PREFIX_TERMS`] terms begin with the
/// prefix, because their lookup would cost more than reading the texts of the chunks.
fn chunks_meeting(
    snapshot: &Snapshot,
    need: &RequiredTerm,
    work: &WorkBudget,
) -> Result<Option<RoaringBitmap>, SelectError> {
    work.check()?;
    let mut chunks = RoaringBitmap::new();
    match need {
        RequiredTerm::Term(spellings) => {
            for spelling in spellings {
                chunks |= snapshot.postings(spelling)?.docs();
            }
        }
        RequiredTerm::Prefix(prefix) => {
            for (at, entry) in snapshot.terms_with_prefix(prefix).enumerate() {
                if at == MAX_PREFIX_TERMS {
                    return Ok(None);
                }
                work.check()?;
                chunks |= snapshot.postings(&entry?.0)?.docs();
            }
        }
    }
    Ok(Some(chunks))
}

impl TextPattern {
    /// Compiles an expression. The compiled pattern uses at most `limit` bytes, plus `cache_bytes` per searching
    /// thread.
    fn new(given: &str, expression: &str, limit: usize, cache_bytes: usize) -> Result<Self, FilterError> {
        let refuse = |reason: String| FilterError::Pattern { given: given.to_owned(), reason };
        if given.is_empty() {
            return Err(refuse("it is empty".to_owned()));
        }
        let syntax = ast::parse::Parser::new().parse(expression).map_err(|error| refuse(error.kind().to_string()))?;
        let insensitive = !has_upper_case(&syntax);
        let mut translator = TranslatorBuilder::new();
        let mut translator = translator.case_insensitive(insensitive).multi_line(true).crlf(true).build();
        let meaning = translator.translate(expression, &syntax).map_err(|error| refuse(error.kind().to_string()))?;
        let config = Config::new().nfa_size_limit(Some(limit)).hybrid_cache_capacity(cache_bytes);
        let regex =
            Builder::new().configure(config).build_from_hir(&meaning).map_err(|error| match error.size_limit() {
                Some(_) => FilterError::PatternMemory { given: given.to_owned() },
                None => refuse(error.to_string()),
            })?;
        Ok(Self { regex, required_terms: required_terms(&meaning) })
    }
}

/// Returns whether the pattern contains a literal upper-case letter. Escapes such as `\S` do not count.
fn has_upper_case(syntax: &Ast) -> bool {
    struct UpperCase(bool);
    impl ast::Visitor for UpperCase {
        type Output = bool;
        type Err = std::convert::Infallible;

        fn finish(self) -> Result<bool, Self::Err> {
            Ok(self.0)
        }

        fn visit_pre(&mut self, part: &Ast) -> Result<(), Self::Err> {
            if let Ast::Literal(literal) = part {
                self.0 |= literal.c.is_uppercase();
            }
            Ok(())
        }

        fn visit_class_set_item_pre(&mut self, item: &ast::ClassSetItem) -> Result<(), Self::Err> {
            match item {
                ast::ClassSetItem::Literal(literal) => self.0 |= literal.c.is_uppercase(),
                ast::ClassSetItem::Range(range) => self.0 |= range.start.c.is_uppercase() || range.end.c.is_uppercase(),
                _ => {}
            }
            Ok(())
        }
    }
    let Ok(found) = ast::visit(syntax, UpperCase(false));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filter(expressions: &[&str], fixed: &[&str]) -> Result<TextFilter, FilterError> {
        let owned = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect::<Vec<_>>();
        TextFilter::new(&owned(expressions), &owned(fixed))
    }

    fn matches(expression: &str, text: &str) -> bool {
        filter(&[expression], &[]).expect("a pattern").is_match(text)
    }

    #[test]
    fn case_matters_if_a_pattern_has_upper_case() {
        for (expression, text, expected) in [
            ("config", "ParseConfig", true),
            ("Config", "parse_config", false),
            ("Config", "ParseConfig", true),
            (r"\S+config", "ParseConfig", true),
            ("[A-Z]onfig", "config", false),
            ("größe", "GRÖSSE Größe", true),
            ("^b$", "a\nb\nc", true),
            ("a.b", "a\nb", false),
            (r"a\sb", "a\nb", true),
        ] {
            assert_eq!(matches(expression, text), expected, "{expression} {text}");
        }
    }

    #[test]
    fn fixed_text_is_matched_literally() {
        let filter = filter(&[], &["f(x.y)*"]).expect("a literal text");
        assert!(filter.is_match("return F(X.y)*2") && !filter.is_match("f(xzy)"));
        assert_eq!(filter.find("a f(x.y)*").first(), Some(&(2..9)));
    }

    #[test]
    fn all_patterns_are_required() {
        let both = filter(&["a+"], &["b"]).expect("patterns");
        assert!(both.is_match("baa") && !both.is_match("aa"));
        assert_eq!(both.find("baab"), [0..1, 1..3, 3..4]);
    }

    #[test]
    fn an_error_names_the_invalid_pattern_and_the_reason() {
        let message = |expression: &str| filter(&[expression], &[]).expect_err("refused").to_string();
        insta::assert_snapshot!(message("f(x"), @"Invalid pattern 'f(x': unclosed group (use `fixed` to search for literal text)");
        insta::assert_snapshot!(message(r"\p{Klingon}"), @r"Invalid pattern '\p{Klingon}': Unicode property not found (use `fixed` to search for literal text)");
        assert!(message("").contains("it is empty"));
        assert!(message("(a{1000}){1000}").contains("memory"));
    }

    #[test]
    fn patterns_share_a_limit_on_their_memory() {
        let large = |count: usize| (0..count).map(|n| format!(r"\w{{100}}{n}")).collect::<Vec<_>>();
        let one = TextFilter::new(&large(1), &[]).expect("one pattern fits into the limit");
        let bytes = one.patterns[0].regex.memory_usage();
        assert!(bytes > MAX_PATTERN_BYTES / 8 && bytes <= MAX_PATTERN_BYTES, "{bytes}");
        let refused = TextFilter::new(&large(256), &[]).expect_err("the patterns together exceed the limit");
        assert!(matches!(&refused, FilterError::PatternMemory { given } if given != r"\w{100}0"), "{refused}");
        let same =
            TextFilter::new(&vec![r"\w{100}0".to_owned(); 256], &[]).expect("a repeated pattern is compiled once");
        assert_eq!(same.patterns.len(), 1);
        let small = (0..256).map(|n| format!("[a-z]{{20}}{n}")).collect::<Vec<_>>();
        TextFilter::new(&small, &small).expect("small patterns fit into the limit");
    }

    #[test]
    fn filters_of_one_request_share_a_limit_on_their_memory() {
        let work = WorkBudget::default();
        let filters = std::iter::repeat_with(|| TextFilter::within(&[r"\w{100}".to_owned()], &[], &work));
        let compiled = filters.take(1_000).take_while(Result::is_ok).count();
        assert!((8..100).contains(&compiled), "{compiled}");
        assert!(
            TextFilter::within(&[r"\w{100}".to_owned()], &[], &work).is_err(),
            "the memory of the request is used up"
        );
        assert!(TextFilter::new(&[r"\w{100}".to_owned()], &[]).is_ok(), "another request has its own limit");
    }

    #[test]
    fn the_number_of_located_matches_is_limited() {
        let filter = filter(&["a", "[ab]"], &[]).expect("patterns");
        assert_eq!(filter.find(&"ab".repeat(100_000)).len(), MAX_MATCHES);
    }
}
