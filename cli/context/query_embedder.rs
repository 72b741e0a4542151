//! Opens the embedder of queries. If the embedder runs a program, Ctrl-C stops that program first, then this process.

use std::sync::Arc;

use aurora_analysis::QueryEmbedder;
use aurora_project::{EmbedderNotice, IndexEmbedder, Project};
use aurora_query::Mode;
use aurora_storage::Snapshot;

use crate::context::{Outcome, Terminal, interrupt};

/// Returns the embedder for queries to an index, and prints notices about it.
pub(crate) fn for_index(
    project: &Project,
    snapshot: &Snapshot,
    mode: Mode,
    terminal: &Terminal,
) -> Outcome<Option<Arc<dyn QueryEmbedder>>> {
    let (embedder, notice) = IndexEmbedder::for_index(project, snapshot, mode)?;
    print_notice(notice.as_ref(), terminal);
    if let Some(embedder) = &embedder {
        stop_on_interrupt(embedder);
    }
    Ok(embedder.map(|embedder| embedder.embedder()))
}

/// Prints a notice about an embedder.
pub(crate) fn print_notice(notice: Option<&EmbedderNotice>, terminal: &Terminal) {
    match notice {
        Some(notice @ EmbedderNotice::Newer(_)) => terminal.note(&notice.to_string()),
        Some(notice @ EmbedderNotice::Unusable(_)) => terminal.warn(&notice.to_string()),
        None => {}
    }
}

/// Makes Ctrl-C stop the program of the embedder, if it has one, and then this process.
pub(crate) fn stop_on_interrupt(embedder: &IndexEmbedder) {
    let IndexEmbedder::Stage(stage) = embedder else { return };
    let stopped = Arc::downgrade(stage);
    interrupt::ends(move || {
        if let Some(stage) = stopped.upgrade() {
            stage.stop();
        }
    });
}
