//! Opens and updates the indexes that a search covers.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use aurora_memory::{CombinedSearch, MemoryPlace, MemorySearch, Scope, SearchedMemories, Visibility, check_session};
use aurora_project::{OpenedSearcher, Project, ProjectError, Searchers, chain, root_names};
use aurora_query::{FlagValue, Mode, QueryError, SearchConfig, Searcher, Source};
use aurora_storage::{Snapshot, StorageError};

use crate::context::{
    Failure, Outcome, Program, SearchedMemory, SearchedRoots, Terminal, configurations, first_index, indexing,
    memories, place, query_embedder, refresh,
};

/// The opened indexes that a search covers.
pub(crate) struct Searched {
    pub(crate) indexes: CombinedSearch,
    /// Number of indexed roots that could not be opened. Their errors have been printed.
    pub(crate) missing: usize,
    /// The opened projects.
    projects: Vec<ProjectRoot>,
    /// Whether damaged indexes of projects may be rebuilt.
    may_repair: bool,
    /// Updates that are still running.
    updates: Vec<PendingUpdate>,
}

impl Searched {
    /// Runs a query while the updates of the indexes are running. If an update publishes a new generation, the query
    /// runs once more. Reranking takes longer than an update, so a query with a reranker waits for the updates first.
    pub(crate) fn ask<T>(
        &mut self,
        ask: impl Fn(&Searchers) -> Result<T, QueryError>,
        program: &Program,
    ) -> Result<T, QueryError> {
        if self.updates.iter().any(|update| update.root.config.reranker_for(update.root.mode).is_some()) {
            self.finish_updates();
        }
        let answer = self.ask_opened(&ask, program);
        if self.finish_updates() { self.ask_opened(&ask, program) } else { answer }
    }

    /// Waits for the running updates, and opens the generations that they publish. Returns whether a new generation was
    /// opened.
    pub(crate) fn finish_updates(&mut self) -> bool {
        let mut newer = Vec::new();
        for update in std::mem::take(&mut self.updates) {
            let (searcher, note) = update.finish();
            self.indexes.notes.extend(note);
            newer.extend(searcher);
        }
        let has_newer = !newer.is_empty();
        if has_newer {
            self.indexes.replace_projects(newer);
        }
        has_newer
    }

    /// Runs a query on the opened generations. If an index of a project is damaged, the index is rebuilt, and the query
    /// runs once more.
    fn ask_opened<T>(
        &mut self,
        ask: impl Fn(&Searchers) -> Result<T, QueryError>,
        program: &Program,
    ) -> Result<T, QueryError> {
        let error = match self.indexes.ask(&ask) {
            Err(QueryError::Storage(error)) if error.unusable_index().is_some() => error,
            answer => return answer,
        };
        self.finish_updates();
        if self.repair_projects(program) && self.indexes.searchers.iter().next().is_some() {
            self.indexes.ask(&ask)
        } else {
            Err(error.into())
        }
    }

    /// Rebuilds the damaged indexes of projects, if this is allowed. Returns whether an index was rebuilt.
    fn repair_projects(&mut self, program: &Program) -> bool {
        let find = |root: &ProjectRoot| match root.project.any_snapshot() {
            Ok(snapshot) => {
                let problem = snapshot.verify().problems.into_iter().next()?;
                let path = root.project.directory();
                indexing::repairable(&root.project, &StorageError::Damaged { path, what: problem })
            }
            Err(error) => indexing::repairable(&root.project, &error),
        };
        let allowed = self.projects.iter().filter(|_| self.may_repair);
        let damaged: Vec<(ProjectRoot, String)> =
            allowed.filter_map(|root| find(root).map(|problem| (root.clone(), problem))).collect();
        if damaged.is_empty() {
            return false;
        }
        // Close the indexes, because an index that is open in this process cannot be replaced.
        let mut kept: Vec<Arc<Searcher>> = self.indexes.searchers.iter().cloned().collect();
        self.indexes.searchers = Searchers::new(Vec::new());
        for (root, problem) in damaged {
            let place = kept.iter().position(|searcher| !searcher.is_memory() && searcher.name() == root.name);
            place.iter().for_each(|&place| drop(kept.remove(place)));
            let repaired = indexing::repair(&root.project, &problem, program)
                .and_then(|()| Ok(root.open(root.project.snapshot()?, Some(&program.terminal))?));
            match repaired {
                Ok(searcher) => kept.insert(place.unwrap_or(0), searcher),
                Err(failure) => program.terminal.report(&failure),
            }
        }
        self.indexes.searchers = Searchers::new(kept);
        true
    }
}

/// Arguments of a command that select what it searches.
#[derive(Clone, Copy)]
pub(crate) struct SearchedArgs<'a> {
    pub(crate) roots: &'a SearchedRoots,
    pub(crate) memory: &'a SearchedMemory,
    pub(crate) no_index: bool,
    pub(crate) no_refresh: bool,
    /// Whether a damaged index of a project must not be rebuilt.
    pub(crate) read_only: bool,
    /// Whether projects without an index are left out if memory has entries.
    pub(crate) skips_missing: bool,
}

