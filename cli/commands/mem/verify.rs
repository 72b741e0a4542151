//! `aur mem verify`: checks the whole index, and the indexes of the memories.

use std::path::PathBuf;

use aurora_memory::{Memory, MemoryCheck, MemoryError, Owner};
use aurora_storage::StorageError;
use clap::Args;

use crate::context::{Failure, Outcome, Program, Terminal, memories, place};
use crate::output::{Role, sanitize, units};

/// Check every record, posting list and vector of the index, or every record of a memory
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem verify              exits with 1 if a check fails
  aur mem verify --digest     a digest that depends on the content only
  aur mem verify --memory user")]
pub(crate) struct VerifyArgs {
    /// Indexed directory [default: the nearest enclosing directory with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,

    /// Check a memory instead of the index
    #[arg(long, value_name = "OWNER", value_enum)]
    pub(crate) memory: Option<Owner>,

    /// Print only the digest of the content
    #[arg(long)]
    pub(crate) digest: bool,
}

/// Checks everything, or prints the digest of the content.
pub(crate) fn run(args: &VerifyArgs, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    if let Some(owner) = args.memory {
        return verify_memory(args, owner, program);
    }
    let project = program.find(args.root.as_deref())?;
    let snapshot = project.any_snapshot()?;
    if args.digest {
        return terminal.line(&snapshot.digest()?.to_string());
    }
    let report = snapshot.verify();
    let mut lines = vec![format!(
        "Checked {}, {}, {}, {} and {}",
        units::counted(report.files, "file"),
        units::counted(report.chunks, "chunk"),
        units::counted(report.terms, "term"),
        units::counted(report.postings, "posting"),
        units::counted(report.vectors, "vector"),
    )];
    lines.extend(report.problems.iter().map(|problem| problem_line(problem, terminal)));
    let hidden = report.problem_count.saturating_sub(report.problems.len() as u64);
    if hidden > 0 {
        lines.push(format!("- … and {}", units::counted(hidden, "more problem")));
    }
    let before = lines.len();
    lines.extend(memories::openable(project.root()).filter_map(|memory| {
        let (problem, directory) = (memory.index_problem()?, memory.place().directory());
        Some(problem_line(&format!("the index of the memory at {}: {problem}", directory.display()), terminal))
    }));
    let are_memories_intact = lines.len() == before;
    if report.is_ok() && are_memories_intact {
        lines.push(terminal.out.paint(Role::Good, "No problems found"));
    }
    terminal.line(&lines.join("\n"))?;
    if report.is_ok() {
        return match are_memories_intact {
            true => Ok(()),
            false => Err(Failure::Short(
                "the index of a memory is damaged; `aur mem index --force` rebuilds it from the entries".to_owned(),
            )),
        };
    }
    let (problems, root) = (units::counted(report.problem_count, "problem"), project.root().display());
    Err(Failure::Short(match report.has_only_keyword_problems() {
        true => format!(
            "{problems} in the index of {root}, all in its keywords; `aur mem index` rebuilds the keywords from the stored chunks"
        ),
        false => format!("{problems} in the index of {root}; `aur mem index --force` rebuilds it"),
    }))
}

fn problem_line(problem: &str, terminal: &Terminal) -> String {
    format!("{} {}", terminal.out.paint(Role::Error, "-"), sanitize::line(problem))
}

/// Checks every record of a memory, or prints the digest of its entries.
fn verify_memory(args: &VerifyArgs, owner: Owner, program: &Program) -> Outcome {
    let terminal = &program.terminal;
    let root = place::for_search(args.root.as_deref())?;
    if args.digest {
        return terminal.line(&memories::owned(owner, &root)?.digest()?.to_string());
    }
    let place = memories::place_of(owner, &root)?;
    let directory = place.directory().to_owned();
    let (checked, in_index) = match Memory::open(place) {
        Ok(Some(memory)) => (memory.verify(), memory.index_problem()),
        Ok(None) => return Err(Failure::new(format!("there is no memory at {}", directory.display()))),
        Err(error) => (Err(error), None),
    };
    let check = match checked {
        Ok(check) => check,
        Err(error) if is_damage(&error) => MemoryCheck { problems: vec![error.to_string()], ..MemoryCheck::default() },
        Err(error) => return Err(error.into()),
    };
    let mut lines = vec![format!(
        "Checked {}: {} and {} in memory, {} that can be restored",
        units::counted(check.records, "record"),
        units::count(check.entries),
        units::counted(check.versions, "earlier version"),
        units::count(check.removed),
    )];
    let for_index = in_index.as_ref().map(|problem| format!("the index: {problem}"));
    lines.extend(check.problems.iter().chain(&for_index).map(|problem| problem_line(problem, terminal)));
    lines.extend(check.digest.as_ref().map(|digest| format!("Digest: {digest}")));
    if check.problems.is_empty() && in_index.is_none() {
        lines.push(terminal.out.paint(Role::Good, "No problems found"));
    }
    terminal.line(&lines.join("\n"))?;
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

/// Whether the error means that the memory is damaged.
fn is_damage(error: &MemoryError) -> bool {
    match error {
        MemoryError::Damaged(_) | MemoryError::Storage(StorageError::DamagedRecords { .. }) => true,
        MemoryError::Storage(error) => error.unusable_index().is_some(),
        _ => false,
    }
}
