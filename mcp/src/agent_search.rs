//! Searches over code and over the memory that an agent may see.

use std::path::PathBuf;
use std::time::Instant;

use aurora_live::{OpenedRoots, Roots};
use aurora_memory::{AgentMemory, AgentSession, CombinedSearch, MemoryError, MemoryOperation, Scope};
use aurora_project::{SearchRequest, Searchers, chain};
use aurora_query::{QueryError, SearchResults, ShownChunk};

/// An opened search over code and, if the agent may use memory, over the memory that its session may see.
pub struct AgentSearch<'a> {
    indexes: CombinedSearch,
    session: Option<AgentSession>,
    /// Sentences about roots that were not opened.
    root_notes: Vec<String>,
    roots: Roots,
    memory: Option<&'a AgentMemory>,
    operation: MemoryOperation,
    begun: Instant,
}

impl<'a> AgentSearch<'a> {
    /// Opens the roots, and the memories that the session called `session` may see. Without `memory`, the search covers
    /// only code.
    ///
    /// # Errors
    /// Fails if no root can be opened, or if the session is unknown.
    pub fn open(roots: &Roots, memory: Option<&'a AgentMemory>, session: Option<&str>) -> Result<Self, MemoryError> {
        Self::observed(MemoryOperation::Search, memory, |begun| {
            let session = memory.map(|memory| memory.session(session)).transpose()?.flatten();
            Self::combine(roots.open()?, roots, memory, session, None, (MemoryOperation::Search, begun))
        })
    }

    /// Opens a search, and reports an error to the observer of memory.
    fn observed(
        operation: MemoryOperation,
        memory: Option<&AgentMemory>,
        open: impl FnOnce(Instant) -> Result<Self, MemoryError>,
    ) -> Result<Self, MemoryError> {
        let begun = Instant::now();
        match (open(begun), memory) {
            (Err(error), Some(memory)) => memory.observed(operation, begun, Err(error)),
            (opened, _) => opened,
        }
    }

    /// Opens the roots, and the memories that the session called `session` may see in a scope. Without the name of a
    /// session, a new session is issued if necessary. If no root can be opened, only memory is searched, and a note
    /// contains the reason.
    ///
    /// # Errors
    /// Fails if the session is unknown.
    pub fn for_recall(
        roots: &Roots,
        memory: &'a AgentMemory,
        session: Option<&str>,
        scope: Option<Scope>,
    ) -> Result<Self, MemoryError> {
        Self::observed(MemoryOperation::Recall, Some(memory), |begun| {
            let session = match memory.session(session)? {
                Some(session) => session,
                None => memory.issue_session()?,
            };
            let opened = roots.open().unwrap_or_else(|error| OpenedRoots {
                searchers: Searchers::new(Vec::new()),
                notes: vec![format!("Code was not searched: {}", chain(&error))],
            });
            Self::combine(opened, roots, Some(memory), Some(session), scope, (MemoryOperation::Recall, begun))
        })
    }

    fn combine(
        OpenedRoots { searchers, notes }: OpenedRoots,
        roots: &Roots,
        memory: Option<&'a AgentMemory>,
        session: Option<AgentSession>,
        scope: Option<Scope>,
        (operation, begun): (MemoryOperation, Instant),
    ) -> Result<Self, MemoryError> {
        let code: Vec<_> = searchers.iter().cloned().collect();
        let indexes = match memory {
            None => CombinedSearch::for_projects(code),
            Some(memory) => {
                let paths: Vec<PathBuf> = roots.iter().map(|root| root.project().root().to_owned()).collect();
                let config = || match (searchers.iter().next(), roots.iter().next()) {
                    (Some(searcher), _) => Ok(searcher.config().clone()),
                    (None, Some(root)) => Ok(root.project().settings(Vec::new())?),
                    (None, None) => Err(MemoryError::Unfit("there is no root".to_owned())),
                };
                memory.open(code, &paths, config, session.as_ref(), scope)?
            }
        };
        Ok(Self { indexes, session, root_notes: notes, roots: roots.clone(), memory, operation, begun })
    }

    /// Answers a request. If there is neither code nor memory, there are no results.
    ///
    /// # Errors
    /// See [`Searchers::search`].
    pub fn search(&mut self, request: &SearchRequest) -> Result<SearchResults, QueryError> {
        if self.indexes.searchers.iter().len() == 0 {
            let query = &request.query;
            return Ok(SearchResults { query: query.text.clone(), mode: query.mode, ..SearchResults::default() });
        }
        let found = self.indexes.ask(|searchers| searchers.search(request));
        match self.memory {
            Some(memory) => memory.observed(self.operation, self.begun, found),
            None => found,
        }
    }

    /// Returns the roots of the search.
    pub fn roots(&self) -> &Roots {
        &self.roots
    }

    /// Returns the opened indexes.
    pub fn searchers(&self) -> &Searchers {
        &self.indexes.searchers
    }

    /// Returns the session of the search.
    pub fn session(&self) -> Option<&AgentSession> {
        self.session.as_ref()
    }

    /// Returns sentences about roots that were not opened or are not up to date.
    pub fn root_notes(&self) -> &[String] {
        &self.root_notes
    }

    /// Returns notes about memories, for example the reason why a memory was left out.
    pub fn memory_notes(&self) -> &[String] {
        &self.indexes.notes
    }

    /// Records displayed chunks as used, and as retrieved in the session. An error is only logged.
    pub fn record<'k>(&self, query: &str, shown: impl Iterator<Item = ShownChunk<'k>>, now: i64) {
        let shown: Vec<_> = shown.collect();
        self.roots.record(shown.iter().copied().filter(|chunk| !self.indexes.is_in_memory(chunk)), now);
        let recorded = self.memory.map(|memory| memory.record(&self.indexes, self.session(), query, &shown, now));
        if let Some(Err(error)) = recorded {
            tracing::warn!("a search was not recorded for its session: {}", chain(&error));
        }
    }
}
