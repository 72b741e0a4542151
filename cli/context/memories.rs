//! Opens the memories that a command uses.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use aurora_memory::{CombinedSearch, Memory, MemoryError, MemoryPlace, MemoryRules, Owner, unusable_note};
use aurora_query::{SearchConfig, ShownChunk};
use aurora_storage::ProjectDirectory;

use crate::context::{Failure, MemoryArgs, Outcome, Program, Terminal, place};

/// The memories that a command uses, the project's first, with the rules and the configuration for their entries.
pub(crate) struct Memories {
    memories: Vec<Memory>,
    /// Errors of memories that could not be opened.
    unusable: Vec<MemoryError>,
    pub(crate) rules: Arc<MemoryRules>,
    pub(crate) config: SearchConfig,
}

impl Memories {
    /// Opens the existing memories.
    pub(crate) fn open(args: &MemoryArgs, program: &Program) -> Outcome<Self> {
        let root = place::for_search(args.root.as_deref())?;
        let rules = load_rules(Some(&root), args.lifespan_policies.as_deref())?;
        let config = program.project(root.clone()).settings(Vec::new())?;
        let is_wanted = |place: &MemoryPlace| match args.memory {
            None => true,
            Some(owner) => place.owner() == owner,
        };
        let (mut memories, mut unusable) = (Vec::new(), Vec::new());
        for place in MemoryPlace::for_search([&*root]).into_iter().filter(is_wanted) {
            match Memory::open(place) {
                Ok(memory) => memories.extend(memory),
                Err(error) => unusable.push(error),
            }
        }
        Ok(Self { memories, unusable, rules: Arc::new(rules), config })
    }

    /// Prints a warning for each memory that could not be opened.
    ///
    /// # Errors
    ///
    /// Returns the first error if no memory could be opened.
    pub(crate) fn warn_unusable(&mut self, program: &Program) -> Outcome {
        for error in std::mem::take(&mut self.unusable) {
            if self.memories.is_empty() {
                return Err(error.into());
            }
            program.terminal.warn(&unusable_note(&error));
        }
        Ok(())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Memory> {
        self.memories.iter()
    }

    /// Returns the memory that contains an entry.
    pub(crate) fn containing(&self, id: &str) -> Outcome<&Memory> {
        self.find(id, false)
    }

    /// Returns the memory that contains an entry, even if the entry has been removed.
    pub(crate) fn containing_removed(&self, id: &str) -> Outcome<&Memory> {
        self.find(id, true)
    }

    fn find(&self, id: &str, may_be_removed: bool) -> Outcome<&Memory> {
        let mut found = Vec::new();
        for memory in &self.memories {
            let version = memory.get(id)?;
            if version.is_some_and(|version| may_be_removed || version.document.is_some()) {
                found.push(memory);
            }
        }
        match found[..] {
            [memory] => Ok(memory),
            [] => match self.unusable.first() {
                Some(error) => {
                    Err(Failure::new(format!("there is no entry {id} in the memories that could be opened"))
                        .with_help(unusable_note(error)))
                }
                None => {
                    Err(Failure::new(format!("there is no entry {id}")).with_help("`aur mem list` shows the entries"))
                }
            },
            _ => Err(Failure::new(format!("{id} is in the project's memory and in the user's"))
                .with_help("select one with --memory project or --memory user")),
        }
    }
}

/// Opens the existing memories among `places`.
pub(crate) fn open_all(places: impl Iterator<Item = MemoryPlace>) -> Outcome<Vec<Memory>> {
    Ok(places.filter_map(|place| Memory::open(place).transpose()).collect::<Result<_, _>>()?)
}

/// Opens the memory of an owner, and creates it if it does not exist. `root` is the project.
pub(crate) fn create(owner: Owner, root: &Path) -> Outcome<Memory> {
    Ok(Memory::create(place_of(owner, root)?)?)
}

/// Opens the existing memory of an owner. `root` is the project.
pub(crate) fn owned(owner: Owner, root: &Path) -> Outcome<Memory> {
    let place = place_of(owner, root)?;
    let owner = place.owner().as_str();
    let none =
        || Failure::new(format!("the {owner}'s memory does not exist yet")).with_help("`aur mem add` creates it");
    Memory::open(place)?.ok_or_else(none)
}

/// Returns the location of an owner's memory. `root` is the project.
pub(crate) fn place_of(owner: Owner, root: &Path) -> Outcome<MemoryPlace> {
    match owner {
        Owner::Project => Ok(MemoryPlace::for_project(root)),
        Owner::User => MemoryPlace::for_user().ok_or_else(|| {
            Failure::new("there is no home directory for the user's memory")
                .with_help("set AURORA_HOME to an absolute path")
        }),
    }
}

/// Returns the directory of the access history that contains an entry; `None` if no memory contains the entry.
pub(crate) fn find_history_directory(id: &str, root: &Path) -> Outcome<Option<PathBuf>> {
    for memory in open_all(MemoryPlace::for_search([root]).into_iter())? {
        if memory.get(id)?.is_some_and(|version| version.document.is_some()) {
            return Ok(Some(memory.project().directory()));
        }
    }
    Ok(None)
}

/// Opens the memories that a search in a project uses. Skips memories that cannot be opened.
pub(crate) fn openable(root: &Path) -> impl Iterator<Item = Memory> {
    MemoryPlace::for_search([root]).into_iter().filter_map(|place| Memory::open(place).ok().flatten())
}

/// Repairs the damaged indexes of the memories that a search in a project uses.
pub(crate) fn repair_indexes(root: &Path, terminal: &Terminal) {
    for memory in openable(root) {
        match memory.repair_index() {
            Ok(None) => {}
            Ok(Some(problem)) => terminal.note(&memory.repaired_note(&problem)),
            Err(error) => terminal.warn(&memory.repair_failed_note(&error)),
        }
    }
}

/// Opens the user's memory, and creates it if it does not exist.
pub(crate) fn user_memory() -> Outcome<Memory> {
    create(Owner::User, Path::new("."))
}

/// Returns the project at `path`, or, without `path`, the project that contains the current directory. Returns `None`
/// if there is no `path` and the current directory is not in a project.
pub(crate) fn project(path: Option<&Path>) -> Outcome<Option<PathBuf>> {
    let root = place::for_search(path)?;
    let is_project = path.is_some() || place::is_project(&root) || ProjectDirectory::in_root(&root).path().is_dir();
    Ok(is_project.then_some(root))
}

/// Loads the memory rules: the retention policies and the decay rates. A failure contains all errors of the
/// configuration.
pub(crate) fn load_rules(root: Option<&Path>, flag: Option<&Path>) -> Outcome<MemoryRules> {
    MemoryRules::load(root, flag).map_err(|errors| Failure::findings("the configuration of memory", &errors))
}

/// Records the results that a search in a session has shown, because `aur mem feedback --outcome` later judges them. An
/// error only causes a warning.
pub(crate) fn note_search(
    session: &str,
    query: &str,
    search: &CombinedSearch,
    shown: &[ShownChunk<'_>],
    terminal: &Terminal,
) {
    let retrieved = search.retrieved(shown.iter().copied());
    let note = |memory: Memory| memory.note_search(session, query, retrieved).map_err(Failure::from);
    if let Err(failure) = user_memory().and_then(note) {
        terminal.warn(&format!("the search was not recorded for the session {session}: {}", failure.message()));
    }
}
