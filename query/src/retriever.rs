//! One generation of an index, ready to be searched.

use std::path::Path;
use std::sync::{Arc, OnceLock};

use aurora_analysis::{Analyzer, QueryEmbedder, Reranker, StaticModel};
use aurora_storage::{AccessLog, AccessRecord, Annotations, ColumnDeclaration, Snapshot, StorageError};

use crate::config::SearchConfig;
use crate::filter::FilteredIndex;
use crate::memory::Retention;
use crate::present::FacetIndex;
use crate::query::Mode;
use crate::rank::{Boosts, KnownLabels, Reranking};

/// The reranker that a configuration names, or why it cannot be used.
pub type LoadedReranker = Result<Arc<dyn Reranker>, String>;

/// Answers queries over one generation of an index. Open it once, search many times.
pub struct Retriever {
    snapshot: Snapshot,
    embedder: Option<Arc<dyn QueryEmbedder>>,
    /// The model whose tokens the index holds, to compare queries with them word by word.
    tokens: Option<Arc<StaticModel>>,
    /// The reranking model, or the reason why it cannot be used.
    reranker: LoadedReranker,
    config: SearchConfig,
    boosts: Boosts,
    known: KnownLabels,
    analyzer: Analyzer,
    /// What was shown and judged before; without it, results are ranked as if nothing had been.
    access: Option<Arc<AccessLog>>,
    /// Tags that users have given to chunks.
    annotations: Option<Arc<Annotations>>,
    /// Notes of every answer.
    notes: Vec<String>,
    /// Names of the stages whose programs have changed since the index was made.
    changed_stages: Vec<String>,
    /// Names of the stages whose programs are not allowed.
    refused_stages: Vec<String>,
    /// Made at the first search that asks for facets.
    facets: OnceLock<FacetIndex>,
}

/// One of several indexes that are searched as one.
#[derive(Clone, Copy)]
pub struct Root<'a> {
    /// How users call it; no two roots of a search have the same name.
    pub name: &'a str,
    /// The index.
    pub retriever: &'a Retriever,
    /// The indexed directory, against which absolute paths of a filter are resolved.
    pub path: Option<&'a Path>,
    /// What holds of an index of memories. Results do not name such a root.
    pub memory: Option<&'a dyn Retention>,
}

impl<'a> Root<'a> {
    /// A project's index.
    pub fn of_project(name: &'a str, retriever: &'a Retriever) -> Self {
        Self { name, retriever, path: None, memory: None }
    }

