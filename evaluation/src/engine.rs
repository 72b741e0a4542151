//! Asks an index the questions of a golden set.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use aurora_analysis::QueryEmbedder;
use aurora_query::{LoadedReranker, Mode, Query, QueryError, SearchConfig, Searcher};
use aurora_storage::{ChunkId, Snapshot, StorageError};
use rayon::prelude::*;

use crate::golden::Question;
use crate::metrics::{DEPTH, Found, Measured, measure};

/// An index, its embedder, and the rerankers that configurations may name. Searches neither record accesses nor use
/// recorded accesses for the ranking. Recency is measured from the day after the newest commit in the index, so that
/// the same index gives the same results on any day.
#[derive(Clone)]
pub struct Engine {
    snapshot: Snapshot,
    embedder: Option<Arc<dyn QueryEmbedder>>,
    rerankers: BTreeMap<String, LoadedReranker>,
    mode: Mode,
    now: i64,
}

/// The result of searching for one question.
#[derive(Debug, Clone)]
pub struct QuestionResult {
    /// Metrics of the results.
    pub measured: Measured,
    /// The first result, as `path:line name`.
    pub top: Option<String>,
    /// Duration of the search.
    pub took: Duration,
    /// The reason why the query could not be searched for. Such a question counts as a miss.
    pub refused: Option<String>,
}

impl Engine {
    /// Creates an engine over `snapshot`. Without an embedder, it searches by keywords only.
    ///
    /// # Errors
    /// Fails if a record of the index cannot be read.
    pub fn new(snapshot: Snapshot, embedder: Option<Arc<dyn QueryEmbedder>>, mode: Mode) -> Result<Self, StorageError> {
        let now = newest_commit(&snapshot)?.map_or(snapshot.manifest().updated, |newest| newest + 86_400);
        Ok(Self { snapshot, embedder, rerankers: BTreeMap::new(), mode, now })
    }

    /// Adds rerankers, keyed by the names that configurations use for them.
    #[must_use]
    pub fn with_rerankers(self, rerankers: BTreeMap<String, LoadedReranker>) -> Self {
        Self { rerankers, ..self }
    }

    /// Returns the generation of the index that is searched.
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }

    /// Asks one question after the other, so that no search slows down the measurement of another.
    ///
    /// # Errors
    /// Fails if the index cannot be read, or if the mode is `dense` and the index has no vectors.
    pub fn ask(&self, config: &SearchConfig, questions: &[Question]) -> Result<Vec<QuestionResult>, QueryError> {
        let searcher = self.searcher(config);
        questions.iter().map(|question| self.answer(&searcher, question)).collect()
    }

    /// Asks the questions in parallel and returns only their metrics, in the order of the questions.
    ///
    /// # Errors
    /// Same as [`Self::ask`].
    pub fn measure(&self, config: &SearchConfig, questions: &[&Question]) -> Result<Vec<Measured>, QueryError> {
        let searcher = self.searcher(config);
        let answers = questions.par_iter().map(|question| Ok(self.answer(&searcher, question)?.measured));
        answers.collect()
    }

    fn searcher(&self, config: &SearchConfig) -> Searcher {
        let searcher = Searcher::new(self.snapshot.clone(), self.embedder.clone(), config.clone());
        match config.reranker_for(self.mode).and_then(|name| self.rerankers.get(name)) {
            Some(reranker) => searcher.with_reranker(reranker.clone()),
            None => searcher,
        }
    }

    fn answer(&self, searcher: &Searcher, question: &Question) -> Result<QuestionResult, QueryError> {
        let query = Query {
            limit: DEPTH,
            mode: self.mode,
            content: !question.topics.is_empty(),
            ..Query::new(question.query.as_str(), self.now)
        };
        let begun = Instant::now();
        let found = searcher.search(&query);
        let took = begun.elapsed();
        let (hits, refused) = match found {
            Ok(found) => (found.hits, None),
            Err(error @ (QueryError::Empty | QueryError::NoTerms(_))) => (Vec::new(), Some(error.to_string())),
            Err(error) => return Err(error),
        };
        let results: Vec<Found> = hits
            .iter()
            .map(|hit| Found { file: hit.file.clone(), lines: Some((hit.line_start, hit.line_end)) })
            .collect();
        let texts = hits.iter().take(10).map(|hit| {
            [&hit.file, &hit.qualified_name, &hit.doc, &hit.text].map(|text| text.to_lowercase()).join("\n")
        });
        let topics = (!question.topics.is_empty()).then(|| {
            let texts: Vec<String> = texts.collect();
            let is_covered = |topic: &&String| texts.iter().any(|text| text.contains(&topic.to_lowercase()));
            question.topics.iter().filter(is_covered).count() as f64 / question.topics.len() as f64
        });
        let top = hits.first().map(|hit| format!("{}:{} {}", hit.file, hit.line_start, hit.qualified_name));
        Ok(QuestionResult { measured: measure(question, &results, topics), top, took, refused })
    }
}

/// Returns the time of the newest commit that any chunk of the index comes from, in Unix seconds.
fn newest_commit(snapshot: &Snapshot) -> Result<Option<i64>, StorageError> {
    let mut newest = None;
    for id in snapshot.live() {
        if let Some(chunk) = snapshot.chunk(ChunkId(id))?
            && let Some(time) = chunk.newest_commit_time()
        {
            newest = newest.max(Some(time));
        }
    }
    Ok(newest)
}
