//! Opens and updates the indexes that a search covers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use aurora_memory::{Memory, MemoryError, MemoryPlace, MemoryRules, Scope, Visibility, check_session};
use aurora_project::{OpenedSearcher, Project, ProjectError, Searchers, chain, root_names};
use aurora_query::{FlagValue, Mode, QueryError, SearchConfig, Searcher, Source};
use aurora_storage::Snapshot;

use crate::context::{
    Failure, Outcome, Program, SearchedMemory, SearchedRoots, Terminal, indexing, memories, place, query_embedder,
    refresh,
};

/// The opened indexes that a search covers.
pub(crate) struct Searched {
    pub(crate) searchers: Searchers,
    /// Notes for the next answer.
    pub(crate) notes: Vec<String>,
    /// Number of indexed roots that could not be opened. Their errors have been printed.
    pub(crate) missing: usize,
    /// The opened memories.
    memories: Vec<MemoryRoot>,
    /// Updates that are still running.
    updates: Vec<PendingUpdate>,
}

impl Searched {
    /// Runs a query while the updates of the indexes are running. If an update publishes a new generation, the query
    /// runs once more. Reranking takes longer than an update, so a query with a reranker waits for the updates first.
    pub(crate) fn ask<T>(&mut self, ask: impl Fn(&Searchers) -> Result<T, QueryError>) -> Result<T, QueryError> {
        if self.updates.iter().any(|update| update.root.config.reranker_for(update.root.mode).is_some()) {
            self.finish_updates();
        }
        let answer = self.ask_opened(&ask);
        if self.finish_updates() { self.ask_opened(&ask) } else { answer }
    }

    /// Waits for the running updates, and opens the generations that they publish. Returns whether a new generation was
    /// opened.
    pub(crate) fn finish_updates(&mut self) -> bool {
        let updates = std::mem::take(&mut self.updates);
        let mut searchers: Vec<Arc<Searcher>> = self.searchers.iter().cloned().collect();
        let mut has_newer = false;
        for update in updates {
            let (newer, note) = update.finish();
            self.notes.extend(note);
            if let Some(newer) = newer
                && let Some(root) = searchers.iter_mut().find(|root| !root.is_memory() && root.name() == newer.name())
            {
                *root = newer;
                has_newer = true;
            }
        }
        if has_newer {
            self.searchers = Searchers::new(searchers);
        }
        has_newer
    }

    /// Runs a query on the opened generations. If the index of a memory is damaged, the index is rebuilt from the
    /// entries, and the query runs once more. A memory whose rebuild fails is not searched.
    fn ask_opened<T>(&mut self, ask: impl Fn(&Searchers) -> Result<T, QueryError>) -> Result<T, QueryError> {
        let error = match ask(&self.searchers) {
            Err(QueryError::Storage(error)) if error.unusable_index().is_some() => error,
            answer => return answer,
        };
        if self.repair_memories() && self.searchers.iter().next().is_some() {
            ask(&self.searchers)
        } else {
            Err(error.into())
        }
    }

    /// Rebuilds the damaged indexes of memories, and removes the memories whose rebuild fails from the searchers.
    /// Returns whether an index was damaged.
    fn repair_memories(&mut self) -> bool {
        let mut roots: Vec<Arc<Searcher>> = self.searchers.iter().filter(|root| !root.is_memory()).cloned().collect();
        // Close the indexes, because an index that is open in this process cannot be replaced.
        self.searchers = Searchers::new(Vec::new());
        let mut notes = Vec::new();
        for memory in &self.memories {
            match memory.open_repaired(&mut notes) {
                Ok(root) => roots.extend(root),
                Err(error) => {
                    let reason = memories::repair_failed_note(&memory.memory, &error);
                    notes.push(format!("A memory could not be used and was left out: {reason}"));
                }
            }
        }
        self.searchers = Searchers::new(roots);
        let has_damage = !notes.is_empty();
        self.notes.append(&mut notes);
        has_damage
    }
}

/// Arguments of a command that select what it searches.
#[derive(Clone, Copy)]
pub(crate) struct SearchedArgs<'a> {
    pub(crate) roots: &'a SearchedRoots,
    pub(crate) memory: &'a SearchedMemory,
    pub(crate) no_index: bool,
    pub(crate) no_refresh: bool,
    /// Whether projects without an index are left out if memory has entries.
    pub(crate) skips_missing: bool,
}

