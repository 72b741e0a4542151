//! One generation of an index, ready to be searched.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use aurora_analysis::{QueryEmbedder, Reranker, StaticModel};
use aurora_storage::{AccessLog, AccessRecord, Annotations, CacheCounts, ColumnDeclaration, Snapshot, StorageError};

use crate::config::SearchConfig;
use crate::facet_index::FacetIndex;
use crate::filter::FilteredIndex;
use crate::memory::Retention;
use crate::query::Mode;
use crate::rank::{Boosts, LabelCache, Reranking, first_piece};

/// The reranker that the configuration names, or the reason why it is unavailable.
pub type LoadedReranker = Result<Arc<dyn Reranker>, String>;

/// Answers queries over one generation of an index. Open it once, search many times. Clones share caches.
#[derive(Clone)]
pub struct Searcher {
    /// The name that users see, unique among the searchers of a search.
    name: String,
    /// The indexed directory. Absolute paths in a filter are resolved against this directory.
    root: Option<PathBuf>,
    /// The rules of visibility and ageing, for the index of a memory; `None` for a project. Results show the names of
    /// projects, but not of memories.
    pub(crate) memory: Option<Arc<dyn Retention>>,
    snapshot: Snapshot,
    pub(crate) embedder: Option<Arc<dyn QueryEmbedder>>,
    /// The model whose tokens the index stores, used to compare queries with chunks word by word.
    pub(crate) tokens: Option<Arc<StaticModel>>,
    /// The reranking model, or the reason why it is unavailable.
    reranker: LoadedReranker,
    config: SearchConfig,
    pub(crate) boosts: Arc<Boosts>,
    pub(crate) label_cache: Arc<LabelCache>,
    /// Records of shown and judged chunks, or the reason why no records are available. Without records, activation
    /// ignores earlier use.
    access: Result<Arc<AccessLog>, String>,
    /// Tags that users have given to chunks.
    pub annotations: Option<Arc<Annotations>>,
    /// Notes that every answer includes, for example the reason why a feature is unavailable.
    pub notes: Vec<String>,
    /// Names of the stages whose programs have changed since the last index run. Answers that depend on columns of these
    /// stages get a note.
    pub changed_stages: Vec<String>,
    /// Names of the stages of an imported index whose programs are not allowed. Answers that depend on columns of these
    /// stages get a note.
    pub refused_stages: Vec<String>,
    /// The index for facets, which the first search with facets builds.
    facets: Arc<OnceLock<FacetIndex>>,
}

impl Searcher {
    /// Creates a searcher over `snapshot`. Without an embedder, or if the embedder's model differs from the model of
    /// the index, searches use keywords only and add a note with the reason.
    pub fn new(snapshot: Snapshot, embedder: Option<Arc<dyn QueryEmbedder>>, config: SearchConfig) -> Self {
        let tokens = embedder.as_ref().and_then(|_| StaticModel::built_in().ok());
        let indexed = snapshot.manifest().model.as_ref().map(|model| model.tokens.clone());
        let tokens = tokens.filter(|tokens| indexed.is_some_and(|id| id == tokens.id()));
        let boosts = Boosts::new(&snapshot.manifest().columns, &config.boost);
        Self {
            name: String::new(),
            root: None,
            memory: None,
            snapshot,
            embedder,
            tokens,
            reranker: Err("no model is loaded".to_owned()),
            config,
            boosts: Arc::new(boosts),
            label_cache: Arc::default(),
            access: Err("no access history is loaded".to_owned()),
            annotations: None,
            notes: Vec::new(),
            changed_stages: Vec::new(),
            refused_stages: Vec::new(),
            facets: Arc::default(),
        }
    }

    /// Sets the reranker that the configuration names. Without a reranker, searches skip reranking and report the
    /// reason.
    #[must_use]
    pub fn with_reranker(self, reranker: LoadedReranker) -> Self {
        Self { reranker, ..self }
    }

    /// Sets the name that users see.
    #[must_use]
    pub fn with_name(self, name: impl Into<String>) -> Self {
        Self { name: name.into(), ..self }
    }

    /// Sets the indexed directory.
    #[must_use]
    pub fn with_root(self, root: impl Into<PathBuf>) -> Self {
        Self { root: Some(root.into()), ..self }
    }

    /// Marks the index as the index of a memory, and sets the rules of the memory.
    #[must_use]
    pub fn with_memory(self, rules: Arc<dyn Retention>) -> Self {
        Self { memory: Some(rules), ..self }
    }

