//! The input of the ranking rules: features of the query and of every candidate.

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
/// Words that ask for types rather than behaviour.
const SHAPE_WORDS: &[&str] =
    &["interface", "interfaces", "type", "types", "typedef", "struct", "structs", "enum", "enums", "class", "trait"];
/// Words that ask for files that re-export.
const EXPORT_WORDS: &[&str] = &["export", "exports", "reexport", "init", "index"];

/// A query prepared for the rules.
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
    fn from_query(query: &ParsedQuery) -> Self {
        Self {
            classes: PathClass::ALL.into_iter().filter(|class| query.asks_for(class.request_words())).collect(),
            prose: query.asks_for(PROSE_WORDS),
            shapes: query.asks_for(SHAPE_WORDS),
            exports: query.asks_for(EXPORT_WORDS),
        }
    }
}

/// A word of the query that is written as an identifier. A plain word that equals a function's name is not a mention,
/// because lifting such functions costs more than it gains according to measurements.
pub(super) struct MentionedName {
    pub(super) identifier: IdentifierQuery,
    /// Lower-case names of possible definitions.
    pub(super) lookups: Vec<String>,
}

/// Features of a candidate.
pub(crate) struct Features<'c> {
    pub(super) named: ChunkName<'c>,
    pub(super) lines: u32,
    /// Whether a definition inside the chunk has a mentioned name.
    pub(super) defines_inside: bool,
    /// Score of the words of the documentation for the query, normalised within the candidates.
    pub(super) doc_words: f32,
    pub(super) name: Overlap,
    /// Classes of the file, and of the scopes around the definition.
    pub(super) classes: PathClasses,
    pub(super) file: FileFeatures,
}

/// The data from which the features of a candidate are computed.
#[derive(Clone, Copy)]
pub(crate) struct Facts<'c> {
    /// Position of the chunk's index among the indexes of the search.
    pub(crate) root: usize,
    pub(crate) named: ChunkName<'c>,
    pub(crate) lines: u32,
    /// Whether a definition inside the chunk has a mentioned name.
    pub(crate) defines_inside: bool,
    /// Score of the words of the documentation for the query, normalised within the candidates.
    pub(crate) doc_words: f32,
    pub(crate) file: FileShares,
}

/// Scores of a whole file for the query; all values are 0..1.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FileShares {
    /// Keyword score, normalised within the files of the candidates.
    pub(crate) keywords: f32,
    /// Keyword score as a share of the highest possible score of the query.
    pub(crate) coverage: f32,
    /// Cosine with the query, normalised within the files of the candidates.
    pub(crate) meaning: f32,
    /// Score of the words of the documentation for the query, normalised within the files of the candidates.
    pub(crate) doc_words: f32,
}

/// Features of a file, computed once for all of its candidates.
#[derive(Clone, Copy)]
pub(super) struct FileFeatures {
    /// Number of the file, in the order of the first candidate of each file.
    pub(super) number: usize,
    pub(super) classes: PathClasses,
    pub(super) stem: Overlap,
    pub(super) evidence: FileShares,
}

impl<'q> RuleQuery<'q> {
    /// Prepares a query. `idfs` contains the inverse document frequencies of the query's terms; `None` for a term that
    /// no chunk contains.
    pub(crate) fn new(query: &'q ParsedQuery, idfs: &[Option<f32>]) -> Self {
        let words = query.words.iter().filter(|word| word.compound).map(|word| {
            let identifier = IdentifierQuery::new(&word.text);
            MentionedName { lookups: identifier.lookups(), identifier }
        });
        let mentioned = words.collect();
        Self { query, parts: WeighedParts::new(query, idfs), mentioned, requests: Requests::from_query(query) }
    }

    /// Returns whether the query mentions one of the given names in the same case.
    pub(crate) fn mentions<'n>(&self, mut names: impl Iterator<Item = &'n str>) -> bool {
        !self.mentioned.is_empty()
            && names.any(|name| self.query.words.iter().any(|word| word.compound && word.text == name))
    }

    /// Computes the features of chunks.
    pub(crate) fn read<'c>(&self, chunks: impl Iterator<Item = Facts<'c>>) -> Vec<Features<'c>> {
        let mut overlaps = Overlaps::new(&self.parts);
        let mut files: FxHashMap<(usize, &str), FileFeatures> = FxHashMap::default();
        let read = chunks.map(|Facts { root, named, lines, defines_inside, doc_words, file: evidence }| {
            let number = files.len();
            let words = if named.path.starts_with("@@") { "" } else { named.path };
            let file = files.entry((root, named.path)).or_insert_with(|| FileFeatures {
                number,
                classes: PathClasses::for_path(words),
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
    /// Share of the query that the chunk's name contains.
    pub(crate) fn context_share(&self) -> f32 {
        self.name.of_query
    }

    /// Overlap of the query and the chunk's name.
    pub(crate) fn name_overlap(&self) -> f32 {
        self.name.mean()
    }
}
