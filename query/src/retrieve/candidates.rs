//! Stage 1: the chunks worth ranking, from keywords, vectors and exact names.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use aurora_analysis::LateInteraction;
use aurora_storage::{ArchivedMetaValue, ChunkId, ChunkRecord, Label, Snapshot, StorageError};
use roaring::RoaringBitmap;

use crate::query::Mode;
use crate::retrieve::bm25::KeywordSearch;
use crate::retrieve::files::{self, FileEvidence};
use crate::retrieve::identifier::{ChunkName, ExactMatch, IdentifierQuery};
use crate::retrieve::query_vector::{QueryVector, cosine};
use crate::understand::ParsedQuery;

/// Most definitions of one name that become candidates; a more frequent name is not selective.
const MOST_DEFINITIONS: u64 = 32;

/// Of more chunks with the name that a query is, none is read to see whether it is a declaration only.
const MOST_DECLARATIONS: usize = 64;

/// A chunk that may become a hit, with what stage 1 knows about it.
pub(crate) struct Candidate<'s> {
    pub(crate) id: ChunkId,
    pub(crate) chunk: ChunkRecord<'s>,
    /// Its key.
    pub(crate) key: Cow<'s, str>,
    /// Raw BM25F; 0 without a match.
    pub(crate) bm25: f32,
    /// Cosine with the query; `None` when the chunk or the query has no vector.
    pub(crate) cosine: Option<f32>,
    /// Late interaction of the query's tokens with those of the code; `None` where either has none.
    pub(crate) words: Option<f32>,
    /// The same with those of the documentation; what the code says where there is none.
    pub(crate) doc_words: Option<f32>,
    /// What its file brings.
    pub(crate) file: FileEvidence,
    /// Set when the chunk's name is the query.
    pub(crate) exact: Option<ExactMatch>,
}

/// What stage 1 found.
pub(crate) struct Candidates<'s> {
    /// Sorted by key, so that nothing later depends on the order of insertion into the index.
    pub(crate) list: Vec<Candidate<'s>>,
    /// Chunks that the keywords brought in.
    pub(crate) from_keywords: usize,
    /// Chunks that the vectors brought in.
    pub(crate) from_vectors: usize,
}

/// Most candidates of each kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CandidateLimits {
    pub(crate) by_keywords: usize,
    pub(crate) by_vectors: usize,
}

/// Collects the candidates of a query: the best by keywords and by vectors as `mode` asks, all chunks whose name is
/// the query, and definitions of identifiers that the query mentions.
pub(crate) fn collect<'s>(
    snapshot: &'s Snapshot,
    bm25: &KeywordSearch<'s>,
    semantics: &QueryVector,
    mut late: Option<LateInteraction<'_>>,
    query: (&str, &ParsedQuery),
    (mode, most): (Mode, CandidateLimits),
    filter: Option<&RoaringBitmap>,
) -> Result<Candidates<'s>, StorageError> {
    let by_keywords = || if mode == Mode::Dense { Ok(Vec::new()) } else { bm25.top(most.by_keywords, filter) };
    let (keywords, near) = match semantics.vector() {
        // Neither needs the other.
        Some(vector) if mode != Mode::Sparse => {
            rayon::join(by_keywords, || snapshot.nearest(vector, most.by_vectors, filter))
        }
        _ => (by_keywords(), Ok(Vec::new())),
    };
    let (keywords, near) = (keywords?, near?);
    let identifier = IdentifierQuery::new(query.0);
    let exact = exact_matches(snapshot, &identifier, filter)?;
    let mentioned = mentioned_definitions(snapshot, query.1, filter)?;

    let (from_keywords, from_vectors) = (keywords.len(), near.len());
    let mut found: BTreeMap<ChunkId, f32> = keywords.into_iter().collect();
    let others = near.iter().map(|(id, _)| id).chain(exact.iter().map(|(id, _)| id)).chain(&mentioned);
    let others: BTreeSet<ChunkId> = others.copied().filter(|id| !found.contains_key(id)).collect();
    let others: Vec<ChunkId> = others.into_iter().collect();
    found.extend(others.iter().copied().zip(bm25.score(&others)?));
    let vector = semantics.vector().filter(|_| mode != Mode::Sparse);
    let keywords = (mode != Mode::Dense).then_some(bm25);
    let files = files::of_files(snapshot, keywords, vector, late.as_mut(), found.keys().copied())?;
    let mut list = Vec::with_capacity(found.len());
    for (id, score) in found {
        let Some(chunk) = snapshot.chunk(id)? else { continue };
        let cosine = vector.map(|query| cosine(snapshot, id, query)).transpose()?.flatten();
        let exact = exact.iter().find(|(exact, _)| *exact == id).map(|(_, found)| found.clone());
        let words = late.as_mut().and_then(|late| late.score(chunk.code_tokens()));
        let doc_words = late.as_mut().and_then(|late| late.score(chunk.doc_tokens()));
        let key = chunk.key();
        let doc_words = doc_words.or(words);
        list.push(Candidate { id, chunk, key, bm25: score, cosine, words, doc_words, file: files.of(id), exact });
    }
    list.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    Ok(Candidates { list, from_keywords, from_vectors })
}

