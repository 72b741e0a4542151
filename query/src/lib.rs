//! Searching an index: which chunks answer a query, in which order, and why.
//!
//! A [`Retriever`] reads one generation of an index ([`aurora_storage::Snapshot`]) in two stages. Stage 1 collects
//! candidates: the best by BM25F among the chunks that pass the filters, joined in hybrid mode by the nearest vectors,
//! and every chunk whose name *is* the query. Stage 2 normalises keyword score, cosine and activation within the
//! candidates, fuses them and applies ranking rules; exact names come first whatever the scores. Each hit carries its
//! components, raw and normalised, and the reasons in words.
//!
//! The same index, query, configuration and `now` give the same hits with bit-equal scores: sums run in the order of
//! the query's terms, ties are broken by chunk keys, never by ids or hash order.
//!
//! Deliberately absent: writing (callers record accesses), printing, and any knowledge of stages or pipelines.
//!
//! ```no_run
//! use aurora_query::{Query, Retriever, SearchConfig};
//! use aurora_storage::{Environment, OpenMode};
//!
//! let environment = Environment::open("project/.aurora/index".as_ref(), OpenMode::Existing)?;
//! let retriever = Retriever::new(environment.snapshot()?, None, SearchConfig::default());
//! for hit in retriever.search(&Query::new("parse config", 1_760_000_000))?.hits {
//!     println!("{:.3} {}:{} {}", hit.score, hit.file, hit.line_start, hit.qualified_name);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod abbreviations;
pub mod activation;
mod bm25;
mod budget;
mod candidates;
mod config;
mod dense;
mod details;
mod edit_distance;
mod expansion;
pub mod explain;
mod filter;
mod folding;
pub mod forgetting;
mod freshness;
mod fusion;
mod grep;
mod identifier;
mod inflection;
mod kind;
mod learning;
mod likeness;
mod lines;
mod listing;
mod maxscore;
mod overlap;
mod parameters;
mod path_class;
mod pattern_needs;
mod points;
mod query;
mod reasons;
mod reference;
mod results;
mod retriever;
mod rules;
mod settings;
mod snippet;
mod spelling;
mod spreading;
mod tokens;
mod tunable;

pub use bm25::{FieldScorer, WeightedTerm, best_chunks, idf};
pub use budget::{Block, Context, PackedHit};
pub use config::{
    ActivationConfig, Bm25Config, ConfigError, ConfigErrors, ConfigLayers, FlagValue, FoldingConfig, Fusion,
    HybridConfig, KindsConfig, Origin, RulesConfig, SearchConfig,
};
pub use details::{Details, complete, packed};
pub use expansion::ExpansionConfig;
pub use explain::Explanation;
pub use filter::{FilterError, FilterSpec};
pub use folding::first_piece;
pub use forgetting::{Forgetting, TypeDecay};
pub use freshness::{FileState, file_state};
pub use fusion::{Weights, min_max, ranks, reciprocal_rank};
pub use grep::TextFilter;
pub use kind::QueryKind;
pub use learning::LearningConfig;
pub use path_class::is_side_code;
pub use points::{Boost, Points};
pub use query::{LONGEST_QUERY, Mode, Query, QueryError};
pub use reference::SearchKey;
pub use results::{Copies, Hit, IndexInfo, RawScores, Scores, SearchResults, StageCounts};
pub use retriever::Retriever;
pub use rules::AppliedRule;
pub use snippet::{Marker, SnippetLine};
pub use tokens::estimate_tokens;
pub use tunable::{SetError, Tunable};
