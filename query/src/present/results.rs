//! The results of a search, in the form of `--format json`.

use std::collections::BTreeMap;
use std::time::Duration;

use aurora_storage::{
    AccessRecord, Chunk, ChunkHistory, ChunkId, ChunkRecord, ChunkType, Complexity, Governance, MetaValue,
};
use serde::Serialize;
use serde::ser::Serializer;

use crate::confidence::Evidence;
use crate::explain::{Explanation, Points};
use crate::facet_index::SearchFacets;
use crate::filter::TextFilter;
use crate::memory::{ENTRIES_PREFIX, Source, column};
use crate::phases::{self, Phases};
use crate::present::facts::{self, rfc3339};
use crate::present::freshness::FileState;
use crate::present::snippet::SnippetLine;
use crate::query::Mode;
use crate::understand::QueryKind;

/// The answer to a query.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, Serialize)]
pub struct SearchResults {
    /// The query as given.
    pub query: String,
    /// The requested mode.
    pub mode: Mode,
    /// Share of each kind of query in this query, on which the weights depend; `None` for a list of chunks without a
    /// query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<QueryKind>,
    /// Probability that the first hit answers the query, 0..1; `None` for a list of chunks without a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f32>,
    /// Whether any of the hits is likely to be relevant. If false, the hits are only the nearest chunks. `None` for a
    /// list of chunks without a query.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub close: Option<bool>,
    /// The measures from which `confidence` and `close` are computed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Evidence>,
    /// Hits, best first.
    #[serde(rename = "results")]
    pub hits: Vec<Hit>,
    /// Notes about the answer for the user, each a sentence without a full stop.
    pub notes: Vec<String>,
    /// Number of chunks in each stage of the search.
    pub stages: StageCounts,
    /// Counts of the matching chunks; `None` unless [`crate::Query::facets`] is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub facets: Option<SearchFacets>,
    /// The searched generation; `None` before [`crate::complete`], and if several roots are searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub index: Option<IndexInfo>,
    /// The searched roots, if there are several; empty before [`crate::complete`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub roots: Vec<RootInfo>,
    /// The matched terms with their weights; empty before [`crate::complete`].
    #[serde(skip)]
    pub term_weights: BTreeMap<String, f32>,
    /// The compiled patterns of the filter.
    #[serde(skip)]
    pub patterns: TextFilter,
    /// Duration of the search.
    #[cfg_attr(feature = "schema", schema(value_type = f64))]
    #[serde(rename = "took_ms", serialize_with = "milliseconds")]
    pub took: Duration,
    /// Durations of the phases of the search; empty for a list of chunks without a query.
    #[serde(skip_serializing_if = "Phases::is_empty")]
    pub phases: Phases,
}

impl SearchResults {
    /// Returns whether there are hits, but none of them is likely to be relevant. See [`SearchResults::close`].
    pub fn is_distant(&self) -> bool {
        self.close == Some(false) && !self.hits.is_empty()
    }

    /// Removes the hits that are not likely to be relevant.
    pub fn remove_distant(&mut self) {
        self.hits.retain(|hit| hit.is_close);
    }

    /// Returns the chunks that the answer shows.
    pub fn shown(&self) -> impl Iterator<Item = ShownChunk<'_>> {
        self.hits.iter().map(|hit| ShownChunk { root_place: hit.root_place, root: hit.root.as_deref(), key: &hit.key })
    }
}

/// A chunk that an answer shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownChunk<'a> {
    /// Position of the root among the searched roots.
    pub root_place: usize,
    /// Name of the root, if several projects are searched.
    pub root: Option<&'a str>,
    /// Key of the chunk.
    pub key: &'a str,
}

/// Number of chunks in each stage of a search.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct StageCounts {
    /// Chunks in the index.
    pub indexed: u64,
    /// Chunks that pass the filters.
    pub eligible: u64,
    /// Candidates from the keyword search.
    pub from_keywords: usize,
    /// Candidates from the vector search.
    pub from_vectors: usize,
    /// Candidates that were ranked.
    pub ranked: usize,
    /// Hits in the answer.
    pub shown: usize,
}

/// The generation of an index that was searched.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IndexInfo {
    /// Number of the generation.
    pub generation: u64,
    /// Time of publication, in Unix seconds.
    #[cfg_attr(feature = "schema", schema(value_type = String))]
    #[serde(serialize_with = "time")]
    pub updated: i64,
    /// Seconds since publication.
    pub age_seconds: i64,
    /// The commit that was checked out; `None` outside of git.
    pub commit: Option<String>,
    /// Whether the index run covered everything that was requested, and every stage has a result for every row.
    pub complete: bool,
}

/// One of several searched roots.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RootInfo {
    /// Name of the root.
    pub name: String,
    /// Directory of the root.
    pub path: String,
    /// The searched generation.
    pub index: IndexInfo,
}

