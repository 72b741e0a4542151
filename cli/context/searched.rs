//! The indexes that a search covers, opened and up to date.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use aurora_memory::{Memory, MemoryError, MemoryPlace, MemoryRules, Scope, Visibility, check_session};
use aurora_project::{NamedSearcher, Project, ProjectError, Searcher, Searchers, chain, root_names};
use aurora_query::{FlagValue, Mode, QueryError, SearchConfig, Source};
use aurora_storage::Snapshot;

use crate::commands::mem::search::SearchArgs;
use crate::context::args::{SearchedMemory, SearchedRoots, SourceArg};
use crate::context::failure::{Failure, Outcome};
use crate::context::program::Program;
use crate::context::refresh::{self, Refreshed};
use crate::context::{findings, indexing, memories, place, query_embedder};

/// Opened generations of some roots.
pub(crate) struct Searched {
    pub(crate) searchers: Searchers,
    /// Notes of the next answer about them.
    pub(crate) notes: Vec<String>,
    /// How many of all known roots could not be opened. Why has been printed.
    pub(crate) missing: usize,
    /// The memories among them.
    memories: Vec<MemoryRoot>,
    /// Updates that are still being made.
    updates: Vec<PendingUpdate>,
}

impl Searched {
    /// Asks them a question. Whether the indexes are up to date is checked at the same time; if one was not, and a new generation was
    /// published, the question is asked once more. A model that reranks takes longer than an update, and is asked after it.
    pub(crate) fn ask<T>(&mut self, ask: impl Fn(&Searchers) -> Result<T, QueryError>) -> Result<T, QueryError> {
        if self.updates.iter().any(|update| update.root.config.reranker_for(update.root.mode).is_some()) {
            self.finish_updates();
        }
        let answer = self.ask_opened(&ask);
        if self.finish_updates() { self.ask_opened(&ask) } else { answer }
    }

    /// Waits for updates, and opens the generations that they have published. Returns whether there are any.
    pub(crate) fn finish_updates(&mut self) -> bool {
        let updates = std::mem::take(&mut self.updates);
        let mut searchers: Vec<NamedSearcher> = self.searchers.iter().cloned().collect();
        let mut has_newer = false;
        for update in updates {
            let (newer, note) = update.finish();
            self.notes.extend(note);
            if let Some(newer) = newer
                && let Some(root) = searchers.iter_mut().find(|root| root.memory.is_none() && root.name == newer.name)
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

    /// Asks the opened generations. If the index of a memory turns out to be damaged, it is built again from the entries, or else the
    /// memory is left out, and the question is asked once more.
    fn ask_opened<T>(&mut self, ask: impl Fn(&Searchers) -> Result<T, QueryError>) -> Result<T, QueryError> {
        let error = match ask(&self.searchers) {
            Err(QueryError::Storage(error)) if error.unusable_index().is_some() => error,
            answer => return answer,
        };
        if self.mend_memories() && self.searchers.iter().next().is_some() {
            ask(&self.searchers)
        } else {
            Err(error.into())
        }
    }

    /// Builds damaged indexes of memories again, and leaves out the memories where that fails. Says whether an index was damaged.
    fn mend_memories(&mut self) -> bool {
        let mut roots: Vec<NamedSearcher> =
            self.searchers.iter().filter(|root| root.memory.is_none()).cloned().collect();
        // An index that is open in this process cannot be replaced.
        self.searchers = Searchers::new(Vec::new());
        let mut notes = Vec::new();
        for memory in &self.memories {
            match memory.mended(&mut notes) {
                Ok(root) => roots.extend(root),
                Err(error) => {
                    notes.push(format!("Memory was left out: {}", memories::not_mended(&memory.memory, &error)));
                }
            }
        }
        self.searchers = Searchers::new(roots);
        let has_damage = !notes.is_empty();
        self.notes.append(&mut notes);
        has_damage
    }
}

/// What the arguments of a command say of what it searches.
#[derive(Clone, Copy)]
pub(crate) struct SearchedArgs<'a> {
    pub(crate) roots: &'a SearchedRoots,
    pub(crate) memory: &'a SearchedMemory,
    pub(crate) no_index: bool,
    pub(crate) no_refresh: bool,
}

impl<'a> From<&'a SearchArgs> for SearchedArgs<'a> {
    fn from(args: &'a SearchArgs) -> Self {
        let SearchArgs { roots, memory, no_index, no_refresh, .. } = args;
        Self { roots, memory, no_index: *no_index, no_refresh: *no_refresh }
    }
}

