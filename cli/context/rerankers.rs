//! Loads the reranking models that configurations name.

use std::collections::BTreeMap;

use aurora_project::reranker_called;
use aurora_query::{LoadedReranker, Mode, SearchConfig};

use crate::context::Terminal;

/// Loads the rerankers of several configurations, each once, and returns them by name. Prints a warning for each load
/// error, because evaluation results carry no notes.
pub(crate) fn for_configs<'c>(
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
