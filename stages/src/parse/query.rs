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

use crate::parse::pattern::{NodePattern, NodeTest, Pattern, Predicate, SyntaxError, read};
use crate::parse::symbols::SymbolKind;

/// A language's queries as patterns by the kind of node that they start at.
#[derive(Debug)]
pub struct CompiledQuery {
    pub(crate) patterns: Vec<Pattern>,
    by_kind: Vec<Vec<u32>>,
    /// Patterns for `ERROR` and missing nodes, which have no kind of their own.
    pub(crate) broken: Vec<u32>,
}

/// The queries do not fit the grammar.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum QueryError {
    /// The query does not compile.
    #[error("the language's queries do not fit its grammar: {0}")]
    Syntax(#[from] SyntaxError),
    /// A capture that the engine does not know.
    #[error("the language's queries use the unknown capture `@{0}`")]
    Capture(String),
}

/// What a capture means; see [`crate::languages`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CaptureKind {
    Definition(SymbolKind),
    Namespace,
    Name,
    Body,
    Owner,
    Wrapper {
        exported: bool,
    },
    Wrapped,
    Export,
    ReferenceBase,
    Attribute,
    SignatureOmit,
    Comment,
    ReferenceCall,
    Branch,
    Loop,
    Import,
    Heading,
    DefinitionConstant,
    DefinitionVariable,
    LocalScope,
    Error,
    /// For predicates alone; told apart by number.
    Ignored(u8),
}

impl CompiledQuery {
    pub(crate) fn new(grammar: &Language, sources: &[&str]) -> Result<Self, QueryError> {
        let mut compiled =
            Self { patterns: Vec::new(), by_kind: vec![Vec::new(); grammar.node_kind_count()], broken: Vec::new() };
        for source in sources {
            for pattern in read(source, grammar)? {
                compiled.add(pattern);
            }
        }
        Ok(compiled)
    }

    /// Indices of the patterns that may match at a node of this kind.
    pub(crate) fn patterns_at(&self, kind: u16) -> &[u32] {
        self.by_kind.get(usize::from(kind)).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, pattern: Pattern) {
        let index = self.patterns.len() as u32;
        let mut pending = vec![&pattern.root];
        while let Some(NodePattern { test, .. }) = pending.pop() {
            match test {
                NodeTest::Kind(kind) => self.by_kind[usize::from(*kind)].push(index),
                NodeTest::OneOf(patterns) => pending.extend(patterns),
                NodeTest::Error | NodeTest::Missing => self.broken.push(index),
                NodeTest::Named | NodeTest::Token(_) => {}
            }
        }
        self.patterns.push(pattern);
    }
}

/// The kind of a capture, by its name.
pub(crate) fn capture_kind(capture: &str, ignored: &mut Vec<String>) -> Result<CaptureKind, QueryError> {
    if capture.starts_with('_') {
        let number = ignored.iter().position(|name| name == capture).unwrap_or_else(|| {
            ignored.push(capture.to_owned());
            ignored.len() - 1
        });
        return Ok(CaptureKind::Ignored(number as u8));
    }
    Ok(match capture {
        "definition.function" => CaptureKind::Definition(SymbolKind::Function),
        "definition.method" => CaptureKind::Definition(SymbolKind::Method),
        "definition.class" => CaptureKind::Definition(SymbolKind::Class),
        "definition.interface" => CaptureKind::Definition(SymbolKind::Interface),
        "definition.type" => CaptureKind::Definition(SymbolKind::Type),
        "definition.struct" => CaptureKind::Definition(SymbolKind::Struct),
        "definition.enum" => CaptureKind::Definition(SymbolKind::Enum),
        "definition.module" => CaptureKind::Definition(SymbolKind::Module),
        "definition.implementation" => CaptureKind::Definition(SymbolKind::Implementation),
        "namespace" => CaptureKind::Namespace,
        "name" => CaptureKind::Name,
        "body" => CaptureKind::Body,
        "owner" => CaptureKind::Owner,
        "wrapper" => CaptureKind::Wrapper { exported: false },
        "wrapper.exported" => CaptureKind::Wrapper { exported: true },
        "wrapped" => CaptureKind::Wrapped,
        "export" => CaptureKind::Export,
        "reference.base" => CaptureKind::ReferenceBase,
        "attribute" => CaptureKind::Attribute,
        "signature.omit" => CaptureKind::SignatureOmit,
        "comment" => CaptureKind::Comment,
        "reference.call" => CaptureKind::ReferenceCall,
        "branch" => CaptureKind::Branch,
        "loop" => CaptureKind::Loop,
        "import" => CaptureKind::Import,
        "heading" => CaptureKind::Heading,
        "definition.constant" => CaptureKind::DefinitionConstant,
        "definition.variable" => CaptureKind::DefinitionVariable,
        "local.scope" => CaptureKind::LocalScope,
        "error" => CaptureKind::Error,
        _ => return Err(QueryError::Capture(capture.to_owned())),
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

    pub(crate) fn capture(&self) -> CaptureKind {
        match self {
            Self::AnyOf(capture, _) | Self::Capitalised(capture) => *capture,
        }
    }
}
