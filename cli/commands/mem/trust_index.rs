//! `aur mem trust-index`: accepts an index or another store that somebody else created.

use std::path::{Path, PathBuf};

use aurora_memory::{Memory, MemoryError, MemoryPlace, Owner};
use aurora_project::{Project, ProjectError, annotations, user};
use aurora_storage::{AccessLog, Annotations, StorageError};
use clap::{Args, ValueEnum};

use crate::context::{Failure, Outcome, Program, memories};
use crate::output::{sanitize, units};

/// Stores that another user may have created.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StoreArg {
    /// The index, in .aurora/index
    Index,
    /// The tags of chunks, in .aurora/annotations
    Tags,
    /// The access history, in .aurora/access
    Access,
    /// The project's memory, in .aurora/memory
    Memory,
    /// The user's memory, in ~/.aurora/memory
    UserMemory,
}

/// Accept an index that another user or machine created
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  aur mem trust-index              the index, or the only store that you did not create
  aur mem trust-index tags         the tags that came with a repository

An index that was not built by your own runs can answer with code that does not exist, so commands
do not use it without your consent. The same applies to tags, access histories and memories. This
command checks that a store is intact, not that its content is true. It accepts one store at a time,
and prints its name. AURORA_TRUST_INDEX=1 accepts every store, for CI caches and shared indexes.")]
pub(crate) struct TrustArgs {
    /// Store to accept [default: the index, or the only store that you did not create]
    #[arg(value_name = "STORE", value_enum)]
    pub(crate) store: Option<StoreArg>,

    /// Indexed directory [default: the nearest enclosing directory with an index]
    #[arg(long, value_name = "PATH")]
    pub(crate) root: Option<PathBuf>,
}

/// Checks one store and records it as trusted.
pub(crate) fn run(args: &TrustArgs, program: &Program) -> Outcome {
    let project = program.find(args.root.as_deref())?;
    let foreign: Vec<StoreArg> =
        StoreArg::value_variants().iter().copied().filter(|store| is_foreign(*store, &project)).collect();
    let store = match (args.store, &foreign[..]) {
        (Some(store), _) => store,
        (None, [] | [StoreArg::Index, ..]) => StoreArg::Index,
        (None, [store]) => *store,
        (None, stores) => {
            let commands: Vec<String> = stores.iter().map(|store| command(*store)).collect();
            return Err(Failure::new("several stores were not created by you, and only one can be accepted at a time")
                .with_help(commands.join(" or ")));
        }
    };
    let accepted = accept(store, &project)?;
    program.terminal.line(&sanitize::line(&accepted))?;
    for other in foreign.into_iter().filter(|other| *other != store) {
        program.terminal.note(&format!("{} not created by you either; {} accepts it", subject(other), command(other)));
    }
    Ok(())
}

/// Whether the store exists, and the user has neither created nor accepted it.
fn is_foreign(store: StoreArg, project: &Project) -> bool {
    let is_memory_foreign = |place| matches!(Memory::open(place), Err(MemoryError::Distrusted { .. }));
    match store {
        StoreArg::Index => project.has_index() && matches!(project.snapshot(), Err(ProjectError::Distrusted { .. })),
        StoreArg::Tags => matches!(annotations(project), Err(StorageError::ForeignRecords { .. })),
        StoreArg::Access => {
            let is_there = project.directory().is_dir();
            let open = || AccessLog::open(&project.directory(), &user::trust().known);
            is_there && matches!(open(), Err(StorageError::ForeignRecords { .. }))
        }
        StoreArg::Memory => is_memory_foreign(MemoryPlace::for_project(project.root())),
        StoreArg::UserMemory => MemoryPlace::for_user().is_some_and(is_memory_foreign),
    }
}

/// Accepts a store. Returns a sentence that describes the accepted store.
fn accept(store: StoreArg, project: &Project) -> Outcome<String> {
    let known = user::trust().known;
    let directory = project.directory();
    match store {
        StoreArg::Index => accept_index(project),
        StoreArg::Tags => {
            let chunks = Annotations::accept(&directory, known).map_err(|error| missing(error, "no tags"))?;
            let chunks = units::counted(chunks as u64, "chunk");
            Ok(format!("The tags in {} ({chunks}) are trusted", directory.display()))
        }
        StoreArg::Access => {
            AccessLog::accept(&directory, &known).map_err(|error| missing(error, "no access history"))?;
            Ok(format!("The access history in {} is trusted", directory.display()))
        }
        StoreArg::Memory => accept_memory(Owner::Project, project.root()),
        StoreArg::UserMemory => accept_memory(Owner::User, project.root()),
    }
}

fn accept_index(project: &Project) -> Outcome<String> {
    let snapshot = project.any_snapshot()?;
    let report = snapshot.verify();
    if let Some(problem) = report.problems.first() {
        return Err(Failure::new(format!("the index of {} is damaged: {problem}", project.root().display()))
            .with_help("`aur mem index` rebuilds it"));
    }
    let chunks = units::counted(snapshot.manifest().chunk_count, "chunk");
    drop(snapshot);
    project.accept()?;
    Ok(format!("The index of {} ({chunks}) is trusted until it changes", project.root().display()))
}

fn accept_memory(owner: Owner, root: &Path) -> Outcome<String> {
    let memory = Memory::accept(memories::place_of(owner, root)?)?;
    let entries = memory.verify()?.entries;
    let directory = memory.place().directory().display();
    Ok(format!("The memory at {directory} ({}) is trusted", units::counted(entries, "entry")))
}

fn missing(error: StorageError, what: &str) -> Failure {
    match error {
        StorageError::NoIndex { path } => Failure::new(format!("there is {what} at {}", path.display())),
        error => error.into(),
    }
}

fn subject(store: StoreArg) -> &'static str {
    match store {
        StoreArg::Index => "The index was",
        StoreArg::Tags => "The tags were",
        StoreArg::Access => "The access history was",
        StoreArg::Memory => "The project's memory was",
        StoreArg::UserMemory => "The user's memory was",
    }
}

fn command(store: StoreArg) -> String {
    let name = store.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
    format!("`aur mem trust-index {name}`")
}