/// Opens the index of each root that the arguments select. A missing index is built, and an outdated one is updated if
/// that is quick. `flags` change the search configuration.
pub(crate) fn open(args: &SearchedArgs<'_>, flags: &[FlagValue], mode: Mode, program: &Program) -> Outcome<Searched> {
    let sources = &args.memory.source;
    let has = |source| sources.is_empty() || sources.contains(&source);
    let mut roots = place::for_searches(args.roots)?;
    let memories = if has(Source::Memory) {
        open_memories(args, flags, mode, &roots, program)?
    } else {
        SearchedMemories::default()
    };
    let mut note = None;
    let is_outside = |root: &PathBuf| !place::is_project(root) && !program.project(root.clone()).has_index();
    if !has(Source::Code) && !has(Source::Log) {
        if memories.is_empty() {
            let none = || Failure::new("memory has no entries").with_help("`aur mem add` adds one");
            return Err(memories.unusable.into_iter().next().map_or_else(none, Failure::from));
        }
        roots.clear();
    } else if args.roots.root.is_empty() && !memories.is_empty() && roots.iter().all(is_outside) {
        note = Some("the current directory is not in a project, so only memory was searched".to_owned());
        roots.clear();
    }
    if args.skips_missing && !memories.is_empty() {
        roots.retain(|root| program.project(root.clone()).has_index());
    }
    let names = root_names(&roots.iter().map(PathBuf::as_path).collect::<Vec<_>>());
    let (share, terminal) = (roots.len().max(1) as u32, &program.terminal);
    configurations::warn_ignored(roots.first().map(PathBuf::as_path), terminal);
    let may_repair = !(args.no_index || args.no_refresh || args.read_only);
    let open = |name: String, root: &Path| {
        let project = program.project(root.to_owned());
        let config = project.settings(flags.to_vec())?;
        let is_new = first_index::for_search(&project, args.no_index, program)?;
        let (snapshot, is_new) = match project.snapshot() {
            Err(ProjectError::Storage(error)) if may_repair => match indexing::repairable(&project, &error) {
                Some(problem) => {
                    indexing::repair(&project, &problem, program)?;
                    (project.snapshot()?, true)
                }
                None => return Err(error.into()),
            },
            opened => (opened?, is_new),
        };
        let skips_update = args.no_refresh || is_new;
        let budget = if skips_update { Duration::ZERO } else { Duration::from_millis(config.refresh) / share };
        let root = ProjectRoot { name, has_others: share > 1, project, config, mode, skips_update };
        let update = (budget > Duration::ZERO).then(|| PendingUpdate::start(root.clone(), snapshot.clone(), budget));
        let searcher = root.open(snapshot, Some(terminal))?;
        Ok((searcher, update, root))
    };
    let (mut searchers, mut updates, mut failures) = (Vec::new(), Vec::new(), Vec::new());
    let mut projects = Vec::new();
    for (name, root) in names.into_iter().zip(&roots) {
        match open(name, root) {
            Ok((searcher, update, root)) => {
                searchers.push(searcher);
                projects.push(root);
                updates.extend(update);
            }
            // With --all-roots, some roots may be damaged or no longer trusted; search the others.
            Err(failure) if args.roots.all_roots => failures.push(failure),
            Err(failure) => return Err(failure),
        }
    }
    if searchers.is_empty() && (memories.is_empty() || !failures.is_empty()) {
        let nothing = || Failure::new("there are no known indexes").with_help("`aur mem index PATH` builds one");
        let last = failures.pop().unwrap_or_else(nothing);
        failures.iter().for_each(|failure| terminal.report(failure));
        return Err(last);
    }
    failures.iter().for_each(|failure| terminal.report(failure));
    let mut indexes = memories.with_projects(searchers);
    indexes.notes.extend(note);
    Ok(Searched { indexes, missing: failures.len(), projects, may_repair, updates })
}

/// Opens the memories of the user and of each root.
fn open_memories(
    args: &SearchedArgs<'_>,
    flags: &[FlagValue],
    mode: Mode,
    roots: &[PathBuf],
    program: &Program,
) -> Outcome<SearchedMemories> {
    let SearchedMemory { scope, session, archived, .. } = args.memory;
    if let Some(session) = session {
        check_session(session)?;
    } else if *scope == Some(Scope::Session) {
        return Err(Failure::new("--scope session needs the session").with_help("give it with --session ID"));
    }
    let first = roots.first().map(PathBuf::as_path);
    let rules = Arc::new(memories::load_rules(first, None)?);
    SearchedMemories::open(MemoryPlace::for_search(roots.iter().map(PathBuf::as_path)), || {
        let project = program.project(first.map(Path::to_owned).unwrap_or_default());
        Ok(MemorySearch {
            config: project.settings(flags.to_vec())?,
            mode,
            rules,
            visibility: Visibility {
                scope: *scope,
                session: session.clone(),
                with_archived: *archived,
                is_confined: false,
            },
            is_read_only: false,
        })
    })
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
