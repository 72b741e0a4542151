//! What the ranking rules look at: features of the query and of every candidate.

use aurora_analysis::Analyzer;
use rustc_hash::FxHashMap;

use crate::path_class::{PathClass, PathClasses, stem};
use crate::rank::overlap::{Overlap, Overlaps, WeighedParts};
use crate::retrieve::{ChunkName, IdentifierQuery};
use crate::understand::ParsedQuery;

/// Words that ask for prose rather than code.
const PROSE_WORDS: &[&str] = &[
    "doc",
    "docs",
    "documentation",
    "documented",
    "readme",
    "guide",
    "tutorial",
    "manual",
    "changelog",
    "chapter",
    "section",
];
/// Words that ask for types rather than for behaviour.
const SHAPE_WORDS: &[&str] =
    &["interface", "interfaces", "type", "types", "typedef", "struct", "structs", "enum", "enums", "class", "trait"];
/// Words that ask for files that re-export.
const EXPORT_WORDS: &[&str] = &["export", "exports", "reexport", "init", "index"];

/// A query as the rules see it.
pub(crate) struct RuleQuery<'q> {
    pub(super) query: &'q ParsedQuery,
    pub(super) parts: WeighedParts<'q>,
    pub(super) mentioned: Vec<MentionedName>,
    pub(super) requests: Requests,
}

/// The kinds of code that a query asks for explicitly.
pub(super) struct Requests {
    pub(super) classes: PathClasses,
    pub(super) prose: bool,
    pub(super) shapes: bool,
    pub(super) exports: bool,
}

impl Requests {
    fn of(query: &ParsedQuery) -> Self {
        Self {
            classes: PathClass::ALL.into_iter().filter(|class| query.asks_for(class.request_words())).collect(),
            prose: query.asks_for(PROSE_WORDS),
            shapes: query.asks_for(SHAPE_WORDS),
            exports: query.asks_for(EXPORT_WORDS),
        }
    }
}

/// A word of the query that is written as an identifier. A plain word that happens to be a function's name is no mention
/// of it: lifting such functions was measured to cost more than it brings.
pub(super) struct MentionedName {
    pub(super) identifier: IdentifierQuery,
    /// Names in lower case by which it may be defined.
    pub(super) lookups: Vec<String>,
}

/// What the rules look at of a candidate.
pub(crate) struct Features<'c> {
    pub(super) named: ChunkName<'c>,
    pub(super) lines: u32,
    /// Whether it defines a name inside that the query mentions.
    pub(super) defines_inside: bool,
    /// How well the words of its documentation match the query's, normalised within the candidates.
    pub(super) doc_words: f32,
    pub(super) name: Overlap,
    /// Classes of the file, and of the scopes around the definition.
    pub(super) classes: PathClasses,
    pub(super) file: FileFeatures,
}

/// What the features of a candidate are read from.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'c> {
    /// Which of the indexes of the search holds it, by place.
    pub(crate) root: usize,
    pub(crate) named: ChunkName<'c>,
    pub(crate) lines: u32,
    /// Whether it defines a name inside that the query mentions.
    pub(crate) defines_inside: bool,
    /// How well the words of its documentation match the query's, normalised within the candidates.
    pub(crate) doc_words: f32,
    pub(crate) file: FileShares,
}

/// How well a whole file meets the query; all 0..1.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FileShares {
    /// Its keyword score, normalised within the files of the candidates.
    pub(crate) keywords: f32,
    /// Its keyword score as a share of the highest one that the query allows.
    pub(crate) coverage: f32,
    /// Its cosine with the query, normalised within the files of the candidates.
    pub(crate) meaning: f32,
    /// How well the words of its documentation match the query's, normalised in the same way.
    pub(crate) doc_words: f32,
}

/// What the rules look at of a file, computed once for all of its candidates.
#[derive(Clone, Copy)]
pub(super) struct FileFeatures {
    /// Numbered in the order of their first candidates.
    pub(super) number: usize,
    pub(super) classes: PathClasses,
    pub(super) stem: Overlap,
    pub(super) evidence: FileShares,
}

impl<'q> RuleQuery<'q> {
    /// `idfs` are those of the query's terms, `None` for a term that no chunk holds.
    pub(crate) fn new(query: &'q ParsedQuery, idfs: &[Option<f32>]) -> Self {
        let words = query.words.iter().filter(|word| word.compound).map(|word| {
            let identifier = IdentifierQuery::new(&word.text);
            MentionedName { lookups: identifier.lookups(), identifier }
        });
        let mentioned = words.collect();
        Self { query, parts: WeighedParts::new(query, idfs), mentioned, requests: Requests::of(query) }
    }

    /// Whether the query mentions one of the given names in the same case.
    pub(crate) fn mentions<'n>(&self, mut names: impl Iterator<Item = &'n str>) -> bool {
        !self.mentioned.is_empty()
            && names.any(|name| self.query.words.iter().any(|word| word.compound && word.text == name))
    }

    /// The features of chunks.
    pub(crate) fn read<'c>(&self, analyzer: &Analyzer, chunks: impl Iterator<Item = Facts<'c>>) -> Vec<Features<'c>> {
        let mut overlaps = Overlaps::new(&self.parts, analyzer);
        let mut files: FxHashMap<(usize, &str), FileFeatures> = FxHashMap::default();
        let read = chunks.map(|Facts { root, named, lines, defines_inside, doc_words, file: evidence }| {
            let number = files.len();
            let words = if named.path.starts_with("@@") { "" } else { named.path };
            let file = files.entry((root, named.path)).or_insert_with(|| FileFeatures {
                number,
                classes: PathClasses::of(words),
                stem: overlaps.with(stem(words)),
                evidence,
            });
            let classes = named.classes(file.classes);
            Features { named, lines, defines_inside, doc_words, name: overlaps.with(named.name), classes, file: *file }
        });
        read.collect()
    }
}

impl Features<'_> {
    /// Share of the query that the chunk's name holds.
    pub(crate) fn context_share(&self) -> f32 {
        self.name.of_query
    }
}
