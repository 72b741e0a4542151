//! Compiles the queries of a language.
//!
//! The `.scm` files are tree-sitter queries, but this module compiles them instead of tree-sitter, for speed.
//! tree-sitter's own compiler analyses where in the grammar each pattern can match, which takes half a second for
//! TypeScript. Its cursor tracks all patterns through every node, whereas this module indexes patterns by the node kind
//! of their root.
//!
//! The supported part of the query language is: node kinds, fields (only the first child of a field is matched),
//! alternations, `_`, anonymous nodes, `!field`, `?` after a field's pattern, `.` before or after a child (first or
//! last named child), and the predicates `#eq?`, `#any-of?`, `#not-eq?` (also with two captures), `#not-any-of?`,
//! `#match? "^[A-Z]"` and `#match? "-"`.

use tree_sitter::Language as Grammar;

use crate::query::pattern::{NodePattern, NodeTest, Pattern};

pub(crate) mod capture;
mod error;
pub(crate) mod pattern;
mod source;

pub use error::QuerySyntaxError;

/// The patterns of a language's queries, indexed by the node kind of their root.
#[derive(Debug)]
pub(crate) struct CompiledQuery {
    /// The grammar of the patterns, which also parses the texts.
    pub(crate) grammar: aurora_bounded_parser::Grammar,
    pub(crate) patterns: Vec<Pattern>,
    by_kind: Vec<Vec<u32>>,
    /// For each node kind, whether it has patterns.
    pub(crate) is_matched: Vec<bool>,
    /// Indices of the patterns for `ERROR` and `MISSING` nodes, which cannot be indexed by kind.
    pub(crate) error_patterns: Vec<u32>,
}

impl CompiledQuery {
    pub(crate) fn new(grammar: &Grammar, sources: &[&str]) -> Result<Self, QuerySyntaxError> {
        let by_kind = vec![Vec::new(); grammar.node_kind_count()];
        let bounded = aurora_bounded_parser::Grammar::new(grammar).ok_or(QuerySyntaxError::UnsupportedGrammar)?;
        let is_matched = vec![false; by_kind.len()];
        let mut compiled =
            Self { grammar: bounded, patterns: Vec::new(), by_kind, is_matched, error_patterns: Vec::new() };
        for source in sources {
            for pattern in source::parse(source, grammar)? {
                compiled.add(pattern);
            }
        }
        Ok(compiled)
    }

    fn add(&mut self, pattern: Pattern) {
        let index = self.patterns.len() as u32;
        let mut pending = vec![&pattern.root];
        while let Some(NodePattern { test, .. }) = pending.pop() {
            match test {
                NodeTest::Named(kind) => {
                    self.by_kind[usize::from(*kind)].push(index);
                    self.is_matched[usize::from(*kind)] = true;
                }
                NodeTest::Alternation(patterns) => pending.extend(patterns),
                NodeTest::Error | NodeTest::Missing => self.error_patterns.push(index),
                NodeTest::AnyNamed | NodeTest::Anonymous(_) => {}
            }
        }
        self.patterns.push(pattern);
    }

    /// Returns the indices of the patterns that may match at a node of this kind.
    pub(crate) fn patterns_at(&self, kind: u16) -> &[u32] {
        self.by_kind.get(usize::from(kind)).map_or(&[], Vec::as_slice)
    }
}
