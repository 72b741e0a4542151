//! `aur mem trust-index`: accepts an index and a memory that somebody else has made.

use std::io::Write;

use crate::args_artefact::TrustArgs;
use crate::failure::{Failure, Outcome};
use crate::opened::{self, OpenedIndex};
use crate::output::{sanitize, units};
use crate::program::Program;
use crate::{memories, place};

/// Verifies the index and records it as one to be used.
pub(crate) fn run(args: &TrustArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    if memories::trust(&place::for_search(args.root.as_deref())?, program)? {
        return Ok(());
    }
    let OpenedIndex { project, snapshot } = opened::open_any(args.root.as_deref(), program)?;
    let report = snapshot.verify();
    if let Some(problem) = report.problems.first() {
        return Err(Failure::new(format!("the index of {} is damaged: {problem}", project.root().display()))
            .with_help("`aur mem index` builds it again"));
    }
    let chunks = units::counted(snapshot.manifest().chunk_count, "chunk");
    drop(snapshot);
    project.accept().map_err(opened::failure)?;
    let mut out = terminal.stdout();
    writeln!(
        out,
        "The index of {} ({chunks}) is trusted until it is changed",
        sanitize::line(&project.root().display().to_string())
    )?;
    Ok(out.flush()?)
}
