//! Searches an index: finds the chunks that answer a query, ranks them and explains the order.
//!
//! A [`Searcher`] reads one generation of an index ([`aurora_storage::Snapshot`]). A search has five steps, and each
//! is a module:
//!
//! 1. `understand`: determine the query's terms and kind, and add related terms;
//! 2. `retrieve`: collect candidates from BM25F, from the nearest vectors, and from definitions whose name equals the
//!    query;
//! 3. `rank`: normalise the keyword, semantic and activation scores within the candidates, fuse them, apply the rules,
//!    optionally rerank the best candidates, and put exact names first;
//! 4. `explain`: divide every score into its parts and give the reasons in words;
//! 5. `present`: build hits, snippets, the state of files, and texts within a token budget.
//!
//! The same index, query, configuration and `now` give the same hits with bit-equal scores: sums follow the order of
//! the query's terms, and ties are broken by chunk keys, never by ids or hash order.
//!
//! This crate does not write to an index (callers record accesses), does not print, and does not depend on stages or
//! pipelines.
//!
//! ```no_run
//! use aurora_query::{Query, Searcher, SearchConfig};
//! use aurora_storage::{Environment, OpenMode};
//!
//! let environment = Environment::open("project/.aurora/index".as_ref(), OpenMode::Existing)?;
//! let searcher = Searcher::new(environment.snapshot()?, None, SearchConfig::default());
//! for hit in searcher.search(&Query::new("parse config", 1_760_000_000))?.hits {
//!     println!("{:.3} {}:{} {}", hit.score, hit.file, hit.line_start, hit.qualified_name);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod column_notes;
mod confidence;
mod config;
mod corpus;
pub mod explain;
mod facet_index;
mod filter;
mod graph;
mod listing;
pub mod memory;
mod path_class;
mod phases;
mod present;
mod query;
mod rank;
mod retrieve;
mod rule_table;
mod search;
mod searcher;
mod tags;
mod understand;
mod work;

pub use aurora_inverted::{Bm25Config, FieldScorer, idf};
pub use confidence::{Evidence, HitEvidence};
pub use config::{
    ActivationConfig, ColumnWeights, ConfigLayers, ExpansionConfig, FlagValue, FoldingConfig, Fusion, HybridConfig,
    KindsConfig, LearningConfig, ModelName, Parameter, RrfWeights, RulesConfig, SearchConfig, TypeDecay, Weights,
};
pub use explain::{Boost, Explanation, Points};
pub use facet_index::{FacetCount, SearchFacets};
pub use filter::{
    Condition, Facet, FacetValue, FilterError, FilterSpec, LanguageNames, ListProblem, Operator, TextFilter, facets,
};
pub use graph::{
    Affected, BranchEnd, DEFAULT_IMPACT_DEPTH, Effect, FileImport, FileImports, Impact, ImpactOptions, ImpactStep,
    Importer, Importers, MAX_TREE_DEPTH, MIN_CONFIDENCE, MIN_IMPACT_CONFIDENCE, MIN_UNUSED_CONFIDENCE, Named, Reason,
    Related, RelatedDefinitions, Relation, RelationIndex, RelationTree, TreeNode, TreeOptions, UnusedDefinition,
    UnusedDefinitions, UnusedOptions, UnusedReason,
};
pub use memory::{Aging, Forgetting, Retention, Source};
pub use path_class::{is_side_code, is_test};
pub use phases::Phases;
pub use present::{
    Context, ContextBlock, Copies, Details, FileRow, FileState, Hit, IndexInfo, LineToken, MAX_TOKEN_BYTES, Marker,
    PackedHit, RawScores, RootInfo, Scores, SearchResults, ShownChunk, SnippetLine, StageCounts, complete,
    display_path, estimate_tokens, file_state, packed,
};
pub use query::{Group, MAX_QUERY_BYTES, Mode, Query, QueryError};
pub use rank::{Passage, activation, first_piece, forgetting, min_max, ranks, reciprocal_rank};

pub use retrieve::bm25::{WeightedTerm, best_chunks};
pub use search::{check_filter, search_all, with_languages};
pub use searcher::{LoadedReranker, Searcher};
pub use understand::QueryKind;
pub use work::{Cancelled, WorkBudget};