/// A found chunk.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    /// Rank, from 1.
    pub rank: usize,
    /// The chunk's key, which is stable across edits elsewhere in the file.
    #[serde(rename = "id")]
    pub key: String,
    /// The chunk's number in this index.
    #[serde(skip)]
    pub id: ChunkId,
    /// Position of the chunk's index among the searched indexes.
    #[serde(skip)]
    pub root_place: usize,
    /// Name of the root that contains the chunk, if several roots are searched.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub root: Option<String>,
    /// Source of the result.
    pub source: Source,
    /// Scope of visibility: `project`, `user`, `session` or `global`.
    pub scope: String,
    /// Path relative to the indexed root. For an entry of memory, the id of the entry.
    pub file: String,
    /// Type of the chunk.
    #[serde(rename = "type")]
    pub chunk_type: ChunkType,
    /// Language of the file.
    pub language: String,
    /// Simple name.
    pub name: String,
    /// Name with the names of the enclosing definitions.
    pub qualified_name: String,
    /// First line, from 1.
    pub line_start: u32,
    /// Last line, inclusive.
    pub line_end: u32,
    /// Final score, 0..1.
    pub score: f32,
    /// Whether the hit is likely to be relevant; true for a list of chunks without a query.
    #[serde(skip)]
    pub is_close: bool,
    /// Components of the final score.
    pub scores: Scores,
    /// History of the chunk's lines.
    #[cfg_attr(feature = "schema", schema(value_type = facts::GitFacts))]
    #[serde(serialize_with = "facts::git")]
    pub git: ChunkHistory,
    /// Accesses before this search; `None` if the chunk was never shown, or if accesses were not requested.
    #[cfg_attr(feature = "schema", schema(value_type = facts::AccessFacts))]
    #[serde(serialize_with = "facts::access")]
    pub access: Option<AccessRecord>,
    /// Date of the conversation or pattern in Unix seconds, if the type has a date.
    #[cfg_attr(feature = "schema", schema(value_type = Option<String>))]
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "date")]
    pub date: Option<i64>,
    /// Declaration without the body.
    pub signature: String,
    /// Documentation text.
    pub doc: String,
    /// Number of branches and loops, and a score computed from them; `None` unless the chunk is source code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub complexity: Option<Complexity>,
    /// The imports of the file that the chunk uses; empty before [`crate::complete`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub imports: Vec<String>,
    /// Full text; empty unless [`crate::Query::content`] is set.
    #[serde(rename = "content", skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Custom columns with their values.
    #[cfg_attr(feature = "schema", schema(value_type = BTreeMap<String, MetaValue>))]
    #[serde(serialize_with = "metadata")]
    pub metadata: Vec<(String, MetaValue)>,
    /// Tags and lifespan, if the type has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub governance: Option<Governance>,
    /// Explanation of the scores in words.
    pub explanation: Explanation,
    /// The best matching lines; empty before [`crate::complete`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub snippet: Vec<SnippetLine>,
    /// Copies of the hit elsewhere.
    #[serde(skip_serializing_if = "Copies::is_empty")]
    pub copies: Copies,
    /// Other chunks of the file, best first, if results are grouped by file ([`crate::Group::File`]).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rows: Vec<FileRow>,
    /// State of the file on disk compared with the index; `None` before [`crate::complete`].
    #[cfg_attr(feature = "schema", schema(value_type = facts::FileFacts))]
    #[serde(flatten, serialize_with = "facts::file_state")]
    pub file_state: Option<FileState>,
}

impl Hit {
    /// Returns the path of the file as users see it.
    pub fn display_file(&self) -> String {
        display_path(self.root.as_deref(), &self.file)
    }

    /// Creates the hit of a chunk. If `content` is true, the hit contains the full text. `is_memory` is true if the
    /// chunk belongs to the index of a memory.
    pub(crate) fn from_chunk(
        (rank, id): (usize, ChunkId),
        chunk: Chunk,
        (content, is_memory): (bool, bool),
        scores: Scores,
        access: Option<AccessRecord>,
        explanation: Explanation,
    ) -> Self {
        let mut git = chunk.git;
        if let ChunkHistory::Tracked(history) = &mut git {
            history.commit_times = Vec::new();
        }
        let source = Source::for_chunk(chunk.chunk_type, &chunk.path, is_memory);
        let scope = chunk.metadata.iter().find_map(|(name, value)| match value {
            MetaValue::String(scope) if name == column::SCOPE && is_memory => Some(scope.as_str()),
            _ => None,
        });
        let scope = scope.unwrap_or_else(|| source.scope()).to_owned();
        Self {
            rank,
            source,
            scope,
            key: chunk.key,
            id,
            root_place: 0,
            root: None,
            file: display_place(chunk.path, is_memory),
            chunk_type: chunk.chunk_type,
            language: chunk.language,
            name: chunk.name,
            qualified_name: chunk.qualified_name,
            line_start: chunk.line_start,
            line_end: chunk.line_end,
            score: scores.final_,
            is_close: true,
            scores,
            git,
            access,
            date: chunk.date,
            signature: chunk.signature,
            doc: chunk.doc,
            complexity: chunk.chunk_type.is_source_code().then_some(chunk.complexity),
            imports: Vec::new(),
            text: if content { chunk.text } else { String::new() },
            metadata: chunk.metadata,
            governance: chunk.governance,
            explanation,
            snippet: Vec::new(),
            copies: Copies::default(),
            rows: Vec::new(),
            file_state: None,
        }
    }
}