/// Opens the index of each root that the arguments name. One that is missing is built, one that is old is updated if that is
/// quick. `flags` change the search configuration.
pub(crate) fn open(args: &SearchedArgs<'_>, flags: &[FlagValue], mode: Mode, program: &Program) -> Outcome<Searched> {
    let sources = sources(args.memory);
    let has = |source| sources.is_empty() || sources.contains(&source);
    let roots = place::for_searches(args.roots)?;
    let OfMemory { found, opened, left_out, notes: of_memories } =
        if has(Source::Memory) { of_memory(args, flags, mode, &roots, program)? } else { OfMemory::default() };
    let mut notes: Vec<String> = left_out.iter().map(memories::without).chain(of_memories).collect();
    if !has(Source::Code) && !has(Source::Log) {
        if found.is_empty() {
            let none = || Failure::new("memory has no entries").with_help("`aur mem add` adds one");
            return Err(left_out.into_iter().next().map_or_else(none, memories::failure));
        }
        return Ok(Searched {
            searchers: Searchers::new(found),
            notes,
            missing: 0,
            memories: opened,
            updates: Vec::new(),
        });
    }
    let is_outside = |root: &PathBuf| !place::is_project(root) && !program.project(root.clone()).has_index();
    if args.roots.root.is_empty() && !found.is_empty() && roots.iter().all(is_outside) {
        notes.push("the current directory is in no project: only memory was searched".to_owned());
        return Ok(Searched {
            searchers: Searchers::new(found),
            notes,
            missing: 0,
            memories: opened,
            updates: Vec::new(),
        });
    }
    let names = root_names(&roots.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    let opening = Opening { args: *args, flags, mode, share: roots.len().max(1) as u32, program };
    let (mut searchers, mut updates, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    for (name, root) in names.into_iter().zip(&roots) {
        match opening.open(name, root) {
            Ok((searcher, update)) => {
                searchers.push(searcher);
                updates.extend(update);
            }
            // Of all that are known, some may be damaged or trusted no longer.
            Err(failure) if args.roots.all_roots => failures.push(failure),
            Err(failure) => return Err(failure),
        }
    }
    if searchers.is_empty() {
        let nothing = || Failure::new("there are no known indexes").with_help("`aur mem index PATH` builds one");
        return Err(failures.into_iter().next().unwrap_or_else(nothing));
    }
    failures.iter().for_each(|failure| program.terminal.report(failure));
    searchers.extend(found);
    Ok(Searched { searchers: Searchers::new(searchers), notes, missing: failures.len(), memories: opened, updates })
}

/// Where results may come from; empty for everywhere.
pub(crate) fn sources(args: &SearchedMemory) -> Vec<Source> {
    let source = |source: &SourceArg| match source {
        SourceArg::Code => Source::Code,
        SourceArg::Memory => Source::Memory,
        SourceArg::Logs => Source::Log,
    };
    args.source.iter().map(source).collect()
}

/// Memories as roots of a search, and why others could not be opened.
#[derive(Default)]
struct OfMemory {
    found: Vec<NamedSearcher>,
    opened: Vec<MemoryRoot>,
    left_out: Vec<MemoryError>,
    /// The note of the first answer about the ones that were found.
    notes: Vec<String>,
}

/// A memory, and how it is searched.
struct MemoryRoot {
    memory: Memory,
    config: SearchConfig,
    mode: Mode,
    rules: Arc<MemoryRules>,
    visibility: Visibility,
}

impl MemoryRoot {
    /// The memory as a root of a search; `None` without entries.
    fn open(&self) -> Result<Option<NamedSearcher>, MemoryError> {
        self.memory.searcher(self.config.clone(), self.mode, &self.rules, &self.visibility)
    }

    /// The same after its index was built again if it was damaged, which a note says.
    fn mended(&self, notes: &mut Vec<String>) -> Result<Option<NamedSearcher>, MemoryError> {
        notes.extend(self.memory.mend_index()?.map(|problem| memories::mended(&self.memory, &problem)));
        self.open()
    }
}

/// The memories of the user and of each root that have entries.
fn of_memory(
    args: &SearchedArgs<'_>,
    flags: &[FlagValue],
    mode: Mode,
    roots: &[PathBuf],
    program: &Program,
) -> Outcome<OfMemory> {
    let SearchedMemory { scope, session, archived, .. } = args.memory;
    if let Some(session) = session {
        check_session(session).map_err(memories::failure)?;
    } else if *scope == Some(Scope::Session) {
        return Err(Failure::new("--scope session needs the session").with_help("give it with --session ID"));
    }
    let visibility = Visibility { scope: *scope, session: session.clone(), with_archived: *archived };
    let first = roots.first().map(PathBuf::as_path);
    let rules = Arc::new(memories::load_rules(first, None, program)?);
    let mut places: Vec<MemoryPlace> = roots.iter().map(|root| MemoryPlace::of_project(root)).collect();
    places.extend(MemoryPlace::of_user());
    let mut of_memory = OfMemory::default();
    for place in places {
        let memory = match Memory::open(place) {
            Ok(Some(memory)) => memory,
            Ok(None) => continue,
            Err(error) => {
                of_memory.left_out.push(error);
                continue;
            }
        };
        let project = program.project(first.map(Path::to_owned).unwrap_or_default());
        let config = project.settings(flags.to_vec()).map_err(|error| findings::project(error, &program.terminal))?;
        let root = MemoryRoot { memory, config, mode, rules: Arc::clone(&rules), visibility: visibility.clone() };
        let opened = root.open().or_else(|error| match root.memory.index_problem() {
            Some(_) => root.mended(&mut of_memory.notes),
            None => Err(error),
        });
        match opened {
            Ok(found) => {
                of_memory.found.extend(found);
                of_memory.opened.push(root);
            }
            Err(error) => of_memory.left_out.push(error),
        }
    }
    Ok(of_memory)
}

/// How roots are opened.
struct Opening<'a> {
    args: SearchedArgs<'a>,
    flags: &'a [FlagValue],
    mode: Mode,
    /// How many roots share the time that an update may take.
    share: u32,
    program: &'a Program,
}

impl Opening<'_> {
    fn open(&self, name: String, root: &Path) -> Outcome<(NamedSearcher, Option<PendingUpdate>)> {
        let terminal = &self.program.terminal;
        let failed = |error| findings::project(error, terminal);
        let project = self.program.project(root.to_owned());
        let config = project.settings(self.flags.to_vec()).map_err(failed)?;
        let is_new = indexing::for_search(&project, self.args.no_index, self.program)?;
        let snapshot = project.snapshot()?;
        let is_kept = self.args.no_refresh || is_new;
        let budget = if is_kept { Duration::ZERO } else { Duration::from_millis(config.refresh) / self.share };
        let root = SearchedRoot { name, has_others: self.share > 1, project, config, mode: self.mode, is_kept };
        let update = (budget > Duration::ZERO).then(|| PendingUpdate::start(root.clone(), snapshot.clone(), budget));
        let searcher = root.open(snapshot).map_err(failed)?;
        query_embedder::tell(searcher.searcher.notice(), terminal);
        Ok((searcher, update))
    }
}

