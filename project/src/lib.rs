//! Opens, searches, describes and updates the index of a project, with the configuration, models and consents of the
//! user. The command line, the HTTP server and the MCP server share this crate, so that they return the same answers.
//!
//! Deliberately absent: command line arguments, printing, protocols, and everything that can be done with a single
//! other library of this workspace.
//!
//! ```no_run
//! use std::path::Path;
//! use std::sync::Arc;
//!
//! use aurora_project::{Project, SearchRequest, Searchers};
//! use aurora_query::{Mode, Query};
//!
//! let project = Project::new("project".into(), Arc::new(aurora_stages::registry()));
//! let opened = project.searcher("", project.snapshot()?, project.settings(Vec::new())?, Mode::Hybrid)?;
//! let query = Query::new("where is the cache written", 1_760_000_000);
//! let found = Searchers::from(Arc::new(opened.searcher)).search(&SearchRequest::new(query))?;
//! println!("{}", found.hits[0].file);
//! # Ok::<(), aurora_project::ProjectError>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod advice;
mod annotations;
mod attribution;
mod catalog;
mod changed_definitions;
mod chunk_name;
mod contents;
mod embedder;
mod error;
mod feedback;
mod highlighting;
mod impact;
mod imports;
mod omissions;
mod pipeline_inputs;
mod programs;
mod project;
mod relations;
mod rerankers;
mod roots;
mod rotating_file;
pub mod run_report;
mod runs;
pub mod sanitize;
mod search;
mod searchers;
mod texts;
mod tree;
pub mod units;
mod unused;
mod usage;
pub mod user;
mod user_settings;

pub use aurora_pipeline::CancelToken;
pub use aurora_redact::masked;

pub use advice::{advice, causes, chain};
pub use annotations::{annotations, tag};
pub use attribution::{AttributedRun, AttributionReport, attribution};
pub use catalog::{Catalog, CatalogRepository, RepositorySource};
pub use changed_definitions::{ChangedDefinition, ChangedFile, SourceChanges, source_changes};
pub use chunk_name::{Names, spellings};
pub use contents::{ContentsReport, ModelShape, Share, contents};
pub use embedder::{EmbedderNotice, IndexEmbedder};
pub use error::ProjectError;
pub use feedback::{FeedbackReport, JudgedChunk, judge};
pub use impact::{AffectedChunk, ChainStep, ChangedChunk, ImpactReport, impact_of, impact_of_changes};
pub use imports::{ImportReport, ImportedPath, ImportingFile, imported_by, imports};
pub use omissions::{OmissionReport, omissions};
pub use pipeline_inputs::PipelineInputs;
pub use programs::{
    StageProgram, checked_plan, from_plan as plan_programs, refused as refused_programs, untrusted as untrusted_stages,
    without as without_programs,
};
pub use project::{Project, has_sources};
pub use relations::{RelatedChunk, RelationReport, definition, relations, root_name};
pub use rerankers::{reranker, reranker_called};
pub use roots::{indexed_roots, prune_roots, root_names};
pub use rotating_file::RotatingFile;
pub use runs::{RunsReport, last_run, run_reports};
pub use search::{OpenedSearcher, PackedAnswer, SearchRequest};
pub use searchers::{QUERY_LOG, Searchers};
pub use texts::{ChunkOutline, ChunkReport, FileReport, file_report};
pub use tree::{DirectoryReport, FileEntry, LanguageShare, ReasonShare, TreeReport, tree};
pub use unused::{UnusedReport, unused};
pub use usage::{DayUsage, FeedbackCounts, Interface, Latencies, UsageGroup, UsageLog, UsageReport, has_close_result};
pub use user::ignored_configurations;
pub use user_settings::{LogFileUse, LogSettings, RedactSettings, SettingsTable, UsageSettings};

/// Formats a time in Unix seconds as `2025-12-15T10:30:00Z`, in UTC. Returns `-` if the time is out of range.
pub fn stamp(seconds: i64) -> String {
    jiff::Timestamp::from_second(seconds).map_or_else(|_| "-".to_owned(), |time| time.to_string())
}
