//! A search over several projects.

use std::path::Path;
use std::sync::Arc;

use aurora_query::{
    Context, Details, FilterSpec, LanguageNames, Query, QueryError, Retention, Root, RootDetails, SearchResults,
    ShownChunk, WorkBudget, check_filter, estimate_tokens, first_piece, search_all, with_languages,
};
use aurora_stages::formats::{language_by_word, language_names};

use crate::chunk_name::without_links;
use crate::highlighting;
use crate::search::{SearchRequest, Searcher};

/// Opened generations of named projects that are searched together.
#[derive(Clone)]
pub struct Searchers(Vec<NamedSearcher>);

/// An opened generation, with the name of its project.
#[derive(Clone)]
pub struct NamedSearcher {
    /// Name in requests and results.
    pub name: String,
    /// The generation.
    pub searcher: Arc<Searcher>,
    /// The rules of a memory; `None` for a project.
    pub memory: Option<Arc<dyn Retention>>,
}

impl From<Arc<Searcher>> for Searchers {
    fn from(searcher: Arc<Searcher>) -> Self {
        Self(vec![NamedSearcher::of_project(String::new(), searcher)])
    }
}

impl NamedSearcher {
    /// Creates a searcher for a generation of a project.
    pub fn of_project(name: String, searcher: Arc<Searcher>) -> Self {
        Self { name, searcher, memory: None }
    }

    /// The key under which the access history records a chunk. All pieces of a long memory entry share one key.
    pub fn noted_key<'k>(&self, key: &'k str) -> &'k str {
        if self.memory.is_some() { first_piece(key) } else { key }
    }

    fn root(&self) -> Root<'_> {
        let memory = self.memory.as_deref();
        let path = memory.is_none().then(|| self.searcher.project().root());
        Root { path, memory, ..Root::of_project(&self.name, self.searcher.retriever()) }
    }
}

impl Searchers {
    /// Creates a collection of searchers. The names must be distinct.
    pub fn new(searchers: Vec<NamedSearcher>) -> Self {
        Self(searchers)
    }

    /// Iterates over all searchers, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &NamedSearcher> {
        self.0.iter()
    }

    /// Checks a filter against the columns of all indexes, without searching.
    ///
    /// # Errors
    /// See [`check_filter`].
    pub fn check(&self, filter: &FilterSpec) -> Result<(), QueryError> {
        let roots: Vec<Root<'_>> = self.iter().map(NamedSearcher::root).collect();
        check_filter(&roots, &as_indexed(&roots, filter)?)
    }

    /// Answers a request. `now` is the time for judging recency, in Unix seconds.
    ///
    /// # Errors
    /// See [`search_all`].
    pub fn search(&self, request: &SearchRequest, now: i64) -> Result<SearchResults, QueryError> {
        let roots: Vec<Root<'_>> = self.iter().map(NamedSearcher::root).collect();
        let query = Query {
            text: request.text.clone(),
            limit: request.limit,
            mode: request.mode,
            group: request.group,
            filter: as_indexed(&roots, &request.filter)?,
            now,
            content: request.content,
            facets: request.facets,
            work: request.work.clone(),
        };
        let mut found = search_all(&roots, &query)?;
        let details = Details { snippet_lines: request.snippet_lines, now, work: &request.work };
        aurora_query::complete(&self.details(), &mut found, &details)?;
        if request.highlight {
            self.highlight(&mut found, &request.work)?;
        }
        Ok(found)
    }

    /// Adds the tokens of every line of each snippet. The tokens depend on the text around the line.
    fn highlight(&self, found: &mut SearchResults, work: &WorkBudget) -> Result<(), QueryError> {
        for hit in found.hits.iter_mut().filter(|hit| !hit.snippet.is_empty()) {
            work.check()?;
            let snapshot = self.0[hit.root_place].searcher.snapshot();
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
    /// If an index cannot be read, or the request was cancelled.
    pub fn packed(&self, found: &SearchResults, budget: usize, work: &WorkBudget) -> Result<Context, QueryError> {
        aurora_query::packed(&self.details(), found, budget, work)
    }

    /// Packs the texts of results, best first, into `budget` tokens, measured in the form that `render` writes.
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

    fn details(&self) -> Vec<RootDetails<'_>> {
        let details = |root| {
            let NamedSearcher { name, searcher, memory }: &NamedSearcher = root;
            RootDetails {
                name,
                is_memory: memory.is_some(),
                path: searcher.project().root(),
                snapshot: searcher.snapshot(),
            }
        };
        self.iter().map(details).collect()
    }

    /// Records the shown results, at the time `now`. A search never fails because of an error here.
    pub fn record<'k>(&self, shown: impl Iterator<Item = ShownChunk<'k>>, now: i64) {
        let shown: Vec<_> = shown.collect();
        for (place, root) in self.iter().enumerate() {
            let of_root = shown.iter().filter(|chunk| chunk.root_place == place);
            root.searcher.record(of_root.map(|chunk| root.noted_key(chunk.key)), now);
        }
    }
}

/// Converts the languages and paths of a filter to the form of the indexes.
fn as_indexed(roots: &[Root<'_>], filter: &FilterSpec) -> Result<FilterSpec, QueryError> {
    let names = LanguageNames { called: &language_by_word, all: &language_names() };
    let mut filter = with_languages(roots, filter, names)?;
    if filter.from.is_some() {
        // A path from the user may contain symbolic links. Paths of roots contain none.
        let is_below = |path: &Path| roots.iter().filter_map(|root| root.path).any(|root| path.starts_with(root));
        for path in filter.paths.iter_mut().filter(|path| Path::new(path).is_absolute() && !is_below(Path::new(path))) {
            let plain = without_links(Path::new(path)).to_str().map(str::to_owned);
            *path = plain.unwrap_or_else(|| path.clone());
        }
    }
    Ok(filter)
}
