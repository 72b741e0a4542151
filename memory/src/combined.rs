//! Searches that cover projects and memories together.

use std::sync::Arc;

use aurora_project::{Searchers, chain};
use aurora_query::{Mode, QueryError, SearchConfig, Searcher, ShownChunk};
use aurora_storage::ProjectDirectory;

use crate::error::MemoryError;
use crate::memory::Memory;
use crate::place::MemoryPlace;
use crate::rules::{MemoryRules, Visibility};
use crate::store::Retrieved;

/// Options for searching memories.
#[derive(Clone)]
pub struct MemorySearch {
    /// The search configuration.
    pub config: SearchConfig,
    /// The mode of the search.
    pub mode: Mode,
    /// The retention policies and decay rates.
    pub rules: Arc<MemoryRules>,
    /// The entries that the search can return.
    pub visibility: Visibility,
    /// Whether the index of a memory is searched as it is, without an update.
    pub is_read_only: bool,
}

/// A memory and the options for searching it.
struct MemoryRoot {
    memory: Memory,
    options: Arc<MemorySearch>,
}

/// The opened memories of a search.
#[derive(Default)]
pub struct SearchedMemories {
    /// Errors of memories that cannot be used. The search leaves these memories out.
    pub unusable: Vec<MemoryError>,
    /// The searchers of the memories that have entries.
    found: Vec<Arc<Searcher>>,
    opened: Vec<MemoryRoot>,
    notes: Vec<String>,
}

impl SearchedMemories {
    /// Opens the existing memories among `places`. Calls `options` only if there is at least one memory. A damaged
    /// index of a memory is rebuilt from the entries.
    ///
    /// # Errors
    /// Returns the error of `options`.
    pub fn open<E>(
        places: impl IntoIterator<Item = MemoryPlace>,
        options: impl FnOnce() -> Result<MemorySearch, E>,
    ) -> Result<Self, E> {
        let (mut memories, mut result) = (Vec::new(), Self::default());
        for place in places {
            match Memory::open(place) {
                Ok(memory) => memories.extend(memory),
                Err(error) => result.unusable.push(error),
            }
        }
        if memories.is_empty() {
            return Ok(result);
        }
        let options = Arc::new(options()?);
        for memory in memories {
            let root = MemoryRoot { memory, options: Arc::clone(&options) };
            let opened = root.open(&mut result.notes).or_else(|error| match root.memory.index_problem() {
                Some(_) if !options.is_read_only => root.open_repaired(&mut result.notes),
                _ => Err(error),
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

    /// Leaves out all memories because of an error, such as an invalid configuration.
    pub(crate) fn unavailable(error: MemoryError) -> Self {
        Self { unusable: vec![error], ..Self::default() }
    }

    /// Whether no memory has entries.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Combines the memories with the searchers of projects. The notes of the result mention the unusable memories.
    pub fn with_projects(self, mut projects: Vec<Arc<Searcher>>) -> CombinedSearch {
        let notes = self.unusable.iter().map(unusable_note).chain(self.notes).collect();
        projects.extend(self.found);
        CombinedSearch { searchers: Searchers::new(projects), notes, memories: self.opened }
    }
}

/// The opened indexes of projects and memories, which answer as one.
pub struct CombinedSearch {
    /// The searchers of the projects, followed by the searchers of the memories.
    pub searchers: Searchers,
    /// Notes for the next answer.
    pub notes: Vec<String>,
    memories: Vec<MemoryRoot>,
}

impl CombinedSearch {
    /// Creates a search without memories.
    pub fn for_projects(projects: Vec<Arc<Searcher>>) -> Self {
        SearchedMemories::default().with_projects(projects)
    }

    /// Runs a query. If the index of a memory is damaged, the index is rebuilt from the entries, and the query runs
    /// once more. A memory whose rebuild fails is not searched.
    ///
    /// # Errors
    /// Returns the error of `ask`.
    pub fn ask<T>(&mut self, ask: impl Fn(&Searchers) -> Result<T, QueryError>) -> Result<T, QueryError> {
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

    /// Replaces the searchers of projects that have newer generations. Projects are identified by their names.
    pub fn replace_projects(&mut self, newer: Vec<Arc<Searcher>>) {
        let mut searchers: Vec<Arc<Searcher>> = self.searchers.iter().cloned().collect();
        for newer in newer {
            if let Some(root) = searchers.iter_mut().find(|root| !root.is_memory() && root.name() == newer.name()) {
                *root = newer;
            }
        }
        self.searchers = Searchers::new(searchers);
    }

    /// Returns the identities of displayed chunks, for [`Memory::note_search`].
    pub fn retrieved<'k>(&self, shown: impl IntoIterator<Item = ShownChunk<'k>>) -> Vec<Retrieved> {
        let roots: Vec<_> = self.searchers.iter().collect();
        let retrieved = shown.into_iter().map(|chunk| {
            let root = roots[chunk.root_place];
            let home = root.root().map(|root| root.join(ProjectDirectory::NAME)).unwrap_or_default();
            Retrieved { home, key: root.history_key(chunk.key).to_owned() }
        });
        retrieved.collect()
    }

    /// Whether a displayed chunk comes from the index of a memory.
    pub fn is_in_memory(&self, chunk: &ShownChunk<'_>) -> bool {
        self.searchers.iter().nth(chunk.root_place).is_some_and(|root| root.is_memory())
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
                    let reason = memory.memory.repair_failed_note(&error);
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

impl MemoryRoot {
    /// Opens the memory as a root of a search; `None` if it has no entries. Adds a note if the index is not up to date.
    fn open(&self, notes: &mut Vec<String>) -> Result<Option<Arc<Searcher>>, MemoryError> {
        let MemorySearch { config, mode, rules, visibility, is_read_only } = &*self.options;
        if *is_read_only && !self.memory.is_index_current()? {
            let owner = self.memory.place().owner().as_str();
            notes.push(format!(
                "The index of the {owner}'s memory is not up to date, and this server is read-only; new entries are missing"
            ));
            return self.memory.published_searcher(config.clone(), *mode, rules, visibility);
        }
        self.memory.searcher(config.clone(), *mode, rules, visibility)
    }

    /// Opens the memory. If its index is damaged, repairs the index first, and adds a note about the repair.
    fn open_repaired(&self, notes: &mut Vec<String>) -> Result<Option<Arc<Searcher>>, MemoryError> {
        if !self.options.is_read_only {
            notes.extend(self.memory.repair_index()?.map(|problem| self.memory.repaired_note(&problem)));
        }
        self.open(notes)
    }
}

/// Formats the note about a memory that cannot be used.
pub fn unusable_note(error: &MemoryError) -> String {
    format!("A memory could not be used and was left out: {}", chain(error))
}

impl Memory {
    /// Formats the note about the repaired index of this memory.
    pub fn repaired_note(&self, problem: &str) -> String {
        let owner = self.place().owner().as_str();
        format!("the index of the {owner}'s memory was damaged ({problem}); it was rebuilt from the entries")
    }

    /// Formats the reason why this memory, which has a damaged index, cannot be searched.
    pub fn repair_failed_note(&self, error: &MemoryError) -> String {
        let owner = self.place().owner().as_str();
        format!("the index of the {owner}'s memory is damaged and cannot be rebuilt: {}", chain(error))
    }
}
