//! The models that configurations name to read the best results.

use std::collections::BTreeMap;

use aurora_analysis::AUTO;
use aurora_query::{LoadedReranker, Mode, SearchConfig};

use crate::failure::chain;
use crate::place;
use crate::terminal::Terminal;

/// The reranker that searches with `config` in this mode use, or why it cannot be used; `None` if they use none.
pub(crate) fn of_config(config: &SearchConfig, mode: Mode) -> Option<LoadedReranker> {
    config.reranker_for(mode).map(added)
}

/// The same for a [`Retriever`](aurora_query::Retriever), which reads [`AUTO`] itself, and only for a query that needs it.
pub(crate) fn to_load(config: &SearchConfig, mode: Mode) -> Option<LoadedReranker> {
    config.reranker_for(mode).filter(|name| *name != AUTO).map(added)
}

/// The rerankers of several configurations by name, each loaded once. What cannot be loaded is said here: figures have no notes.
pub(crate) fn of_configs<'c>(
    configs: impl IntoIterator<Item = &'c SearchConfig>,
    mode: Mode,
    terminal: &Terminal,
) -> BTreeMap<String, LoadedReranker> {
    let mut rerankers = BTreeMap::new();
    for name in configs.into_iter().filter_map(|config| config.reranker_for(mode)) {
        rerankers.entry(name.to_owned()).or_insert_with(|| {
            let reranker = added(name);
            if let Err(reason) = &reranker {
                terminal.warn(&format!("ranking without the reranker `{name}`: {reason}"));
            }
            reranker
        });
    }
    rerankers
}

/// The model called `name`.
fn added(name: &str) -> LoadedReranker {
    let reranker = place::models().and_then(|models| aurora_analysis::reranker(name, &models));
    reranker.map_err(|error| chain(&error))
}
