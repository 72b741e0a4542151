//! The models that configurations name to read the best results.

use aurora_query::{LoadedReranker, Mode, SearchConfig};

use crate::advice::chain;
use crate::user;

/// The reranker that searches with `config` in this mode use, or why it cannot be used; `None` if they use none.
pub fn reranker(config: &SearchConfig, mode: Mode) -> Option<LoadedReranker> {
    config.reranker_for(mode).map(reranker_called)
}

/// The reranker called `name`.
///
/// # Errors
/// Why it cannot be used.
pub fn reranker_called(name: &str) -> LoadedReranker {
    let reranker = user::models().and_then(|models| aurora_analysis::reranker(name, &models));
    reranker.map_err(|error| chain(&error))
}
