//! `aur mem compact --memory`: removes the versions that `aur mem undo` could restore.

use std::io::Write as _;
use std::path::Path;

use aurora_memory::Owner;

use crate::context::args::{MemoryArgs, ReportFormat};
use crate::context::failure::{Failure, Outcome};
use crate::context::memories::{Memories, failure};
use crate::context::program::Program;
use crate::output::{json, units};

/// Deletes the removed entries and earlier versions of a memory.
pub(crate) fn run(owner: Owner, root: Option<&Path>, format: ReportFormat, program: &Program) -> Outcome {
    let args = MemoryArgs { root: root.map(Path::to_owned), memory: Some(owner), lifespan_policies: None };
    let mut memories = Memories::open(&args, program)?;
    memories.warn_left_out(program)?;
    let memory = memories.iter().next().ok_or_else(|| Failure::new("the memory does not exist"))?;
    let done = memory.compact().map_err(failure)?;
    let mut out = program.terminal.stdout();
    match format {
        ReportFormat::Json => json::write_line(&mut out, &done)?,
        ReportFormat::Text => {
            let (removed, versions) = (done.removed_entries as u64, done.versions as u64);
            writeln!(
                out,
                "Deleted: {} removed entries and {} earlier versions",
                units::count(removed),
                units::count(versions)
            )?;
        }
    }
    Ok(out.flush()?)
}
