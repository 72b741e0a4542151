//! The models that configurations name to read the best results.

use std::collections::BTreeMap;

use aurora_project::reranker_called;
use aurora_query::{LoadedReranker, Mode, SearchConfig};

use crate::context::terminal::Terminal;

/// The rerankers of several configurations by name, each loaded once. What cannot be loaded is said here: figures have no notes.
pub(crate) fn of_configs<'c>(
    configs: impl IntoIterator<Item = &'c SearchConfig>,
    mode: Mode,
    terminal: &Terminal,
) -> BTreeMap<String, LoadedReranker> {
    let mut rerankers = BTreeMap::new();
    for name in configs.into_iter().filter_map(|config| config.reranker_for(mode)) {
        rerankers.entry(name.to_owned()).or_insert_with(|| {
            let reranker = reranker_called(name);
            if let Err(reason) = &reranker {
                terminal.warn(&format!("ranking without the reranker `{name}`: {reason}"));
            }
            reranker
        });
    }
    rerankers
}
