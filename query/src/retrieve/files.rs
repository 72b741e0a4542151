//! What the file of a candidate brings: its chunks together, scored as one document.
//!
//! Keywords are counted in the postings of its chunks; vector and documentation are those that the index has of the file
//! ([`aurora_storage::FileRepresentation`]).

use std::collections::BTreeMap;
use std::ops::Range;

use aurora_analysis::LateInteraction;
use aurora_storage::{ChunkId, StorageError};

use crate::retrieve::bm25::KeywordSearch;
use crate::retrieve::searched_root::SearchedRoot;

/// Most chunks in which keywords are counted: the first ones. It bounds the work on files that are far longer than any that people
/// write.
const MOST_CHUNKS: usize = 512;

/// How well a whole file meets the query.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct FileEvidence {
    /// BM25F of all its chunks as one document; `None` where keywords are not used.
    pub(crate) bm25: Option<f32>,
    /// The same as a share of the highest score that the query allows.
    pub(crate) bm25_share: Option<f32>,
    /// Cosine of the query with the mean of the vectors of its chunks; `None` when the query or the chunks have none.
    pub(crate) cosine: Option<f32>,
    /// Late interaction of the query's tokens with those of the documentation of all its chunks; `None` where either has none.
    pub(crate) doc_words: Option<f32>,
}

/// The evidence of the files of some chunks, from the sources that are given. `vector` is that of the query, of length 1.
pub(crate) fn of_files(
    root: &SearchedRoot<'_>,
    bm25: Option<&KeywordSearch<'_>>,
    vector: Option<&[f32]>,
    mut late: Option<&mut LateInteraction<'_>>,
    candidates: impl Iterator<Item = ChunkId>,
) -> Result<Files, StorageError> {
    let snapshot = root.snapshot;
    let mut files: BTreeMap<u32, u32> = BTreeMap::new();
    for ChunkId(id) in candidates {
        let is_known = files.range(..=id).next_back().is_some_and(|(_, end)| id < *end);
        if !is_known {
            let range = snapshot.file_range(ChunkId(id))?;
            files.insert(range.start, range.end);
        }
    }
    let mut chunks = Vec::new();
    let groups = files.iter().map(|(&first, &end)| {
        let start = chunks.len();
        chunks.extend(snapshot.live().range(first..end).map(ChunkId).take(MOST_CHUNKS));
        start..chunks.len()
    });
    let groups: Vec<Range<usize>> = groups.collect();
    // Neither needs the other.
    let (scores, semantics) = root.both(
        || bm25.map(|bm25| bm25.score_files(&chunks, &groups)).transpose(),
        || -> Result<Vec<_>, StorageError> {
            let of_file = |&first: &u32| {
                let file = snapshot.representation(ChunkId(first))?;
                let cosine = vector.and_then(|vector| file.cosine(vector));
                Ok((cosine, late.as_mut().and_then(|late| late.score(file.doc_tokens()))))
            };
            files.keys().map(of_file).collect()
        },
    );
    let (scores, semantics) = (scores?, semantics?);
    let most = bm25.map_or(0.0, KeywordSearch::most_of_a_file).max(f32::MIN_POSITIVE);
    let evidence = files.into_keys().zip(semantics).enumerate().map(|(at, (first, (cosine, doc_words)))| {
        let bm25 = scores.as_ref().map(|scores| scores[at]);
        let bm25_share = bm25.map(|score| score / most);
        (first, FileEvidence { bm25, bm25_share, cosine, doc_words })
    });
    Ok(Files(evidence.collect()))
}

/// The evidence of files, in ascending order of their first ids.
pub(crate) struct Files(Vec<(u32, FileEvidence)>);

impl Files {
    /// That of the file of a chunk.
    pub(crate) fn of(&self, chunk: ChunkId) -> FileEvidence {
        let behind = self.0.partition_point(|(first, _)| *first <= chunk.0);
        behind.checked_sub(1).map(|at| self.0[at].1).unwrap_or_default()
    }
}
