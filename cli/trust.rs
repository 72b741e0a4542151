//! `aur mem trust-index`: accepts an index that somebody else has made.

use std::io::Write;

use crate::args_artefact::TrustArgs;
use crate::failure::{Failure, Outcome};
use crate::opened::{self, OpenedIndex};
use crate::output::{sanitize, units};
use crate::terminal::Terminal;

/// Verifies the index and records it as one to be used.
pub(crate) fn run(args: &TrustArgs, terminal: &Terminal) -> Outcome {
    let OpenedIndex { root, snapshot } = opened::open_any(args.root.as_deref())?;
    let report = snapshot.verify();
    if let Some(problem) = report.problems.first() {
        return Err(Failure::new(format!("the index of {} is damaged: {problem}", root.display()))
            .with_help("`aur mem index` builds it again"));
    }
    let chunks = units::counted(snapshot.manifest().chunk_count, "chunk");
    drop(snapshot);
    opened::accept(&root)?;
    let mut out = terminal.stdout();
    writeln!(
        out,
        "The index of {} ({chunks}) is trusted until it is changed",
        sanitize::line(&root.display().to_string())
    )?;
    Ok(out.flush()?)
}
