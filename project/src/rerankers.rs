//! Loads the reranking model that the search configuration names.

use aurora_query::{LoadedReranker, Mode, SearchConfig};

use crate::advice::chain;
use crate::user;

/// Returns the reranker for searches with `config` in this mode, or the reason why the reranker cannot be used. `None`
/// if searches in this mode use no reranker.
pub fn reranker(config: &SearchConfig, mode: Mode) -> Option<LoadedReranker> {
    config.reranker_for(mode).map(reranker_called)
}

/// Loads the reranker called `name`.
///
/// # Errors
/// Returns the reason why the reranker cannot be used.
pub fn reranker_called(name: &str) -> LoadedReranker {
    let reranker = user::models().and_then(|models| aurora_analysis::reranker(name, &models));
    reranker.map_err(|error| chain(&error))
}
