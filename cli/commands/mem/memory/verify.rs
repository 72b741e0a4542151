//! `aur mem verify --memory`: checks every record of a memory.

use std::io::Write as _;

use aurora_memory::{Memory, MemoryCheck, MemoryError, Owner};
use aurora_storage::StorageError;

use crate::commands::mem::verify::VerifyArgs;
use crate::context::failure::{Failure, Outcome};
use crate::context::memories::{failure, owned, place_of};
use crate::context::place;
use crate::context::program::Program;
use crate::output::style::Role;
use crate::output::{sanitize, units};

/// Checks every record, or prints the digest of the entries.
pub(crate) fn run(args: &VerifyArgs, owner: Owner, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let root = place::for_search(args.root.as_deref())?;
    let mut out = terminal.stdout();
    if args.digest {
        writeln!(out, "{}", owned(owner, &root)?.digest().map_err(failure)?)?;
        return Ok(out.flush()?);
    }
    let place = place_of(owner, &root)?;
    let directory = place.directory().to_owned();
    let (checked, in_index) = match Memory::open(place) {
        Ok(Some(memory)) => (memory.verify(), memory.index_problem()),
        Ok(None) => return Err(Failure::new(format!("there is no memory at {}", directory.display()))),
        Err(error) => (Err(error), None),
    };
    let check = match checked {
        Ok(check) => check,
        Err(error) if is_damage(&error) => MemoryCheck { problems: vec![error.to_string()], ..MemoryCheck::default() },
        Err(error) => return Err(failure(error)),
    };
    writeln!(
        out,
        "Checked {}: {} and {} in memory, {} that can be restored",
        units::counted(check.records, "record"),
        units::count(check.entries),
        units::counted(check.versions, "earlier version"),
        units::count(check.removed),
    )?;
    for problem in &check.problems {
        writeln!(out, "{} {}", terminal.out.paint(Role::Error, "-"), sanitize::line(problem))?;
    }
    if let Some(problem) = &in_index {
        writeln!(out, "{} the index: {}", terminal.out.paint(Role::Error, "-"), sanitize::line(problem))?;
    }
    if let Some(digest) = &check.digest {
        writeln!(out, "Digest: {digest}")?;
    }
    if check.problems.is_empty() && in_index.is_none() {
        writeln!(out, "{}", terminal.out.paint(Role::Good, "No problems found"))?;
    }
    out.flush()?;
    match check.problems.len() as u64 {
        0 if in_index.is_none() => Ok(()),
        0 => Err(Failure::Short(format!(
            "the entries of the memory at {} are intact, but its index is damaged; `aur mem index --force` in a project rebuilds it",
            directory.display()
        ))),
        count => Err(Failure::Short(format!(
            "{} in the memory at {}; restore it from a backup, or import an export of it",
            units::counted(count, "problem"),
            directory.display()
        ))),
    }
}

/// Whether the error means that the file is damaged.
fn is_damage(error: &MemoryError) -> bool {
    match error {
        MemoryError::Damaged(_) | MemoryError::Storage(StorageError::DamagedRecords { .. }) => true,
        MemoryError::Storage(error) => error.unusable_index().is_some(),
        _ => false,
    }
}
