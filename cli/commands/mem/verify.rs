//! `aur mem verify`: checks the whole index, and the indexes of the memories.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

use aurora_logs::{DateRange, LogDirectory, LogFile};
use aurora_memory::{Memory, MemoryCheck, MemoryError, Owner};
use aurora_project::user;
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
    let (checked, in_index, dangling) = match Memory::open(place) {
        Ok(Some(memory)) => (memory.verify(), memory.index_problem(), dangling_references(&memory)),
        Ok(None) => return Err(Failure::new(format!("there is no memory at {}", directory.display()))),
        Err(error) => (Err(error), None, Ok(Vec::new())),
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
    // A damaged store cannot be searched for references.
    let dangling = if check.problems.is_empty() { dangling? } else { Vec::new() };
    lines.extend(dangling.iter().map(|problem| problem_line(problem, terminal)));
    lines.extend(check.digest.as_ref().map(|digest| format!("Digest: {digest}")));
    if check.problems.is_empty() && in_index.is_none() && dangling.is_empty() {
        lines.push(terminal.out.paint(Role::Good, "No problems found"));
    }
    terminal.line(&lines.join("\n"))?;
    match check.problems.len() as u64 {
        0 if in_index.is_none() && dangling.is_empty() => Ok(()),
        0 if in_index.is_none() => Err(Failure::Short(format!(
            "{} to conversation logs without a target; the entries themselves are intact",
            units::counted(dangling.len() as u64, "reference")
        ))),
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

/// Describes the references of entries to conversation logs, sections or lines that do not exist.
fn dangling_references(memory: &Memory) -> Outcome<Vec<String>> {
    let mut references: BTreeMap<String, Vec<Reference>> = BTreeMap::new();
    memory.log_references(|id, reference| {
        let Some(file) = reference.file else { return };
        let last_line = reference.line_range.map(|(_, last)| u64::from(last));
        let section = reference.section.map(str::to_owned);
        let reference = Reference { entry: id.to_owned(), section, last_line };
        references.entry(file.to_owned()).or_default().push(reference);
    })?;
    if references.is_empty() {
        return Ok(Vec::new());
    }
    let logs = user::logs()?.map(|settings| LogDirectory::open(&settings.path)).transpose()?.flatten();
    let mut known: HashMap<String, LogFile> = HashMap::new();
    for log in
        logs.iter().map(|logs| logs.files(DateRange::default())).collect::<Result<Vec<_>, _>>()?.into_iter().flatten()
    {
        // A directory that cannot be read is reported by the commands of logs.
        let Ok(log) = log else { continue };
        known.insert(log.name.clone(), log);
    }
    let mut dangling = Vec::new();
    for (file, references) in references {
        let name = file.rsplit('/').next().unwrap_or(&file);
        let name = name.strip_suffix(".gz").unwrap_or(name);
        let found = known.get(name.strip_suffix(".md").unwrap_or(name));
        let describe = |Reference { entry, .. }: &Reference, what: &str| format!("{entry} refers to {what} {file}");
        let Some(log) = found else {
            dangling.extend(references.iter().map(|reference| describe(reference, "a log that does not exist:")));
            continue;
        };
        let wanted: HashSet<&str> = references.iter().filter_map(Reference::heading).collect();
        let (mut sections, mut last_line) = (HashSet::new(), 0);
        // A log that cannot be read to its end is reported like a log without the rest of its sections.
        let _ = logs.iter().try_for_each(|logs| {
            logs.sections(log, &mut |section| {
                last_line = section.line_end;
                sections.extend(section.name.filter(|name| wanted.contains(name.as_str())));
                true
            })
        });
        for reference in &references {
            if let Some(heading) = reference.heading().filter(|heading| !sections.contains(*heading)) {
                dangling.push(describe(reference, &format!("a section that does not exist, {heading:?}, of")));
            } else if reference.last_line.is_some_and(|line| line > last_line) {
                dangling.push(describe(reference, "lines after the end of"));
            }
        }
    }
    Ok(dangling)
}

/// The reference of an entry to a part of a log.
struct Reference {
    entry: String,
    section: Option<String>,
    last_line: Option<u64>,
}

impl Reference {
    fn heading(&self) -> Option<&str> {
        self.section.as_deref().map(|section| section.trim_start_matches('#').trim())
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
