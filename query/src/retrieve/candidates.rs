//! Collects the chunks to rank, from keywords, vectors and exact names.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use aurora_analysis::LateInteraction;
use aurora_storage::{ChunkId, ChunkRecord, Label, Snapshot, StorageError, Threads};
use roaring::RoaringBitmap;

use crate::config::HybridConfig;
use crate::phases::{Phases, Stopwatch};
use crate::query::{Mode, QueryError};
use crate::retrieve::bm25::KeywordSearch;
use crate::retrieve::direct::{DirectMatch, direct_matches};
use crate::retrieve::files::{self, FileEvidence};
use crate::retrieve::identifier::IdentifierQuery;
use crate::retrieve::prepared_query::{PreparedQuery, both, terms_of};
use crate::retrieve::query_vector::cosine;
use crate::understand::{ParsedQuery, Subject};
use crate::work::WorkBudget;

/// Maximum number of definitions of one name that become candidates; a more frequent name is not selective.
const MAX_DEFINITIONS: u64 = 32;

/// A chunk that may become a hit, with the evidence from the retrieval.
pub(crate) struct Candidate<'s> {
    /// Position of the chunk's index among the indexes of the search.
    pub(crate) root: usize,
    pub(crate) id: ChunkId,
    pub(crate) chunk: ChunkRecord<'s>,
    /// The key of the chunk.
    pub(crate) key: Cow<'s, str>,
    /// Raw BM25F; 0 without a match.
    pub(crate) bm25: f32,
    /// Cosine between chunk and query; `None` if either has no vector.
    pub(crate) cosine: Option<f32>,
    /// Late interaction between the tokens of the query and of the code; `None` if either has no tokens.
    pub(crate) words: Option<f32>,
    /// Late interaction with the tokens of the documentation, or with the code if the chunk has no documentation.
    pub(crate) doc_words: Option<f32>,
    /// Evidence of the chunk's file.
    pub(crate) file: FileEvidence,
    /// The direct match that ranks the chunk above chunks without a direct match.
    pub(crate) direct: Option<DirectMatch>,
}

/// The result of the retrieval.
pub(crate) struct Candidates<'s> {
    /// The candidates, sorted by key and index, so that later steps do not depend on the order of insertion into an
    /// index.
    pub(crate) list: Vec<Candidate<'s>>,
    /// Number of chunks that the keyword search found.
    pub(crate) from_keywords: usize,
    /// Number of chunks that the vector search found.
    pub(crate) from_vectors: usize,
    /// Durations of the keyword search, the vector search, and the collection of evidence.
    pub(crate) phases: Phases,
    /// Duration of the whole retrieval.
    pub(crate) elapsed: Duration,
}

/// Maximum number of candidates from each kind of search.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CandidateLimits {
    by_keywords: usize,
    by_vectors: usize,
}

impl CandidateLimits {
    /// Returns the configured limits, but at least the maximum number of results.
    pub(crate) fn new(config: &HybridConfig, limit: usize) -> Self {
        Self { by_keywords: config.stage1_top_k.max(limit), by_vectors: config.dense_top_k.max(limit) }
    }
}

/// Collects the candidates of a query: the best chunks of all indexes by keywords and by vectors, depending on `mode`,
/// all direct matches, and definitions of identifiers that the query mentions. Does not set the evidence of files.
pub(crate) fn collect<'s>(
    roots: &[PreparedQuery<'s>],
    late: &mut Option<LateInteraction<'_>>,
    query: (&str, &ParsedQuery),
    (mode, most): (Mode, CandidateLimits),
    work: &WorkBudget,
) -> Result<Candidates<'s>, QueryError> {
    let (mut phases, mut watch) = (Phases::default(), Stopwatch::start());
    let (keywords, near) = find_best(roots, mode, most, &mut phases)?;
    let mut elapsed = watch.lap();
    work.check()?;
    let (from_keywords, from_vectors) = (keywords.iter().map(Vec::len).sum(), near.iter().map(Vec::len).sum());
    let subject = Subject::parse(query.0);
    let direct = direct_matches(roots, (query.0, subject), mode != Mode::Dense, work)?;
    let mut list = Vec::with_capacity(from_keywords + from_vectors);
    let mentioned = mentioned_definitions(roots, query.1, work)?;
    let best = keywords.into_iter().zip(near);
    for (at, (((root, best), direct), mentioned)) in roots.iter().zip(best).zip(direct).zip(mentioned).enumerate() {
        let late = late.as_mut().filter(|_| root.has_tokens);
        list.extend(with_evidence((at, root), best, (direct, mentioned), late, mode, work)?);
    }
    list.sort_unstable_by(|a: &Candidate<'_>, b| a.key.cmp(&b.key).then(a.root.cmp(&b.root)));
    phases.candidates = watch.lap();
    elapsed += phases.candidates;
    Ok(Candidates { list, from_keywords, from_vectors, phases, elapsed })
}

