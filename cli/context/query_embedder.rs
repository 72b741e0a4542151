//! The embedder of queries, whose program Ctrl-C ends before this one.

use std::sync::Arc;

use aurora_analysis::QueryEmbedder;
use aurora_project::{EmbedderNotice, IndexEmbedder, Project};
use aurora_query::Mode;
use aurora_storage::Snapshot;

use crate::context::failure::Outcome;
use crate::context::terminal::Terminal;
use crate::context::{findings, interrupt};

/// The embedder of the queries to an index. What the user should know about it is printed.
pub(crate) fn of_index(
    project: &Project,
    snapshot: &Snapshot,
    mode: Mode,
    terminal: &Terminal,
) -> Outcome<Option<Arc<dyn QueryEmbedder>>> {
    let (embedder, notice) =
        IndexEmbedder::of_index(project, snapshot, mode).map_err(|error| findings::project(error, terminal))?;
    tell(notice.as_ref(), terminal);
    if let Some(embedder) = &embedder {
        ends_with_interrupt(embedder);
    }
    Ok(embedder.map(|embedder| embedder.embedder()))
}

/// Prints what the user should know about an embedder.
pub(crate) fn tell(notice: Option<&EmbedderNotice>, terminal: &Terminal) {
    match notice {
        Some(notice @ EmbedderNotice::Newer(_)) => terminal.note(&notice.to_string()),
        Some(notice @ EmbedderNotice::Unusable(_)) => terminal.warn(&notice.to_string()),
        None => {}
    }
}

/// From here on Ctrl-C ends the program of the embedder first, if it has one.
pub(crate) fn ends_with_interrupt(embedder: &IndexEmbedder) {
    let IndexEmbedder::Stage(stage) = embedder else { return };
    let stopped = Arc::downgrade(stage);
    interrupt::ends(move || {
        if let Some(stage) = stopped.upgrade() {
            stage.stop();
        }
    });
}