/// Opens the index of each root that the arguments select. A missing index is built, and an outdated one is updated if
/// that is quick. `flags` change the search configuration.
pub(crate) fn open(args: &SearchedArgs<'_>, flags: &[FlagValue], mode: Mode, program: &Program) -> Outcome<Searched> {
    let sources = &args.memory.source;
    let has = |source| sources.is_empty() || sources.contains(&source);
    let mut roots = place::for_searches(args.roots)?;
    let OpenedMemories { found, opened, unusable, notes: memory_notes } = if has(Source::Memory) {
        open_memories(args, flags, mode, &roots, program)?
    } else {
        OpenedMemories::default()
    };
    let mut notes: Vec<String> = unusable.iter().map(memories::unusable_note).chain(memory_notes).collect();
    let is_outside = |root: &PathBuf| !place::is_project(root) && !program.project(root.clone()).has_index();
    if !has(Source::Code) && !has(Source::Log) {
        if found.is_empty() {
            let none = || Failure::new("memory has no entries").with_help("`aur mem add` adds one");
            return Err(unusable.into_iter().next().map_or_else(none, Failure::from));
        }
        roots.clear();
    } else if args.roots.root.is_empty() && !found.is_empty() && roots.iter().all(is_outside) {
        notes.push("the current directory is not in a project, so only memory was searched".to_owned());
        roots.clear();
    }
    if args.skips_missing && !found.is_empty() {
        roots.retain(|root| program.project(root.clone()).has_index());
    }
    let names = root_names(&roots.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    let (share, terminal) = (roots.len().max(1) as u32, &program.terminal);
    let open = |name: String, root: &Path| {
        let project = program.project(root.to_owned());
        let config = project.settings(flags.to_vec())?;
        let is_new = indexing::for_search(&project, args.no_index, program)?;
        let snapshot = project.snapshot()?;
        let skips_update = args.no_refresh || is_new;
        let budget = if skips_update { Duration::ZERO } else { Duration::from_millis(config.refresh) / share };
        let root = ProjectRoot { name, has_others: share > 1, project, config, mode, skips_update };
        let update = (budget > Duration::ZERO).then(|| PendingUpdate::start(root.clone(), snapshot.clone(), budget));
        let searcher = root.open(snapshot, Some(terminal))?;
        Ok((searcher, update))
    };
    let (mut searchers, mut updates, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for (name, root) in names.into_iter().zip(&roots) {
        match open(name, root) {
            Ok((searcher, update)) => {
                searchers.push(searcher);
                updates.extend(update);
            }
            // With --all-roots, some roots may be damaged or no longer trusted; search the others.
            Err(failure) if args.roots.all_roots => failures.push(failure),
            Err(failure) => return Err(failure),
        }
    }
    if searchers.is_empty() && (found.is_empty() || !failures.is_empty()) {
        let nothing = || Failure::new("there are no known indexes").with_help("`aur mem index PATH` builds one");
        let last = failures.pop().unwrap_or_else(nothing);
        failures.iter().for_each(|failure| terminal.report(failure));
        return Err(last);
    }
    failures.iter().for_each(|failure| terminal.report(failure));
    searchers.extend(found);
    Ok(Searched { searchers: Searchers::new(searchers), notes, missing: failures.len(), memories: opened, updates })
}

/// Memories as roots of a search, and the errors of memories that could not be opened.
#[derive(Default)]
struct OpenedMemories {
    /// The searchers of the memories that have entries.
    found: Vec<Arc<Searcher>>,
    /// All opened memories.
    opened: Vec<MemoryRoot>,
    unusable: Vec<MemoryError>,
    /// Notes about the opened memories for the first answer.
    notes: Vec<String>,
}

/// A memory and the options for searching it.
struct MemoryRoot {
    memory: Memory,
    config: SearchConfig,
    mode: Mode,
    rules: Arc<MemoryRules>,
    visibility: Visibility,
}

impl MemoryRoot {
    /// Opens the memory as a root of a search; `None` if it has no entries.
    fn open(&self) -> Result<Option<Arc<Searcher>>, MemoryError> {
        self.memory.searcher(self.config.clone(), self.mode, &self.rules, &self.visibility)
    }

    /// Opens the memory. If its index is damaged, repairs the index first, and adds a note about the repair.
    fn open_repaired(&self, notes: &mut Vec<String>) -> Result<Option<Arc<Searcher>>, MemoryError> {
        notes.extend(self.memory.repair_index()?.map(|problem| memories::repaired_note(&self.memory, &problem)));
        self.open()
    }
}

/// Opens the memories of the user and of each root, if they have entries.
fn open_memories(
    args: &SearchedArgs<'_>,
    flags: &[FlagValue],
    mode: Mode,
    roots: &[PathBuf],
    program: &Program,
) -> Outcome<OpenedMemories> {
    let SearchedMemory { scope, session, archived, .. } = args.memory;
    if let Some(session) = session {
        check_session(session)?;
    } else if *scope == Some(Scope::Session) {
        return Err(Failure::new("--scope session needs the session").with_help("give it with --session ID"));
    }
    let visibility = Visibility { scope: *scope, session: session.clone(), with_archived: *archived };
    let first = roots.first().map(PathBuf::as_path);
    let rules = Arc::new(memories::load_rules(first, None)?);
    let mut places: Vec<MemoryPlace> = roots.iter().map(|root| MemoryPlace::for_project(root)).collect();
    places.extend(MemoryPlace::for_user());
    let mut result = OpenedMemories::default();
    for place in places {
        let memory = match Memory::open(place) {
            Ok(Some(memory)) => memory,
            Ok(None) => continue,
            Err(error) => {
                result.unusable.push(error);
                continue;
            }
        };
        let project = program.project(first.map(Path::to_owned).unwrap_or_default());
        let config = project.settings(flags.to_vec())?;
        let root = MemoryRoot { memory, config, mode, rules: Arc::clone(&rules), visibility: visibility.clone() };
        let opened = root.open().or_else(|error| match root.memory.index_problem() {
            Some(_) => root.open_repaired(&mut result.notes),
            None => Err(error),
        });
        match opened {
            Ok(found) => {
                result.found.extend(found);
                result.opened.push(root);
            }
            Err(error) => result.unusable.push(error),
        }
    }
    Ok(result)
}

/// A project and the options for searching it.
#[derive(Clone)]
struct ProjectRoot {
    name: String,
    /// Whether several roots are searched, so that notes must contain the name of this root.
    has_others: bool,
    project: Project,
    config: SearchConfig,
    mode: Mode,
    /// Whether the index is searched without an update.
    skips_update: bool,
}

impl ProjectRoot {
    fn open(&self, snapshot: Snapshot, terminal: Option<&Terminal>) -> Result<Arc<Searcher>, ProjectError> {
        let OpenedSearcher { searcher, embedder, notice } =
            self.project.searcher(&self.name, snapshot, self.config.clone(), self.mode)?;
        if let Some(terminal) = terminal {
            query_embedder::print_notice(notice.as_ref(), terminal);
        }
        if let Some(embedder) = embedder {
            query_embedder::stop_on_interrupt(&embedder);
        }
        Ok(Arc::new(if self.skips_update { searcher } else { self.project.with_program_changes(searcher) }))
    }
}

/// A running update of an index. Meanwhile, searches use the previous generation.
struct PendingUpdate {
    root: ProjectRoot,
    update: Option<JoinHandle<refresh::Refreshed>>,
}

impl PendingUpdate {
    /// Starts the update in a thread. If the thread cannot be started, the index is not updated.
    fn start(root: ProjectRoot, snapshot: Snapshot, budget: Duration) -> Self {
        let project = root.project.clone();
        let update = move || refresh::before_search(&project, &snapshot, budget);
        Self { update: thread::Builder::new().name("aurora-refresh".to_owned()).spawn(update).ok(), root }
    }

    /// Waits for the end of the update. Returns the new generation, if one was published, and a note for the answer.
    fn finish(self) -> (Option<Arc<Searcher>>, Option<String>) {
        let Self { root, update } = self;
        let Some(refresh::Refreshed { newer, note }) = update.and_then(|update| update.join().ok()) else {
            return (None, None);
        };
        let (newer, note) = match newer.map(|newer| root.open(newer, None)).transpose() {
            Ok(newer) => (newer, note),
            Err(error) => (None, Some(format!("The index was updated, but cannot be opened: {}", chain(&error)))),
        };
        (newer, note.map(|note| if root.has_others { format!("{}: {note}", root.name) } else { note }))
    }
}