/// Chunks of one index with their scores, best first.
type Best = Vec<(ChunkId, f32)>;

/// Finds the best chunks of all indexes by keywords and by vectors, and returns them by index. Sets the durations
/// of both searches in `phases`.
fn find_best(
    roots: &[PreparedQuery<'_>],
    mode: Mode,
    most: CandidateLimits,
    phases: &mut Phases,
) -> Result<(Vec<Best>, Vec<Best>), StorageError> {
    let none = || vec![Vec::new(); roots.len()];
    let by_keywords = || {
        let mut watch = Stopwatch::start();
        let searches = roots.iter().map(|root| (&root.bm25, root.filter.as_ref()));
        let found = if mode == Mode::Dense { Ok(none()) } else { KeywordSearch::top(searches, most.by_keywords) };
        (found, watch.lap())
    };
    let threads = roots.first().map_or(Threads::One, |root| root.threads);
    let by_vectors = || {
        let mut watch = Stopwatch::start();
        (near(roots, most.by_vectors, threads), watch.lap())
    };
    let ((keywords, by_keywords), (near, by_vectors)) = if mode == Mode::Sparse {
        (by_keywords(), (Ok(none()), Duration::ZERO))
    } else {
        // The two searches are independent, so they can run in parallel.
        both(threads, by_keywords, by_vectors)
    };
    (phases.keywords, phases.vectors) = (by_keywords, by_vectors);
    Ok((keywords?, near?))
}

/// Finds the `k` chunks with the nearest vectors, and returns them by index.
fn near(roots: &[PreparedQuery<'_>], k: usize, threads: Threads) -> Result<Vec<Best>, StorageError> {
    let mut found = vec![Vec::new(); roots.len()];
    // All indexes with a query vector have the same one.
    let with_vectors = roots.iter().enumerate().filter(|(_, root)| root.vector.is_ok());
    let (places, searched): (Vec<usize>, Vec<_>) =
        with_vectors.map(|(at, root)| (at, (root.snapshot, root.filter.as_ref()))).unzip();
    if let Some(vector) = places.first().and_then(|&first| roots[first].vector.as_ref().ok()) {
        let near = Snapshot::nearest_of_all(&searched, vector, k, threads)?;
        places.into_iter().zip(near).for_each(|(at, near)| found[at] = near);
    }
    Ok(found)
}

/// Returns the candidates of one index with their evidence, except for the evidence of their files.
fn with_evidence<'s>(
    (at, root): (usize, &PreparedQuery<'s>),
    (keywords, near): (Best, Best),
    (mut direct, mentioned): (BTreeMap<ChunkId, DirectMatch>, Vec<ChunkId>),
    mut late: Option<&mut LateInteraction<'_>>,
    mode: Mode,
    work: &WorkBudget,
) -> Result<Vec<Candidate<'s>>, QueryError> {
    let snapshot = root.snapshot;
    let mut found: BTreeMap<ChunkId, f32> = keywords.into_iter().collect();
    let others = near.iter().map(|(id, _)| id).chain(direct.keys()).chain(&mentioned);
    let others: BTreeSet<ChunkId> = others.copied().filter(|id| !found.contains_key(id)).collect();
    let others: Vec<ChunkId> = others.into_iter().collect();
    found.extend(others.iter().copied().zip(root.bm25.score(&others)?));
    let vector = root.vector.as_deref().ok().filter(|_| mode != Mode::Sparse);
    let mut list = Vec::with_capacity(found.len());
    for (id, score) in found {
        work.check()?;
        let Some(chunk) = snapshot.chunk(id)? else { continue };
        let cosine = vector.map(|query| cosine(snapshot, id, query)).transpose()?.flatten();
        let direct = direct.remove(&id);
        let words = late.as_mut().and_then(|late| late.score(chunk.code_tokens()));
        let doc_words = late.as_mut().and_then(|late| late.score(chunk.doc_tokens()));
        let key = chunk.key();
        let doc_words = doc_words.or(words);
        let file = FileEvidence::default();
        list.push(Candidate { root: at, id, chunk, key, bm25: score, cosine, words, doc_words, file, direct });
    }
    Ok(list)
}

/// Sets the evidence of the files of candidates.
pub(crate) fn add_files(
    roots: &[PreparedQuery<'_>],
    list: &mut [Candidate<'_>],
    late: &mut Option<LateInteraction<'_>>,
    mode: Mode,
) -> Result<(), StorageError> {
    for (at, root) in roots.iter().enumerate() {
        let of_root = list.iter().filter(|candidate| candidate.root == at).map(|candidate| candidate.id);
        let ids: BTreeSet<ChunkId> = of_root.collect();
        let vector = root.vector.as_deref().ok().filter(|_| mode != Mode::Sparse);
        let keywords = (mode != Mode::Dense).then_some(&root.bm25);
        let late = late.as_mut().filter(|_| root.has_tokens);
        let files = files::file_evidence(root, keywords, vector, late, ids.into_iter())?;
        for candidate in list.iter_mut().filter(|candidate| candidate.root == at) {
            let evidence = files.range(..=candidate.id.0).next_back();
            candidate.file = evidence.map(|(_, evidence)| *evidence).unwrap_or_default();
        }
    }
    Ok(())
}

/// Returns for each index the chunks that define an identifier in a query of several words.
fn mentioned_definitions(
    roots: &[PreparedQuery<'_>],
    query: &ParsedQuery,
    work: &WorkBudget,
) -> Result<Vec<Vec<ChunkId>>, QueryError> {
    let mut ids = vec![Vec::new(); roots.len()];
    if query.words.len() < 2 {
        return Ok(ids);
    }
    for word in query.words.iter().filter(|word| word.compound) {
        work.check()?;
        for name in IdentifierQuery::new(&word.text).lookups() {
            let defined = roots.iter().map(|root| Ok(root.within(root.snapshot.label(Label::Defines(&name))?)));
            let defined = defined.collect::<Result<Vec<_>, StorageError>>()?;
            if defined.iter().map(RoaringBitmap::len).sum::<u64>() <= MAX_DEFINITIONS {
                ids.iter_mut().zip(defined).for_each(|(ids, defined)| ids.extend(defined.into_iter().map(ChunkId)));
            }
        }
    }
    Ok(ids)
}

/// Returns a note if the subject of the query is an identifier that no chunk contains.
///
/// # Errors
/// Fails if an index cannot be read.
pub(crate) fn missing_subject(
    roots: &[PreparedQuery<'_>],
    candidates: &[Candidate<'_>],
    subject: Subject<'_>,
) -> Result<Option<String>, StorageError> {
    let is_found = |candidate: &Candidate<'_>| {
        let direct = candidate.direct.as_ref();
        direct.is_some_and(|direct| !matches!(direct, DirectMatch::Variant(_) | DirectMatch::ContainsMember))
    };
    if !subject.is_identifier() || candidates.iter().any(is_found) {
        return Ok(None);
    }
    let terms = terms_of(subject.text);
    for root in roots {
        if !root.with_all(&terms)?.is_empty() {
            return Ok(None);
        }
    }
    Ok(Some(format!("No chunk contains \"{}\"; results have its parts, or variants of it", subject.text)))
}
