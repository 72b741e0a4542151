//! The memories that a command is about.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_memory::{Memory, MemoryError, MemoryPlace, MemoryRules, Owner, Retrieved};
use aurora_project::{Searchers, causes, chain};
use aurora_query::{SearchConfig, ShownChunk};
use aurora_storage::{ProjectDirectory, StorageError};

use crate::context::args::{MemoryArgs, OwnerArg};
use crate::context::failure::{Failure, Outcome};
use crate::context::program::Program;
use crate::context::terminal::Terminal;
use crate::context::{findings, place};

/// The memories that a command is about, the project's first, with what their entries are judged by.
pub(crate) struct Memories {
    memories: Vec<Memory>,
    /// Why others could not be opened.
    left_out: Vec<MemoryError>,
    pub(crate) rules: Arc<MemoryRules>,
    pub(crate) config: SearchConfig,
}

impl Memories {
    /// Opens those that are there.
    pub(crate) fn open(args: &MemoryArgs, program: &Program) -> Outcome<Self> {
        let root = place::for_search(args.root.as_deref())?;
        let rules = load_rules(Some(&root), args.lifespan_policies.as_deref(), program)?;
        let config = program.project(root.clone()).settings(Vec::new());
        let config = config.map_err(|error| findings::project(error, &program.terminal))?;
        let is_wanted = |place: &MemoryPlace| match args.memory {
            None => true,
            Some(OwnerArg::User) => place.owner() == Owner::User,
            Some(OwnerArg::Project) => place.owner() == Owner::Project,
        };
        let (mut memories, mut left_out) = (Vec::new(), Vec::new());
        for place in places(&root).into_iter().filter(is_wanted) {
            match Memory::open(place) {
                Ok(memory) => memories.extend(memory),
                Err(error) => left_out.push(error),
            }
        }
        Ok(Self { memories, left_out, rules: Arc::new(rules), config })
    }