/// The names of a chunk.
pub(crate) fn chunk_name(chunk: ChunkRecord<'_>) -> ChunkName<'_> {
    ChunkName {
        name: chunk.name(),
        qualified_name: chunk.qualified_name(),
        chunk_type: chunk.chunk_type(),
        exported: chunk.exported(),
        path: chunk.path(),
        line_start: chunk.line_start(),
        is_generated: chunk
            .metadata()
            .any(|(name, value)| name == "generated" && matches!(value, ArchivedMetaValue::Bool(true))),
    }
}

fn exact_matches(
    snapshot: &Snapshot,
    identifier: &IdentifierQuery,
    filter: Option<&RoaringBitmap>,
) -> Result<Vec<(ChunkId, ExactMatch)>, StorageError> {
    let mut ids = RoaringBitmap::new();
    for name in identifier.lookups() {
        ids |= within(snapshot.label(Label::Defines(&name))?, filter);
    }
    let (mut matches, mut inside) = (Vec::new(), Vec::new());
    for id in ids.into_iter().map(ChunkId) {
        let Some(chunk) = snapshot.chunk(id)? else { continue };
        let name = chunk_name(chunk);
        if let Some(found) = identifier.matches(name) {
            matches.push((id, found.with_key(chunk.key())));
        } else if let Some(found) = identifier.matches_inside(name, chunk.definitions()) {
            inside.push((id, found.with_key(chunk.key())));
        }
    }
    // Definitions inside of a chunk count only where no chunk of code has the name itself; they rank before headings and
    // before names in another case.
    if matches.is_empty() {
        return Ok(inside);
    }
    note_declarations(snapshot, &mut matches)?;
    if !matches.iter().any(|(_, found)| found.is_code_as_written()) {
        inside.retain(|(_, found)| found.is_code_as_written() && !found.is_side_code());
        matches.append(&mut inside);
    }
    Ok(matches)
}

/// Notes which functions of several with a name are declared only. Of very many, none is.
fn note_declarations(snapshot: &Snapshot, matches: &mut [(ChunkId, ExactMatch)]) -> Result<(), StorageError> {
    if !(2..=MOST_DECLARATIONS).contains(&matches.len()) {
        return Ok(());
    }
    for (id, found) in matches.iter_mut().filter(|(_, found)| found.is_function()) {
        if let Some(text) = snapshot.text(*id)? {
            *found = found.clone().with_text(&text.text);
        }
    }
    Ok(())
}

/// Chunks that define an identifier which is a word of a longer query.
fn mentioned_definitions(
    snapshot: &Snapshot,
    query: &ParsedQuery,
    filter: Option<&RoaringBitmap>,
) -> Result<Vec<ChunkId>, StorageError> {
    let mut ids = Vec::new();
    if query.words.len() < 2 {
        return Ok(ids);
    }
    for word in query.words.iter().filter(|word| word.compound) {
        for name in IdentifierQuery::new(&word.text).lookups() {
            let defined = within(snapshot.label(Label::Defines(&name))?, filter);
            if defined.len() <= MOST_DEFINITIONS {
                ids.extend(defined.into_iter().map(ChunkId));
            }
        }
    }
    Ok(ids)
}

fn within(chunks: RoaringBitmap, filter: Option<&RoaringBitmap>) -> RoaringBitmap {
    match filter {
        Some(filter) => chunks & filter,
        None => chunks,
    }
}
