//! A search over several projects.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use aurora_query::{
    Context, Details, FilterSpec, LanguageNames, Query, QueryError, SearchResults, Searcher, ShownChunk, WorkBudget,
    check_filter, estimate_tokens, search_all, with_languages,
};
use aurora_stages::formats::{language_by_word, language_names};

use crate::chunk_name::without_links;
use crate::highlighting;
use crate::search::SearchRequest;

/// Target of log events that contain the text of a query.
pub const QUERY_LOG: &str = "aurora::queries";

/// Searchers of several indexes that answer as one.
#[derive(Clone)]
pub struct Searchers(Vec<Arc<Searcher>>);

impl From<Arc<Searcher>> for Searchers {
    fn from(searcher: Arc<Searcher>) -> Self {
        Self(vec![searcher])
    }
}

impl Searchers {
    /// Creates a collection of searchers. The names must be distinct.
    pub fn new(searchers: Vec<Arc<Searcher>>) -> Self {
        Self(searchers)
    }

    /// Iterates over all searchers, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Arc<Searcher>> {
        self.0.iter()
    }

    fn all(&self) -> Vec<&Searcher> {
        self.0.iter().map(AsRef::as_ref).collect()
    }

    /// Checks a filter against the columns of all indexes, without searching.
    ///
    /// # Errors
    /// See [`check_filter`].
    pub fn check(&self, filter: &FilterSpec) -> Result<(), QueryError> {
        let searchers = self.all();
        check_filter(&searchers, &as_indexed(&searchers, filter)?)
    }

    /// Answers a request.
    ///
    /// # Errors
    /// See [`search_all`].
    pub fn search(&self, request: &SearchRequest) -> Result<SearchResults, QueryError> {
        let searchers = self.all();
        let query = Query { filter: as_indexed(&searchers, &request.query.filter)?, ..request.query.clone() };
        let mut found = search_all(&searchers, &query)?;
        let details = Details { snippet_lines: request.snippet_lines, now: query.now, work: &query.work };
        aurora_query::complete(&searchers, &mut found, &details)?;
        if request.highlight {
            self.highlight(&mut found, &query.work)?;
        }
        log(&found);
        Ok(found)
    }

    /// Adds the tokens of every line of each snippet. The tokens of a line depend on the lines around it, so the whole
    /// chunk is parsed.
    fn highlight(&self, found: &mut SearchResults, work: &WorkBudget) -> Result<(), QueryError> {
        for hit in found.hits.iter_mut().filter(|hit| !hit.snippet.is_empty()) {
            work.check()?;
            let snapshot = self.0[hit.root_place].snapshot();
            let Some(chunk) = snapshot.text(hit.id)? else { continue };
            let mut tokens = highlighting::tokens(&chunk.text, &hit.language);
            for line in &mut hit.snippet {
                line.tokens = tokens.get_mut(line.place).map(std::mem::take).unwrap_or_default();
            }
        }
        Ok(())
    }

    /// Packs the texts of results, best first, into `budget` tokens.
    ///
    /// # Errors
    /// Fails if an index cannot be read, or if the request was cancelled.
    pub fn packed(&self, found: &SearchResults, budget: usize, work: &WorkBudget) -> Result<Context, QueryError> {
        aurora_query::packed(&self.all(), found, budget, work)
    }

    /// Like [`Self::packed`], but the output of `render` must fit into `budget` tokens.
    ///
    /// # Errors
    /// See [`Self::packed`].
    pub fn packed_as(
        &self,
        found: &SearchResults,
        budget: usize,
        work: &WorkBudget,
        render: impl Fn(&Context) -> String,
    ) -> Result<Context, QueryError> {
        let mut room = budget;
        loop {
            let packed = Context { budget, ..self.packed(found, room, work)? };
            let excess = estimate_tokens(&render(&packed)).saturating_sub(budget);
            if excess == 0 || packed.blocks.is_empty() {
                return Ok(packed);
            }
            room = packed.tokens.saturating_sub(excess);
        }
    }

    /// Records in the access history that results were shown at the time `now`, in Unix seconds. Ignores errors.
    pub fn record<'k>(&self, shown: impl Iterator<Item = ShownChunk<'k>>, now: i64) {
        let shown: Vec<_> = shown.collect();
        for (index, searcher) in self.iter().enumerate() {
            let Ok(access) = searcher.access() else { continue };
            let in_index = shown.iter().filter(|chunk| chunk.root_place == index);
            let keys: Vec<(&str, i64)> = in_index.map(|chunk| (searcher.history_key(chunk.key), now)).collect();
            // The access history of a read-only index cannot be written, but the index can be searched.
            let _ = access.record(&keys);
        }
    }
}

/// Logs a search. The text of the query has its own target, so that it can be left out of the log.
fn log(found: &SearchResults) {
    let milliseconds = |time: Duration| time.as_secs_f64() * 1e3;
    let SearchResults { mode, hits, stages, took, phases, .. } = found;
    tracing::info!(target: QUERY_LOG, query = found.query, "search");
    tracing::info!(
        ?mode,
        results = hits.len(),
        from_keywords = stages.from_keywords,
        from_vectors = stages.from_vectors,
        ms = milliseconds(*took),
        "searched"
    );
    for (phase, time) in phases.iter() {
        tracing::debug!(phase, ms = milliseconds(time), "phase of the search");
    }
    for note in &found.notes {
        // A note may contain words of the query.
        tracing::info!(target: QUERY_LOG, "note: {note}");
    }
}

/// Converts the languages and paths of a filter to the form of the indexes.
fn as_indexed(searchers: &[&Searcher], filter: &FilterSpec) -> Result<FilterSpec, QueryError> {
    let names = LanguageNames { called: &language_by_word, all: &language_names() };
    let mut filter = with_languages(searchers, filter, names)?;
    if filter.from.is_some() {
        // A path from the user may contain symbolic links. Paths of roots contain none.
        let is_below = |path: &Path| {
            searchers.iter().filter_map(|searcher| searcher.source_directory()).any(|root| path.starts_with(root))
        };
        for path in filter.paths.iter_mut().filter(|path| Path::new(path).is_absolute() && !is_below(Path::new(path))) {
            let plain = without_links(Path::new(path)).to_str().map(str::to_owned);
            *path = plain.unwrap_or_else(|| path.clone());
        }
    }
    Ok(filter)
}