    /// Prints a warning for each memory that could not be opened.
    ///
    /// # Errors
    /// The first error if no memory could be opened.
    pub(crate) fn tell_left_out(&mut self, program: &Program) -> Outcome {
        for error in std::mem::take(&mut self.left_out) {
            if self.memories.is_empty() {
                return Err(failure(error));
            }
            program.terminal.warn(&without(&error));
        }
        Ok(())
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Memory> {
        self.memories.iter()
    }

    /// The memory that has an entry, removed ones too where `removed` says so.
    pub(crate) fn with(&self, id: &str, removed: bool) -> Outcome<&Memory> {
        let mut found = Vec::new();
        for memory in &self.memories {
            let version = memory.get(id).map_err(failure)?;
            if version.is_some_and(|version| removed || version.document.is_some()) {
                found.push(memory);
            }
        }
        match found[..] {
            [memory] => Ok(memory),
            [] => match self.left_out.first() {
                Some(error) => {
                    Err(Failure::new(format!("no entry {id} in the memory that can be used")).with_help(without(error)))
                }
                None => Err(Failure::new(format!("no entry {id}")).with_help("`aur mem list` shows the entries")),
            },
            _ => Err(Failure::new(format!("{id} is in the project's memory and in the user's"))
                .with_help("say which one: --memory project or --memory user")),
        }
    }
}

/// The places of the memories that a search in a project sees.
pub(crate) fn places(root: &Path) -> Vec<MemoryPlace> {
    let of_project = MemoryPlace::of_project(root);
    std::iter::once(of_project).chain(MemoryPlace::of_user()).collect()
}

/// Opens those that are there.
pub(crate) fn open_all(places: impl Iterator<Item = MemoryPlace>) -> Outcome<Vec<Memory>> {
    places.filter_map(|place| Memory::open(place).map_err(failure).transpose()).collect()
}

/// The memory of a scope, which is made where there is none. `root` is the project.
pub(crate) fn create(owner: Owner, root: &Path) -> Outcome<Memory> {
    let owner = match owner {
        Owner::Project => OwnerArg::Project,
        Owner::User => OwnerArg::User,
    };
    Memory::create(place_of(owner, root)?).map_err(failure)
}

/// The memory of an owner, which has to be there. `root` is the project.
pub(crate) fn owned(owner: OwnerArg, root: &Path) -> Outcome<Memory> {
    let place = place_of(owner, root)?;
    let owner = place.owner().as_str();
    let none = || Failure::new(format!("there is no {owner}'s memory yet")).with_help("`aur mem add` makes it");
    Memory::open(place).map_err(failure)?.ok_or_else(none)
}

/// Where the memory of an owner lies. `root` is the project.
pub(crate) fn place_of(owner: OwnerArg, root: &Path) -> Outcome<MemoryPlace> {
    match owner {
        OwnerArg::Project => Ok(MemoryPlace::of_project(root)),
        OwnerArg::User => MemoryPlace::of_user().ok_or_else(|| {
            Failure::new("there is no home directory for the user's memory")
                .with_help("set AURORA_HOME to an absolute path")
        }),
    }
}

/// The directory of the access history that knows an entry; `None` where no memory has it.
pub(crate) fn home_of(id: &str, root: &Path) -> Outcome<Option<PathBuf>> {
    for memory in open_all(places(root).into_iter())? {
        if memory.get(id).map_err(failure)?.is_some_and(|version| version.document.is_some()) {
            return Ok(Some(memory.project().directory()));
        }
    }
    Ok(None)
}

/// The note of an answer, or a warning, about a memory that cannot be used.
pub(crate) fn without(error: &MemoryError) -> String {
    format!("Memory was left out: {}", chain(error))
}

/// The note of an answer, or of a command, about a memory whose index was damaged.
pub(crate) fn mended(memory: &Memory, problem: &str) -> String {
    let owner = memory.place().owner().as_str();
    format!("the index of the {owner}'s memory was damaged ({problem}); it was built again from the entries")
}

/// The reason for which a memory with a damaged index cannot be searched.
pub(crate) fn not_mended(memory: &Memory, error: &MemoryError) -> String {
    let owner = memory.place().owner().as_str();
    format!("the index of the {owner}'s memory is damaged and cannot be built again: {}", chain(error))
}

/// The memories that a search in a project includes and that can be opened.
pub(crate) fn openable(root: &Path) -> impl Iterator<Item = Memory> {
    places(root).into_iter().filter_map(|place| Memory::open(place).ok().flatten())
}

/// Builds the damaged indexes of memories again, of which a search in a project sees the entries.
pub(crate) fn mend_indexes(root: &Path, terminal: &Terminal) {
    for memory in openable(root) {
        match memory.mend_index() {
            Ok(None) => {}
            Ok(Some(problem)) => terminal.note(&mended(&memory, &problem)),
            Err(error) => terminal.warn(&not_mended(&memory, &error)),
        }
    }
}

/// The user's memory, which is made where there is none.
pub(crate) fn of_user() -> Outcome<Memory> {
    create(Owner::User, Path::new("."))
}

/// The project that the current directory, or the directory asked for, is in; `None` outside of one.
pub(crate) fn project(asked: Option<&Path>) -> Outcome<Option<PathBuf>> {
    let root = place::for_search(asked)?;
    let is_one = asked.is_some() || place::is_project(&root) || ProjectDirectory::of(&root).path().is_dir();
    Ok(is_one.then_some(root))
}

/// Policies and rates; what is wrong with them is printed.
pub(crate) fn load_rules(root: Option<&Path>, flag: Option<&Path>, program: &Program) -> Outcome<MemoryRules> {
    MemoryRules::load(root, flag)
        .map_err(|errors| findings::report("the configuration of memory", &errors, &program.terminal))
}

/// An error of a memory, with what to do about it.
pub(crate) fn failure(error: MemoryError) -> Failure {
    let help = match &error {
        MemoryError::NoEntry(_) => Some("`aur mem list` shows the entries"),
        MemoryError::Exists(_) => Some("`aur mem edit ID FILE` replaces an entry"),
        MemoryError::Storage(StorageError::DamagedRecords { .. }) => Some("an export of it can be imported again"),
        MemoryError::Damaged(_) => Some("restore the directory from a backup, or import an export of it"),
        _ => None,
    };
    let failure = match error {
        // No run of `aur mem index` mends what memories store, which is what the advice for indexes says.
        MemoryError::Storage(error) => Failure::new(causes(&error)),
        MemoryError::Project(error) => Failure::from(*error),
        error => Failure::from_error(&error),
    };
    match help {
        Some(help) => failure.with_help(help),
        None => failure,
    }
}

/// Remembers what a search of a session has shown, for the outcome of its task. A search never fails because of it.
pub(crate) fn note_search(
    session: &str,
    query: &str,
    searchers: &Searchers,
    shown: &[ShownChunk<'_>],
    terminal: &Terminal,
) {
    let roots: Vec<_> = searchers.iter().collect();
    let retrieved = shown.iter().map(|chunk| {
        let root = roots[chunk.root_place];
        Retrieved { home: root.searcher.project().directory(), key: root.noted_key(chunk.key).to_owned() }
    });
    let note = |memory: Memory| memory.note_search(session, query, retrieved.collect()).map_err(failure);
    if let Err(failure) = of_user().and_then(note) {
        terminal.warn(&format!("the search was not noted for the session {session}: {}", failure.message()));
    }
}
