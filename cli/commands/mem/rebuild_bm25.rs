//! `aur mem rebuild-bm25`: the keyword index, made again from the stored chunks.

use std::io::Write;
use std::path::PathBuf;

use aurora_project::user;
use aurora_stages::index::rebuild_bm25;
use clap::Args;

use crate::context::failure::{Failure, Outcome};
use crate::context::opened;
use crate::context::program::Program;
use crate::output::units;

/// Build the keyword index again from the stored chunks
#[derive(Debug, Args)]
pub(crate) struct RebuildArgs {
    /// The indexed directory [default: the nearest one above with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,
}

/// Rebuilds and checks that every chunk took part.
pub(crate) fn run(args: &RebuildArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let opened = opened::open(args.root.as_deref(), program)?;
    let expected = opened.snapshot.manifest().chunk_count;
    terminal.note(&format!("rebuilding the BM25 index of {}", units::counted(expected, "chunk")));
    drop(opened.snapshot);
    let rebuilt = rebuild_bm25(opened.project.root(), &user::trust()).map_err(|error| Failure::from_error(&error))?;
    let mut out = terminal.stdout();
    writeln!(out, "BM25 index: rebuilt ({} indexed)", units::counted(rebuilt, "chunk"))?;
    out.flush()?;
    if rebuilt == expected {
        return Ok(());
    }
    Err(Failure::Short(format!(
        "the index holds {}, but {} took part; `aur mem verify` says more",
        units::counted(expected, "chunk"),
        units::count(rebuilt)
    )))
}
