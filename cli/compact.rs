//! `aur mem compact`: the index at its smallest.

use std::io::Write;

use aurora_storage::Environment;

use crate::args_artefact::CompactArgs;
use crate::failure::Outcome;
use crate::opened::{self, OpenedIndex};
use crate::output::{json, units};
use crate::place;
use crate::terminal::Terminal;
use crate::values::ReportFormat;

/// Compacts and says what it was good for.
pub(crate) fn run(args: &CompactArgs, terminal: &Terminal) -> Outcome {
    let OpenedIndex { root, snapshot } = opened::open(args.root.as_deref())?;
    drop(snapshot);
    let done = Environment::compact(&place::index_dir(&root), &place::trust().known).map_err(opened::failure)?;
    opened::record(&root)?;
    let mut out = terminal.stdout();
    let (before, after) = (units::bytes(done.before), units::bytes(done.after));
    match args.format {
        ReportFormat::Json => json::write_line(&mut out, &done)?,
        ReportFormat::Text if done.written => {
            writeln!(out, "Compacted: {before} before, {after} now (generation {})", done.generation)?;
        }
        ReportFormat::Text => writeln!(out, "Nothing to gain: the index is compact ({after})")?,
    }
    Ok(out.flush()?)
}
