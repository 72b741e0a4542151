//! Exact-text filters: which chunks hold a match of every pattern.
//!
//! A pattern is matched against a chunk's text as it was indexed. Case does not matter unless the pattern holds an
//! upper-case letter; `^` and `$` stand for the ends of a line; `.` stops there, `\s` does not.
//!
//! Terms that every match is known to bring ([`required_terms`]) narrow the chunks through the dictionary first; the texts of those that
//! are left are searched by all threads.

use std::ops::Range;

use aurora_storage::{Snapshot, StorageError};
use rayon::prelude::*;
use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::ast::{self, Ast};
use roaring::RoaringBitmap;

use crate::filter::error::FilterError;
use crate::filter::required_terms::{RequiredTerm, required_terms};

/// Terms with one beginning that are looked up.
const MOST_TERMS: usize = 2_000;
/// Chunks that a thread searches at a time.
const BATCH: usize = 512;

/// Patterns that a chunk's text must match, every one of them.
#[derive(Debug, Clone, Default)]
pub struct TextFilter {
    patterns: Vec<TextPattern>,
}

#[derive(Debug, Clone)]
struct TextPattern {
    regex: Regex,
    required_terms: Vec<RequiredTerm>,
}

impl TextFilter {
    /// Reads regular expressions, and texts that stand for themselves.
    ///
    /// # Errors
    /// [`FilterError::Pattern`] for the first one that is no regular expression, too large, or empty.
    pub fn new(expressions: &[String], fixed: &[String]) -> Result<Self, FilterError> {
        let fixed = fixed.iter().map(|text| (text, regex_syntax::escape(text)));
        let expressions = expressions.iter().map(|text| (text, text.clone()));
        let patterns = expressions.chain(fixed).map(|(given, expression)| TextPattern::new(given, &expression));
        Ok(Self { patterns: patterns.collect::<Result<_, _>>()? })
    }

    /// Whether there is no pattern, so that every text passes.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// Whether every pattern matches somewhere in the text.
    pub fn is_match(&self, text: &str) -> bool {
        self.patterns.iter().all(|pattern| pattern.regex.is_match(text))
    }

    /// Where the patterns match, in bytes, by start; empty matches are left out.
    pub fn find(&self, text: &str) -> Vec<Range<usize>> {
        let found = self.patterns.iter().flat_map(|pattern| pattern.regex.find_iter(text));
        let mut found: Vec<_> = found.map(|found| found.range()).filter(|range| !range.is_empty()).collect();
        found.sort_unstable_by_key(|range| (range.start, range.end));
        found
    }

    /// The live chunks among `within` (all, where it is `None`) whose text passes.
    pub(crate) fn select(
        &self,
        snapshot: &Snapshot,
        within: Option<&RoaringBitmap>,
    ) -> Result<RoaringBitmap, StorageError> {
        let mut possible = match within {
            Some(within) => within & snapshot.live(),
            None => snapshot.live().clone(),
        };
        // An index without keywords has no term to look up.
        if snapshot.field_totals().iter().any(|total| *total > 0) {
            for need in self.patterns.iter().flat_map(|pattern| &pattern.required_terms) {
                if let Some(holding) = holding(snapshot, need)? {
                    possible &= holding;
                }
            }
        }
        let ids: Vec<u32> = possible.iter().collect();
        let matches = |ids: &[u32]| -> Result<Vec<u32>, StorageError> {
            let mut found = Vec::new();
            snapshot.each_text(ids, |id, text| found.extend(self.is_match(text).then_some(id)))?;
            Ok(found)
        };
        let found = ids.par_chunks(BATCH).map(matches).collect::<Result<Vec<_>, _>>()?;
        Ok(found.into_iter().flatten().collect())
    }
}

/// The chunks that hold a required term; `None` where looking it up costs more than reading their texts.
fn holding(snapshot: &Snapshot, need: &RequiredTerm) -> Result<Option<RoaringBitmap>, StorageError> {
    let mut chunks = RoaringBitmap::new();
    match need {
        RequiredTerm::Term(spellings) => {
            for spelling in spellings {
                chunks |= snapshot.postings(spelling)?.docs();
            }
        }
        RequiredTerm::Prefix(prefix) => {
            for (at, entry) in snapshot.terms_with_prefix(prefix).enumerate() {
                if at == MOST_TERMS {
                    return Ok(None);
                }
                chunks |= snapshot.postings(&entry?.0)?.docs();
            }
        }
    }
    Ok(Some(chunks))
}

impl TextPattern {
    fn new(given: &str, expression: &str) -> Result<Self, FilterError> {
        let refuse = |reason: String| FilterError::Pattern { given: given.to_owned(), reason };
        if given.is_empty() {
            return Err(refuse("it is empty".to_owned()));
        }
        let syntax = ast::parse::Parser::new().parse(expression).map_err(|error| refuse(error.kind().to_string()))?;
        let insensitive = !has_upper_case(&syntax);
        let regex = RegexBuilder::new(expression).case_insensitive(insensitive).multi_line(true).crlf(true).build();
        let regex = regex.map_err(|error| match error {
            regex::Error::CompiledTooBig(limit) => refuse(format!("it needs more than {limit} bytes of memory")),
            error => refuse(last_line(&error.to_string())),
        })?;
        let meaning =
            ParserBuilder::new().case_insensitive(insensitive).multi_line(true).crlf(true).build().parse(expression);
        let required_terms = meaning.map(|meaning| required_terms(&meaning)).unwrap_or_default();
        Ok(Self { regex, required_terms })
    }
}

/// The reason is in the last line, below a drawing of the pattern.
fn last_line(message: &str) -> String {
    let line = message.lines().last().unwrap_or(message);
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// Whether an upper-case letter is written out; `\S` is none.
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
    fn case_matters_where_a_pattern_has_upper_case() {
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
    fn fixed_text_stands_for_itself() {
        let filter = filter(&[], &["f(x.y)*"]).expect("any text");
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
    fn a_broken_pattern_is_named_with_its_reason() {
        let message = |expression: &str| filter(&[expression], &[]).expect_err("refused").to_string();
        insta::assert_snapshot!(message("f(x"), @"Invalid pattern 'f(x': unclosed group (`fixed` searches for a text as it is)");
        insta::assert_snapshot!(message(r"\p{Klingon}"), @r"Invalid pattern '\p{Klingon}': Unicode property not found (`fixed` searches for a text as it is)");
        assert!(message("").contains("it is empty"));
        assert!(message("(a{1000}){1000}").contains("memory"));
    }
}