/// A root, and how it is searched.
#[derive(Clone)]
struct SearchedRoot {
    name: String,
    /// Whether other roots are searched too, so that notes have to name this one.
    has_others: bool,
    project: Project,
    config: SearchConfig,
    mode: Mode,
    /// Whether the index is searched as it is.
    is_kept: bool,
}

impl SearchedRoot {
    fn open(&self, snapshot: Snapshot) -> Result<NamedSearcher, ProjectError> {
        let searcher = Searcher::open(&self.project, snapshot, self.config.clone(), self.mode)?;
        let searcher = if self.is_kept { searcher } else { searcher.with_program_changes() };
        if let Some(embedder) = searcher.embedder() {
            query_embedder::ends_with_interrupt(embedder);
        }
        Ok(NamedSearcher::of_project(self.name.clone(), Arc::new(searcher)))
    }
}

/// An update of an index that is made while the generation before it is searched.
struct PendingUpdate {
    root: SearchedRoot,
    update: Option<JoinHandle<Refreshed>>,
}

impl PendingUpdate {
    /// Starts to look at the tree in a thread; without one, the index stays as it is.
    fn start(root: SearchedRoot, snapshot: Snapshot, budget: Duration) -> Self {
        let project = root.project.clone();
        let update = move || refresh::before_search(&project, &snapshot, budget);
        Self { update: thread::Builder::new().name("aurora-refresh".to_owned()).spawn(update).ok(), root }
    }

    /// Waits for its end. Returns the new generation, if one was published, and a note for the answer.
    fn finish(self) -> (Option<NamedSearcher>, Option<String>) {
        let Self { root, update } = self;
        let Some(Refreshed { newer, note }) = update.and_then(|update| update.join().ok()) else { return (None, None) };
        let (newer, note) = match newer.map(|newer| root.open(newer)).transpose() {
            Ok(newer) => (newer, note),
            Err(error) => (None, Some(format!("The index was updated, but cannot be opened: {}", chain(&error)))),
        };
        (newer, note.map(|note| if root.has_others { format!("{}: {note}", root.name) } else { note }))
    }
}
