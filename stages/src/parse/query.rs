//! The queries of a language, compiled, with what each capture means.
//!
//! The files are tree-sitter queries, but are compiled here: tree-sitter's own compiler first proves of every pattern
//! where in the grammar it could match, which for TypeScript takes half a second, and its cursor tracks all patterns
//! through every node. Patterns here are looked up by the kind of their root. What is understood is the part of the
//! query language that is needed: kinds, fields (the first child of a field counts), alternations, `_`, anonymous
//! nodes, `!field`, `?` after a field's pattern, `.` around a lone child, and the predicates `#eq?`, `#any-of?` and
//! `#match? "^[A-Z]"`.

use thiserror::Error;
use tree_sitter::Language;

use crate::parse::pattern::{Pattern, PatternProblem, Predicate, Rule, Test, read};
use crate::parse::symbols::SymbolKind;

/// A language's queries as patterns by the kind of node that they start at.
#[derive(Debug)]
pub struct CompiledQuery {
    pub(crate) rules: Vec<Rule>,
    by_kind: Vec<Vec<u32>>,
    /// Rules for nodes that are no proper nodes: errors, and what the parser has made up.
    pub(crate) broken: Vec<u32>,
}

/// The queries do not fit the grammar.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QueryProblem {
    /// The query does not compile.
    #[error("the language's queries do not fit its grammar: {0}")]
    Syntax(#[from] PatternProblem),
    /// A capture that the engine does not know.
    #[error("the language's queries use the unknown capture `@{0}`")]
    Capture(String),
}

/// What a capture means; see [`crate::languages`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    Definition(SymbolKind),
    Scope,
    Name,
    Body,
    Owner,
    Outer {
        exported: bool,
    },
    Inner,
    Export,
    Base,
    Prelude,
    Skip,
    Comment,
    Call,
    Branch,
    Loop,
    Import,
    Heading,
    Constant,
    Variable,
    Local,
    Error,
    /// For predicates alone; told apart by number.
    Nothing(u8),
}

impl CompiledQuery {
    pub(crate) fn new(grammar: &Language, sources: &[&str]) -> Result<Self, QueryProblem> {
        let mut compiled =
            Self { rules: Vec::new(), by_kind: vec![Vec::new(); grammar.node_kind_count()], broken: Vec::new() };
        for source in sources {
            for rule in read(source, grammar)? {
                compiled.add(rule);
            }
        }
        Ok(compiled)
    }

    /// Indices of the rules that may match at a node of this kind.
    pub(crate) fn rules_at(&self, kind: u16) -> &[u32] {
        self.by_kind.get(usize::from(kind)).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, rule: Rule) {
        let index = self.rules.len() as u32;
        let mut pending = vec![&rule.pattern];
        while let Some(Pattern { test, .. }) = pending.pop() {
            match test {
                Test::Kind(kind) => self.by_kind[usize::from(*kind)].push(index),
                Test::OneOf(patterns) => pending.extend(patterns),
                Test::Error | Test::Missing => self.broken.push(index),
                Test::Named | Test::Token(_) => {}
            }
        }
        self.rules.push(rule);
    }
}

/// The role of a capture by its name.
pub(crate) fn role(capture: &str, ignored: &mut Vec<String>) -> Result<Role, QueryProblem> {
    if capture.starts_with('_') {
        let number = ignored.iter().position(|name| name == capture).unwrap_or_else(|| {
            ignored.push(capture.to_owned());
            ignored.len() - 1
        });
        return Ok(Role::Nothing(number as u8));
    }
    Ok(match capture {
        "function" => Role::Definition(SymbolKind::Function),
        "method" => Role::Definition(SymbolKind::Method),
        "class" => Role::Definition(SymbolKind::Class),
        "interface" => Role::Definition(SymbolKind::Interface),
        "type" => Role::Definition(SymbolKind::Type),
        "struct" => Role::Definition(SymbolKind::Struct),
        "enum" => Role::Definition(SymbolKind::Enum),
        "module" => Role::Definition(SymbolKind::Module),
        "implementation" => Role::Definition(SymbolKind::Implementation),
        "scope" => Role::Scope,
        "name" => Role::Name,
        "body" => Role::Body,
        "owner" => Role::Owner,
        "outer" => Role::Outer { exported: false },
        "outer.exported" => Role::Outer { exported: true },
        "inner" => Role::Inner,
        "export" => Role::Export,
        "base" => Role::Base,
        "prelude" => Role::Prelude,
        "skip" => Role::Skip,
        "comment" => Role::Comment,
        "call" => Role::Call,
        "branch" => Role::Branch,
        "loop" => Role::Loop,
        "import" => Role::Import,
        "heading" => Role::Heading,
        "constant" => Role::Constant,
        "variable" => Role::Variable,
        "local" => Role::Local,
        "error" => Role::Error,
        _ => return Err(QueryProblem::Capture(capture.to_owned())),
    })
}

impl Predicate {
    /// Whether the predicate holds for the text of the capture that it speaks of.
    pub(crate) fn holds(&self, text: &str) -> bool {
        match self {
            Self::AnyOf(_, values) => values.iter().any(|value| value == text),
            Self::Capitalised(_) => text.starts_with(|c: char| c.is_ascii_uppercase()),
        }
    }

    pub(crate) fn role(&self) -> Role {
        match self {
            Self::AnyOf(role, _) | Self::Capitalised(role) => *role,
        }
    }
}
