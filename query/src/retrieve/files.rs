//! Evidence from the file of a candidate: all chunks of the file, scored as one document.
//!
//! Keywords are counted in the postings of the chunks. The vector and the documentation of a file are stored in the
//! index ([`aurora_storage::FileRepresentation`]).

use std::collections::BTreeMap;
use std::ops::Range;

use aurora_analysis::LateInteraction;
use aurora_storage::{ChunkId, StorageError};

use crate::retrieve::bm25::KeywordSearch;
use crate::retrieve::prepared_query::PreparedQuery;

/// Maximum number of chunks of a file in which keywords are counted, starting with the first. Limits the work for files
/// that are much longer than any handwritten file.
const MAX_CHUNKS: usize = 512;

/// Scores of a whole file for the query.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct FileEvidence {
    /// BM25F of all chunks of the file as one document; `None` if keywords are not used.
    pub(crate) bm25: Option<f32>,
    /// BM25F of the file as a share of the highest possible score of the query.
    pub(crate) bm25_share: Option<f32>,
    /// Cosine between the query and the mean of the vectors of the file's chunks; `None` if there is no vector.
    pub(crate) cosine: Option<f32>,
    /// Late interaction between the tokens of the query and of the documentation of the file; `None` if either has no
    /// tokens.
    pub(crate) doc_words: Option<f32>,
}

/// Returns the evidence of the files that contain `candidates`, by the first chunk of each file. `vector` is the unit
/// vector of the query. Evidence whose source is `None` is not computed.
pub(crate) fn file_evidence(
    root: &PreparedQuery<'_>,
    bm25: Option<&KeywordSearch<'_>>,
    vector: Option<&[f32]>,
    mut late: Option<&mut LateInteraction<'_>>,
    candidates: impl Iterator<Item = ChunkId>,
) -> Result<BTreeMap<u32, FileEvidence>, StorageError> {
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
        chunks.extend(snapshot.live().range(first..end).map(ChunkId).take(MAX_CHUNKS));
        start..chunks.len()
    });
    let groups: Vec<Range<usize>> = groups.collect();
    // The two computations are independent, so they can run in parallel.
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
    let most = bm25.map_or(0.0, KeywordSearch::max_file_score).max(f32::MIN_POSITIVE);
    let evidence = files.into_keys().zip(semantics).enumerate().map(|(at, (first, (cosine, doc_words)))| {
        let bm25 = scores.as_ref().map(|scores| scores[at]);
        let bm25_share = bm25.map(|score| score / most);
        (first, FileEvidence { bm25, bm25_share, cosine, doc_words })
    });
    Ok(evidence.collect())
}