    /// What a filter looks at.
    pub(crate) fn filtered(&self) -> FilteredIndex<'a> {
        FilteredIndex {
            snapshot: self.retriever.snapshot(),
            root: self.path,
            annotations: self.retriever.annotations(),
            memory: self.memory,
        }
    }

    /// The name in results of a search over `roots`: where there are several projects, their names tell them apart.
    pub(crate) fn shown_name(&self, roots: &[Root<'_>]) -> Option<&'a str> {
        let is_project = |root: &&Root<'_>| root.memory.is_none();
        (self.memory.is_none() && roots.iter().filter(is_project).count() > 1).then_some(self.name)
    }
}

impl Retriever {
    /// A retriever over `snapshot`. Without an embedder, or with one of another model than the index's, searches use
    /// keywords only and say so.
    pub fn new(snapshot: Snapshot, embedder: Option<Arc<dyn QueryEmbedder>>, config: SearchConfig) -> Self {
        let tokens = embedder.as_ref().and_then(|_| StaticModel::built_in().ok());
        let indexed = snapshot.manifest().model.as_ref().map(|model| model.tokens.clone());
        let tokens = tokens.filter(|tokens| indexed.is_some_and(|id| id == tokens.id()));
        let boosts = Boosts::new(&snapshot.manifest().columns, &config.boost);
        Self {
            snapshot,
            embedder,
            tokens,
            reranker: Err("no model is loaded".to_owned()),
            config,
            boosts,
            known: KnownLabels::default(),
            analyzer: Analyzer,
            access: None,
            annotations: None,
            notes: Vec::new(),
            changed_stages: Vec::new(),
            refused_stages: Vec::new(),
            facets: OnceLock::new(),
        }
    }

    /// The same with the reranker that the configuration names. Without it, searches do without and say why.
    #[must_use]
    pub fn with_reranker(self, reranker: LoadedReranker) -> Self {
        Self { reranker, ..self }
    }

    /// The same with what was shown and judged before, which the activation of chunks heeds.
    #[must_use]
    pub fn with_access(self, access: Arc<AccessLog>) -> Self {
        Self { access: Some(access), ..self }
    }

    /// The same with the tags that users have given to chunks.
    #[must_use]
    pub fn with_annotations(self, annotations: Arc<Annotations>) -> Self {
        Self { annotations: Some(annotations), ..self }
    }

    /// The same with a note that every answer has, such as why it does without something.
    #[must_use]
    pub fn with_note(mut self, note: String) -> Self {
        self.notes.push(note);
        self
    }

    /// The same with the names of the stages whose programs have changed since the index was made. Answers that depend on columns
    /// of these stages have a note.
    #[must_use]
    pub fn with_changed_stages(self, stages: Vec<String>) -> Self {
        Self { changed_stages: stages, ..self }
    }

    /// The same with the names of the stages whose programs are not allowed, of an index that was imported. Answers that depend on
    /// columns of these stages have a note.
    #[must_use]
    pub fn with_refused_stages(self, stages: Vec<String>) -> Self {
        Self { refused_stages: stages, ..self }
    }

    /// Whether the values of a column may be out of date, because the program of its stage is not allowed.
    pub(crate) fn is_refused(&self, column: &ColumnDeclaration) -> bool {
        self.snapshot.manifest().unfinished.is_refused(&column.name) || self.refused_stages.contains(&column.stage)
    }

    /// Whether the program of a stage has changed since the index was made, as far as that is known.
    pub(crate) fn has_changed(&self, stage: &str) -> bool {
        self.changed_stages.iter().any(|changed| changed == stage)
    }

    /// The notes of every answer.
    pub(crate) fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The tags of chunks, where users have given any.
    pub(crate) fn annotations(&self) -> Option<&Annotations> {
        self.annotations.as_deref()
    }

    /// The generation that is searched.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// The configuration in use.
    pub fn config(&self) -> &SearchConfig {
        &self.config
    }

    pub(crate) fn analyzer(&self) -> &Analyzer {
        &self.analyzer
    }

    pub(crate) fn boosts(&self) -> &Boosts {
        &self.boosts
    }

    pub(crate) fn known(&self) -> &KnownLabels {
        &self.known
    }

    pub(crate) fn embedder(&self) -> Option<&dyn QueryEmbedder> {
        self.embedder.as_deref()
    }

    pub(crate) fn tokens(&self) -> Option<&StaticModel> {
        self.tokens.as_deref()
    }

    /// What was noted of chunks before, by their keys. Where the log cannot be read there is nothing, and a note says so.
    pub(crate) fn accesses(&self, keys: &[&str], notes: &mut Vec<String>) -> Vec<Option<AccessRecord>> {
        let read = self.access.as_ref().map(|log| log.get_many(keys)).transpose();
        let found = read.unwrap_or_else(|error| {
            notes.push(format!("Ranked without access history: {error}"));
            None
        });
        found.unwrap_or_else(|| vec![None; keys.len()])
    }

    /// How the best results are read; `None` if the configuration or the mode asks for no reranker, or the query is too short.
    pub(crate) fn reranking<'r>(&'r self, mode: Mode, text: &'r str) -> Option<Reranking<'r>> {
        self.config.reranker_for(mode)?;
        if text.split_whitespace().count() < self.config.rerank_words {
            return None;
        }
        let reranker = self.reranker.as_deref().map_err(String::as_str);
        Some(Reranking { reranker, text, most: self.config.rerank_results, weight: self.config.rules.rerank })
    }

    /// What facets are counted with.
    pub(crate) fn facet_index(&self) -> Result<&FacetIndex, StorageError> {
        match self.facets.get() {
            Some(index) => Ok(index),
            None => {
                // Another thread may do the same meanwhile; both find the same.
                let index = FacetIndex::new(&self.snapshot)?;
                Ok(self.facets.get_or_init(|| index))
            }
        }
    }
}
