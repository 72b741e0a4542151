//! Several projects searched as one.

use std::sync::Arc;

use aurora_query::{Context, Details, FilterSpec, Query, QueryError, Root, RootDetails, SearchResults, search_all};

use crate::highlighting;
use crate::search::{SearchRequest, Searcher};

/// Opened generations that are searched as one, each of a project with a name.
#[derive(Clone)]
pub struct Searchers(Vec<NamedSearcher>);

/// An opened generation with the name of its project.
#[derive(Clone)]
pub struct NamedSearcher {
    /// How requests and results name it.
    pub name: String,
    /// The generation.
    pub searcher: Arc<Searcher>,
}

impl From<Arc<Searcher>> for Searchers {
    fn from(searcher: Arc<Searcher>) -> Self {
        Self(vec![NamedSearcher { name: String::new(), searcher }])
    }
}

impl Searchers {
    /// Of projects whose names are different.
    pub fn new(searchers: Vec<NamedSearcher>) -> Self {
        Self(searchers)
    }

    /// All of them, in their order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &NamedSearcher> {
        self.0.iter()
    }

    /// Checks a filter against the columns of every index, without a search.
    ///
    /// # Errors
    /// As for [`Searcher::check`].
    pub fn check(&self, filter: &FilterSpec) -> Result<(), QueryError> {
        self.iter().try_for_each(|root| root.searcher.check(filter))
    }

    /// Answers a request; `now` is the time to judge recency by, in Unix seconds.
    ///
    /// # Errors
    /// As for [`search_all`].
    pub fn search(&self, request: &SearchRequest, now: i64) -> Result<SearchResults, QueryError> {
        let roots: Vec<Root<'_>> =
            self.iter().map(|root| Root { name: &root.name, retriever: root.searcher.retriever() }).collect();
        let query = Query {
            text: request.text.clone(),
            limit: request.limit,
            mode: request.mode,
            group: request.group,
            filter: request.filter.clone(),
            now,
            content: request.content,
            facets: request.facets,
        };
        let mut found = search_all(&roots, &query)?;
        let details = Details { snippet_lines: request.snippet_lines, filter: &request.filter, now };
        aurora_query::complete(&self.details(), &mut found, &details)?;
        if request.highlight {
            self.highlight(&mut found)?;
        }
        Ok(found)
    }

    /// Adds the tokens of every line of a snippet. They depend on the text around the line.
    fn highlight(&self, found: &mut SearchResults) -> Result<(), QueryError> {
        for hit in found.hits.iter_mut().filter(|hit| !hit.snippet.is_empty()) {
            let snapshot = self.0[hit.root_place].searcher.snapshot();
            let Some(chunk) = snapshot.text(hit.id)? else { continue };
            let mut tokens = highlighting::tokens(&chunk.text, &hit.language);
            for line in &mut hit.snippet {
                line.tokens = tokens.get_mut(line.place).map(std::mem::take).unwrap_or_default();
            }
        }
        Ok(())
    }

    /// The texts of results, best first, in `budget` tokens.
    ///
    /// # Errors
    /// When an index cannot be read.
    pub fn packed(&self, found: &SearchResults, budget: usize) -> Result<Context, QueryError> {
        aurora_query::packed(&self.details(), found, budget)
    }

    fn details(&self) -> Vec<RootDetails<'_>> {
        let details = |root| {
            let NamedSearcher { name, searcher }: &NamedSearcher = root;
            RootDetails { name, path: searcher.project().root(), snapshot: searcher.snapshot() }
        };
        self.iter().map(details).collect()
    }

    /// Remembers what was shown, at `now`: keys of chunks with the name of the root, where there are several. A search never fails
    /// because of it.
    pub fn record<'k>(&self, shown: impl Iterator<Item = (Option<&'k str>, &'k str)>, now: i64) {
        let shown: Vec<_> = shown.collect();
        for NamedSearcher { name, searcher } in &self.0 {
            let of_root = shown.iter().filter(|(root, _)| root.is_none_or(|root| root == name));
            searcher.record(of_root.map(|(_, key)| *key), now);
        }
    }
}
