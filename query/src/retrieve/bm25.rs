//! Keyword scores: the terms of a query with their posting lists and weights.
//!
//! The index, BM25F and MaxScore are in [`aurora_inverted`]. This module turns a parsed query into weighted posting
//! lists.

use std::ops::Range;
use std::sync::Arc;

use aurora_inverted::{
    Bm25Config, FieldScorer, GroupScorer, SearchedIndex, WeightedPostings, idf, score, top_k_of_all,
};
use aurora_storage::{ChunkId, Field, Snapshot, StorageError};
use roaring::{MultiOps, RoaringBitmap};

use crate::corpus::Corpus;
use crate::understand::{ExtraTerm, ParsedQuery};

/// A term to search for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightedTerm<'t> {
    /// The term as the analyzer returns it.
    pub text: &'t str,
    /// The factor of the inverse document frequency: the term's frequency in the query times its weight. Not negative.
    pub weight: f32,
}

/// The terms of a query that a chunk contains, as positions. The query's own terms precede the additional terms.
#[derive(Debug, Clone, Default)]
pub(crate) struct MatchedTerms {
    /// All matched terms.
    pub(crate) positions: Vec<usize>,
    /// Matched terms that occur in the text of custom columns.
    pub(crate) in_columns: Vec<usize>,
}

/// The terms of a query with their postings in one index, weighted by the statistics of all indexes of the search.
pub(crate) struct KeywordSearch<'s> {
    snapshot: &'s Snapshot,
    scorers: Arc<Scorers>,
    lists: Vec<WeightedPostings<'s>>,
    /// Inverse document frequency of each term; `None` if no chunk contains the term.
    term_idfs: Vec<Option<f32>>,
}

/// The scorers of all indexes of a search.
struct Scorers {
    fields: FieldScorer,
    files: GroupScorer,
}

