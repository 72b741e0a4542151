//! Code that commands share: arguments, the project and its opened indexes, the terminal and failures.

pub(crate) mod args;
pub(crate) mod catalogs;
pub(crate) mod configurations;
pub(crate) mod document;
pub(crate) mod failure;
pub(crate) mod first_index;
pub(crate) mod golden;
pub(crate) mod hook;
pub(crate) mod indexing;
pub(crate) mod interrupt;
pub(crate) mod logging;
pub(crate) mod memories;
pub(crate) mod mined_trees;
pub(crate) mod pipeline_choice;
pub(crate) mod place;
pub(crate) mod program;
pub(crate) mod programs;
pub(crate) mod pulls;
pub(crate) mod query_embedder;
pub(crate) mod refresh;
pub(crate) mod remotes;
pub(crate) mod rerankers;
pub(crate) mod searched;
pub(crate) mod served;
pub(crate) mod terminal;

pub(crate) use args::{
    FilterArgs, IndexReportArgs, MemoryArgs, PlacementArgs, ReportFormat, RootArgs, SearchedMemory, SearchedRoots,
};
pub(crate) use failure::{Failure, Outcome};
pub(crate) use memories::Memories;
pub(crate) use program::Program;
pub(crate) use programs::{Purpose, Untrusted};
pub(crate) use terminal::Terminal;

/// Name and version of this program in artefacts and in manifests of remotes.
pub(crate) const PROGRAM: &str = concat!("aur ", env!("CARGO_PKG_VERSION"));