    /// Sets the access log: the activation of chunks depends on when they were shown and how they were judged. If the
    /// log cannot be used, every answer has a note with the reason.
    #[must_use]
    pub fn with_access(mut self, access: Result<Arc<AccessLog>, String>) -> Self {
        self.notes.extend(access.as_ref().err().map(|error| format!("Ranked without access history: {error}")));
        Self { access, ..self }
    }

    /// Returns whether the values of a column may be stale because the program of its stage is not allowed.
    pub(crate) fn is_refused(&self, column: &ColumnDeclaration) -> bool {
        self.snapshot.manifest().unfinished.is_refused(&column.name) || self.refused_stages.contains(&column.stage)
    }

    /// Returns whether the caller reported that the program of a stage has changed since the last index run.
    pub(crate) fn has_changed(&self, stage: &str) -> bool {
        self.changed_stages.iter().any(|changed| changed == stage)
    }

    /// Returns how often the caches of this generation were used, with the name of each cache: `texts` are decompressed
    /// texts, and `labels` are the chunks with a name that searches have looked up.
    pub fn cache_counts(&self) -> [(&'static str, CacheCounts); 2] {
        [("texts", self.snapshot.cached_texts()), ("labels", self.label_cache.counter.counts())]
    }

    /// The name that users see; empty for the only index of a search.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name to show in the results of a search over `searchers`. `None` for a memory, and if `searchers`
    /// contains fewer than two projects, because the name only serves to tell projects apart.
    pub(crate) fn display_name(&self, searchers: &[&Self]) -> Option<&str> {
        let has_several = searchers.iter().filter(|searcher| searcher.memory.is_none()).count() > 1;
        (self.memory.is_none() && has_several).then_some(&self.name)
    }

    /// The indexed directory, if it is known.
    pub fn root(&self) -> Option<&Path> {
        self.root.as_deref()
    }

    /// The directory of the indexed files; `None` for a memory, whose chunks do not come from files.
    pub fn source_directory(&self) -> Option<&Path> {
        self.root().filter(|_| self.memory.is_none())
    }

    /// Returns the parts of the index that filters read.
    pub(crate) fn filtered(&self) -> FilteredIndex<'_> {
        FilteredIndex {
            snapshot: &self.snapshot,
            root: self.source_directory(),
            annotations: self.annotations.as_deref(),
            memory: self.memory.as_deref(),
        }
    }

    /// Returns whether the index is the index of a memory.
    pub fn is_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// The key under which the access history records a chunk. All pieces of a long entry of memory share one key.
    pub fn history_key<'k>(&self, key: &'k str) -> &'k str {
        if self.is_memory() { first_piece(key) } else { key }
    }

    /// The access history.
    ///
    /// # Errors
    /// Returns the reason why the history cannot be used.
    pub fn access(&self) -> Result<&AccessLog, &str> {
        self.access.as_deref().map_err(String::as_str)
    }

    /// The generation that is searched.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The configuration in use.
    pub fn config(&self) -> &SearchConfig {
        &self.config
    }

    /// Returns the access records of chunks by their keys. If the log cannot be read, all records are `None`, and a
    /// note reports the error.
    pub(crate) fn accesses(&self, keys: &[&str], notes: &mut Vec<String>) -> Vec<Option<AccessRecord>> {
        let read = self.access().ok().map(|log| log.get_many(keys)).transpose();
        let found = read.unwrap_or_else(|error| {
            notes.push(format!("Ranked without access history: {error}"));
            None
        });
        found.unwrap_or_else(|| vec![None; keys.len()])
    }

    /// Returns the settings for reranking the best results; `None` if the configuration names no reranker for this
    /// mode, or the query is too short.
    pub(crate) fn reranking<'r>(&'r self, mode: Mode, text: &'r str) -> Option<Reranking<'r>> {
        self.config.reranker_for(mode)?;
        if text.split_whitespace().count() < self.config.rerank_words {
            return None;
        }
        let reranker = self.reranker.as_deref().map_err(String::as_str);
        Some(Reranking { reranker, text, max_results: self.config.rerank_results, weight: self.config.rules.rerank })
    }

    /// Returns the index from which facets are counted, and builds it on the first call.
    pub(crate) fn facet_index(&self) -> Result<&FacetIndex, StorageError> {
        match self.facets.get() {
            Some(index) => Ok(index),
            None => {
                // Another thread may build the same index concurrently; both results are equal.
                let index = FacetIndex::new(&self.snapshot)?;
                Ok(self.facets.get_or_init(|| index))
            }
        }
    }
}
