//! A listed result.

use std::collections::BTreeMap;
use std::time::Duration;

use aurora_query::{Hit, SearchResults, TextFilter};
use aurora_storage::ChunkId;

use crate::output::{ScoreCard, results};

#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) key: String,
    pub(super) chunk: ChunkId,
    pub(super) file: String,
    pub(super) language: String,
    /// The name and lines of the result, and its score with the components.
    pub(super) card: ScoreCard,
}

/// The results of a search.
#[derive(Debug, Clone, Default)]
pub(super) struct Found {
    pub(super) rows: Vec<Row>,
    /// Notes for the user about the answer.
    pub(super) notes: Vec<String>,
    pub(super) took: Duration,
    /// Number of chunks in the index.
    pub(super) indexed: u64,
    pub(super) marks: Marks,
}

/// Terms and patterns to highlight in the texts of results.
#[derive(Debug, Clone, Default)]
pub(super) struct Marks {
    /// Terms with their weights.
    pub(super) terms: BTreeMap<String, f32>,
    pub(super) patterns: TextFilter,
}

impl Row {
    /// Returns the location of the result, such as `src/a.py:12`.
    pub(super) fn place(&self) -> String {
        match self.card.lines {
            Some((first, _)) => format!("{}:{first}", self.file),
            None => self.file.clone(),
        }
    }

    fn new(hit: &Hit, is_ranked: bool, now: i64) -> Self {
        Self {
            key: hit.key.clone(),
            chunk: hit.id,
            file: hit.file.clone(),
            language: hit.language.clone(),
            card: results::card(hit, is_ranked, now),
        }
    }
}

impl Found {
    pub(super) fn new(results: SearchResults, now: i64) -> Self {
        let is_ranked = results.stages.ranked > 0;
        let distant = results.is_distant().then(|| results::NOTHING_CLOSE.to_owned());
        Self {
            rows: results.hits.iter().map(|hit| Row::new(hit, is_ranked, now)).collect(),
            notes: distant.into_iter().chain(results.notes).collect(),
            took: results.took,
            indexed: results.stages.indexed,
            marks: Marks { terms: results.term_weights, patterns: results.patterns },
        }
    }
}
