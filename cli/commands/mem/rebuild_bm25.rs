//! `aur mem rebuild-bm25`: rebuilds the keyword index from the stored chunks.

use std::path::PathBuf;

use aurora_project::user;
use aurora_stages::index::rebuild_bm25;
use clap::Args;

use crate::context::{Failure, Outcome, Program};
use crate::output::units;

/// Rebuild the keyword index from the stored chunks
#[derive(Debug, Args)]
pub(crate) struct RebuildArgs {
    /// Indexed directory [default: the nearest enclosing directory with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,
}

/// Rebuilds the keyword index and checks that it includes every chunk.
pub(crate) fn run(args: &RebuildArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let (project, snapshot) = program.open(args.root.as_deref())?;
    let expected = snapshot.manifest().chunk_count;
    terminal.note(&format!("rebuilding the BM25 index of {}", units::counted(expected, "chunk")));
    drop(snapshot);
    let rebuilt = rebuild_bm25(project.root(), &user::trust())?;
    terminal.line(&format!("BM25 index: rebuilt ({} indexed)", units::counted(rebuilt, "chunk")))?;
    if rebuilt == expected {
        return Ok(());
    }
    let (chunks, rebuilt) = (units::counted(expected, "chunk"), units::count(rebuilt));
    Err(Failure::Short(format!(
        "the index contains {chunks}, but only {rebuilt} were processed; `aur mem verify` reports details"
    )))
}