/// Returns the `k` best chunks for a list of terms, best first. Chunks with equal scores are ordered by key. Scores are
/// BM25F, summed in the order of `terms`. Only chunks in `filter` are returned, but statistics cover the whole index.
///
/// # Errors
/// Fails if the index cannot be read.
pub fn best_chunks(
    snapshot: &Snapshot,
    config: &Bm25Config,
    terms: &[WeightedTerm<'_>],
    k: usize,
    filter: Option<&RoaringBitmap>,
) -> Result<Vec<(ChunkId, f32)>, StorageError> {
    let filter = filter.map(|filter| filter & snapshot.live());
    let searches = KeywordSearch::for_terms(&Corpus::new([snapshot]), config, terms.iter().copied())?;
    let mut best = KeywordSearch::top(searches.iter().map(|search| (search, filter.as_ref())), k)?;
    Ok(best.pop().unwrap_or_default())
}

impl<'s> KeywordSearch<'s> {
    /// Looks up the postings of `query` in each index of `corpus`.
    pub(crate) fn new(
        corpus: &Corpus<'s>,
        config: &Bm25Config,
        query: &ParsedQuery,
    ) -> Result<Vec<Self>, StorageError> {
        let own = query.terms.iter().map(|term| (term.text.as_str(), term.weight * term.count as f32));
        let of = |extra: &ExtraTerm| query.terms[extra.of].count as f32;
        let extras = query.extras.iter().map(|extra| (extra.text.as_str(), extra.weight * of(extra)));
        let terms = own.chain(extras).map(|(text, weight)| WeightedTerm { text, weight });
        let mut searches = Self::for_terms(corpus, config, terms)?;
        for search in &mut searches {
            search.bound_extras(query, corpus.chunks());
        }
        Ok(searches)
    }

    /// Limits the weight of an additional term to the weight of the query's term from which it is derived.
    fn bound_extras(&mut self, query: &ParsedQuery, total: u64) {
        for (at, extra) in query.extras.iter().enumerate() {
            let most = self.term_idfs[extra.of].unwrap_or_else(|| idf(total, 0));
            let at = query.terms.len() + at;
            if let Some(own) = self.term_idfs[at].filter(|own| *own > most) {
                self.lists[at].factor *= most / own;
                self.term_idfs[at] = Some(most);
            }
        }
    }

    /// Looks up the postings of `terms` in each index of `corpus`.
    pub(crate) fn for_terms<'t>(
        corpus: &Corpus<'s>,
        config: &Bm25Config,
        terms: impl Iterator<Item = WeightedTerm<'t>>,
    ) -> Result<Vec<Self>, StorageError> {
        let (total, totals) = (corpus.chunks(), corpus.field_totals());
        let scorers = Arc::new(Scorers {
            fields: FieldScorer::new(config, total, totals),
            files: GroupScorer::new(config, corpus.files(), totals),
        });
        let empty = |&snapshot: &&'s Snapshot| Self {
            snapshot,
            scorers: Arc::clone(&scorers),
            lists: Vec::new(),
            term_idfs: Vec::new(),
        };
        let mut searches: Vec<Self> = corpus.snapshots().iter().map(empty).collect();
        for term in terms {
            let postings = corpus.snapshots().iter().map(|snapshot| snapshot.postings(term.text));
            let postings = postings.collect::<Result<Vec<_>, _>>()?;
            let frequency = postings.iter().map(|postings| u64::from(postings.doc_frequency())).sum();
            let idf = idf(total, frequency);
            for (search, postings) in searches.iter_mut().zip(postings) {
                search.lists.push(WeightedPostings { postings, factor: term.weight * idf });
                search.term_idfs.push((frequency > 0).then_some(idf));
            }
        }
        Ok(searches)
    }

    /// Inverse document frequency of each term; `None` if no chunk of any index contains the term.
    pub(crate) fn term_idfs(&self) -> &[Option<f32>] {
        &self.term_idfs
    }

    /// Returns whether a chunk of this index contains the term at a position.
    pub(crate) fn contains(&self, position: usize) -> bool {
        self.lists[position].postings.doc_frequency() > 0
    }

    /// Finds the `k` best chunks of all indexes, and returns them by index, best first. Only chunks in the filter of
    /// their index are returned; all of them must be live. Chunks with equal scores are ordered by key.
    pub(crate) fn top<'a>(
        searches: impl Iterator<Item = (&'a Self, Option<&'a RoaringBitmap>)>,
        k: usize,
    ) -> Result<Vec<Vec<(ChunkId, f32)>>, StorageError>
    where
        's: 'a,
    {
        let mut scorers = None;
        let index = |(search, filter): (&'a Self, Option<&'a RoaringBitmap>)| {
            scorers.get_or_insert(&search.scorers);
            SearchedIndex { lists: &search.lists, collection: search.snapshot, filter }
        };
        let indexes: Vec<_> = searches.map(index).collect();
        scorers.map_or_else(|| Ok(Vec::new()), |scorers| top_k_of_all(&indexes, &scorers.fields, k))
    }

    /// Returns the scores of the given live chunks, bit-equal to [`Self::top`]. Fastest for chunks in ascending order.
    pub(crate) fn score(&self, chunks: &[ChunkId]) -> Result<Vec<f32>, StorageError> {
        score(&self.lists, &self.scorers.fields, self.snapshot, chunks)
    }

    /// Returns the scores of files. Each file consists of the chunks in one of `groups`; see [`GroupScorer::score`].
    pub(crate) fn score_files(&self, chunks: &[ChunkId], groups: &[Range<usize>]) -> Result<Vec<f32>, StorageError> {
        self.scorers.files.score(&self.lists, self.snapshot, chunks, groups)
    }

    /// Returns the highest score that a file can reach.
    pub(crate) fn max_file_score(&self) -> f32 {
        self.scorers.files.most(&self.lists)
    }

    /// Returns the chunks that contain at least one of the terms, among the chunks in `filter` (`None` for all).
    pub(crate) fn matching_chunks(&self, filter: Option<&RoaringBitmap>) -> RoaringBitmap {
        let any = self.lists.iter().map(|list| list.postings.docs()).union();
        match filter {
            Some(filter) => any & filter,
            None => any,
        }
    }

    /// Returns the terms of the query that a chunk contains.
    pub(crate) fn matched(&self, id: ChunkId) -> MatchedTerms {
        let mut matched = MatchedTerms::default();
        for (position, list) in self.lists.iter().enumerate() {
            let Some(frequencies) = list.postings.find(id) else { continue };
            matched.positions.push(position);
            if frequencies[Field::Custom.index()] > 0 {
                matched.in_columns.push(position);
            }
        }
        matched
    }
}

#[cfg(test)]
mod tests {
    use aurora_inverted::{FIELDS, GROUPING};

    use crate::config::SearchConfig;

    /// The impact bounds in an index are valid for all weights, but they are tight only for weights near [`GROUPING`],
    /// by which the format groups postings. If this test fails, measure queries with `cargo xtask bench query`: the
    /// results may justify another grouping, which requires a new format.
    #[test]
    fn default_weights_are_near_the_weights_of_the_grouping_of_postings() {
        let config = SearchConfig::default().bm25;
        let is_near = |a: f32, b: f32| a <= 2.0 * b && b <= 2.0 * a;
        let body = FIELDS - 1;
        for field in 0..FIELDS {
            // Only the ratios between fields matter.
            let search = config.fields[field] / config.fields[body];
            let format = GROUPING.weights[field] / GROUPING.weights[body];
            assert!(is_near(search, format), "field {field}: {search} and {format}");
        }
        assert!(is_near(config.b, GROUPING.b), "b: {} and {}", config.b, GROUPING.b);
    }
}