/// Returns a path as users see it. If several roots are searched, the path starts with the name of its root.
///
/// ```
/// use aurora_query::display_path;
/// assert_eq!(display_path(None, "src/a.rs"), "src/a.rs");
/// assert_eq!(display_path(Some("backend"), "src/a.rs"), "backend/src/a.rs");
/// ```
pub fn display_path(root: Option<&str>, path: &str) -> String {
    root.map_or_else(|| path.to_owned(), |root| format!("{root}/{path}"))
}

/// Returns the path of a file, or the id of an entry of memory.
fn display_place(path: String, is_memory: bool) -> String {
    let id = path.strip_prefix(ENTRIES_PREFIX).filter(|_| is_memory).map(str::to_owned);
    id.unwrap_or(path)
}

/// Another chunk of a hit's file.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileRow {
    /// The chunk's key.
    #[serde(rename = "id")]
    pub key: String,
    /// Type of the chunk.
    #[serde(rename = "type")]
    pub chunk_type: ChunkType,
    /// Simple name.
    pub name: String,
    /// Name with the names of the enclosing definitions.
    pub qualified_name: String,
    /// First line, from 1.
    pub line_start: u32,
    /// Last line, inclusive.
    pub line_end: u32,
    /// Final score, 0..1.
    pub score: f32,
}

impl FileRow {
    pub(crate) fn from_chunk(chunk: ChunkRecord<'_>, score: f32) -> Self {
        Self {
            key: chunk.key().into_owned(),
            chunk_type: chunk.chunk_type(),
            name: chunk.name().to_owned(),
            qualified_name: chunk.qualified_name().to_owned(),
            line_start: chunk.line_start(),
            line_end: chunk.line_end(),
            score,
        }
    }
}

/// Candidates elsewhere whose text equals or resembles the text of a hit. They are not listed separately.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Copies {
    /// Number of copies.
    pub count: usize,
    /// Locations of the best copies, at most [`Copies::NAMED`], each as `path:line`. Memories and conversation logs
    /// have no line, and the id of a memory replaces its path. If several roots are searched, each location starts with
    /// the name of the root and a slash.
    pub places: Vec<String>,
}

impl Copies {
    /// Maximum number of locations.
    pub const NAMED: usize = 5;

    pub(crate) fn from_chunks<'c>(chunks: impl ExactSizeIterator<Item = (Option<&'c str>, ChunkRecord<'c>)>) -> Self {
        let count = chunks.len();
        let place = |(root, chunk): (Option<&str>, ChunkRecord<'_>)| match chunk.chunk_type() {
            kind if kind.is_memory() => {
                display_path(root, chunk.path().strip_prefix(ENTRIES_PREFIX).unwrap_or(chunk.path()))
            }
            _ => format!("{}:{}", display_path(root, chunk.path()), chunk.line_start()),
        };
        Self { count, places: chunks.take(Self::NAMED).map(place).collect() }
    }

    /// Returns whether there are no copies.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Components of a score. The first three are normalised to 0..1 within the query's candidates.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Scores {
    /// Keyword score.
    pub bm25: f32,
    /// Semantic score; `None` without an embedding.
    pub semantic: Option<f32>,
    /// Activation.
    pub activation: f32,
    /// Contribution of each component to the final score. The contributions and the effects of the rules add up to the
    /// final score.
    pub weighted: Points,
    /// Sum of the weighted contributions.
    pub fused: f32,
    /// The score by which hits are ordered.
    #[serde(rename = "final")]
    pub final_: f32,
    /// Components before normalisation.
    pub raw: RawScores,
}

/// Components before normalisation.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct RawScores {
    /// BM25F.
    pub bm25: f32,
    /// Cosine of the embeddings.
    pub cosine: Option<f32>,
    /// Late interaction of the query with the words of the code, 0..1. The semantic score combines this value and the
    /// cosine.
    pub words: Option<f32>,
    /// Activation, a logarithm.
    pub activation: f32,
    /// Score from the reranker; omitted if the reranker did not read the chunk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rerank: Option<f32>,
}

fn milliseconds<S: Serializer>(took: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(phases::milliseconds(*took))
}

fn time<S: Serializer>(seconds: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    rfc3339(*seconds).serialize(serializer)
}

fn date<S: Serializer>(date: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
    date.and_then(rfc3339).serialize(serializer)
}

fn metadata<S: Serializer>(metadata: &[(String, MetaValue)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(metadata.iter().map(|(key, value)| (key, value)))
}
