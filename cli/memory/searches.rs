//! What searches of a session have shown.

use aurora_memory::Retrieved;
use aurora_project::Searchers;
use aurora_query::ShownChunk;

use super::opened::{failure, of_user};
use crate::failure::Outcome;

/// Remembers what a search of a session has shown, for the outcome of its task.
pub(crate) fn note_search(session: &str, query: &str, searchers: &Searchers, shown: &[ShownChunk<'_>]) -> Outcome {
    let roots: Vec<_> = searchers.iter().collect();
    let retrieved = shown.iter().map(|chunk| {
        let root = roots[chunk.root_place];
        Retrieved { home: root.searcher.project().directory(), key: root.noted_key(chunk.key).to_owned() }
    });
    of_user()?.note_search(session, query, retrieved.collect()).map_err(failure)
}
