//! Runs one search over one or several indexes: understand, retrieve, rank, explain, present.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use aurora_analysis::LateInteraction;
use aurora_storage::{AccessRecord, Snapshot, StorageError, Threads};
use roaring::RoaringBitmap;

use crate::column_notes::{column_notes, stage_notes};
use crate::corpus::Corpus;
use crate::filter::{Filter, FilterSpec, LanguageNames};
use crate::listing;
use crate::present::{self, SearchFacets, SearchResults, StageCounts};
use crate::query::{Mode, Query, QueryError};
use crate::rank::{self, Boosts, Passage, RankingContext, first_piece};
use crate::retrieve::bm25::KeywordSearch;
use crate::retrieve::{self, Candidate, CandidateLimits, Candidates, QueryVector, SearchedRoot, query_vectors};
use crate::retriever::{Retriever, Root};
use crate::tags::add_tags;
use crate::understand::{ParsedQuery, Subject, Understood, understand};
use crate::work::WorkBudget;

impl Retriever {
    /// Answers a query.
    ///
    /// # Errors
    /// [`QueryError`] if the query or the filter is invalid, if mode `dense` has no vectors, or if the index cannot be
    /// read.
    pub fn search(&self, query: &Query) -> Result<SearchResults, QueryError> {
        search_all(&[Root::of_project("", self)], query)
    }

    /// Returns the best passages for a query: chunks ordered by reciprocal rank fusion alone. Access history, rules and
    /// names do not affect the order, and copies are not folded. If `reranks` is true, the configured reranker reads
    /// the best passages.
    ///
    /// # Errors
    /// As for [`Retriever::search`].
    pub fn passages(
        &self,
        text: &str,
        mode: Mode,
        limit: usize,
        reranks: bool,
        work: &WorkBudget,
    ) -> Result<Vec<Passage>, QueryError> {
        passages(self, text, (mode, limit), reranks, work)
    }
}

/// Answers one query from several indexes as if they were one. The frequency of a word is its number of chunks in all
/// indexes, and all candidates are ranked in one list. The configuration and the reranker of the first index are used,
/// and the first embedder that any index has. An index whose vectors come from a different model is searched by
/// keywords only.
///
/// # Errors
/// [`QueryError`] if the query or the filter is invalid, if mode `dense` has no vectors, or if an index cannot be read.
pub fn search_all(roots: &[Root<'_>], query: &Query) -> Result<SearchResults, QueryError> {
    let (start, running) = (Instant::now(), Running::begin());
    let first = roots.first().ok_or(QueryError::NoRoot)?.retriever;
    QueryError::check_length(&query.text)?;
    let work = &query.work;
    work.check()?;
    let filter = query.filter.resolve(work)?;
    filter.check_against(&roots.iter().map(Root::filtered).collect::<Vec<_>>())?;
    if query.text.trim().is_empty() && !query.filter.is_empty() {
        return listing::list(roots, query, &filter, start);
    }
    let corpus = Corpus::new(roots.iter().map(|root| root.retriever.snapshot()));
    let Understood { parsed, text, kind, mut notes } =
        understand(&corpus, first.analyzer(), first.config(), &query.text, work)?;
    let selected = select(roots, &filter, work, &mut notes)?;
    let boosts: Vec<&Boosts> = roots.iter().map(|root| root.retriever.boosts()).collect();
    notes.extend(boosts.iter().filter_map(|boosts| boosts.note()).map(str::to_owned));
    notes.extend(roots.iter().flat_map(|root| root.retriever.notes()).cloned());
    notes.dedup();

    let searched = prepare_roots(roots, &corpus, (&text, &parsed), query.mode, selected, running.threads(&corpus))?;
    work.check()?;
    let facets = if query.facets { Some(facets(roots, &searched)?) } else { None };
    let mut late = late_interaction(roots, query.mode, &text);
    let mut found = candidates(roots, &searched, (&text, &parsed), (query.mode, query.limit), &mut late, work)?;
    retrieve::add_files(&searched, &mut found.list, &mut late, query.mode)?;
    work.check()?;
    note_missing(query.mode, &searched, found.from_keywords, &mut notes);
    if query.mode != Mode::Dense && found.from_keywords > 0 && text == query.text {
        notes.extend(retrieve::missing_subject(&searched, &found.list, Subject::parse(&text))?);
    }
    let mut stages = StageCounts {
        indexed: corpus.chunks(),
        eligible: searched.iter().map(SearchedRoot::eligible).sum(),
        from_keywords: found.from_keywords,
        from_vectors: found.from_vectors,
        ranked: found.list.len(),
        shown: 0,
    };

    let accesses = accesses(roots, &found.list, &mut notes);
    let context = RankingContext {
        roots: &searched,
        boosts: &boosts,
        label_caches: &roots.iter().map(|root| root.retriever.label_cache()).collect::<Vec<_>>(),
        analyzer: first.analyzer(),
        config: first.config(),
        mode: query.mode,
        now: query.now,
        parsed: &parsed,
        kind,
        reranking: first.reranking(query.mode, &text),
        work,
    };
    let ranked = rank::rank(&context, found.list, accesses, &mut notes)?;
    let groups = rank::fold(&context, &ranked, query.limit, query.group)?;
    let mut hits = present::hits(&context, query.content, &ranked, groups)?;
    add_tags(roots, &mut hits, &mut notes);
    notes.extend(column_notes(roots, &query.filter, true, &hits));
    notes.extend(stage_notes(roots, query.mode != Mode::Sparse));
    stages.shown = hits.len();
    Ok(SearchResults {
        query: query.text.clone(),
        kind: Some(kind),
        mode: query.mode,
        hits,
        notes,
        stages,
        facets,
        index: None,
        roots: Vec::new(),
        term_weights: BTreeMap::new(),
        patterns: filter.text().clone(),
        took: start.elapsed(),
    })
}

/// Checks a filter against the columns of several indexes without searching them.
///
/// # Errors
/// [`QueryError::Filter`] for an invalid value, a condition that does not fit its column, a column that no index has,
/// or a path outside of all indexed directories.
pub fn check_filter(roots: &[Root<'_>], filter: &FilterSpec) -> Result<(), QueryError> {
    let indexes: Vec<_> = roots.iter().map(Root::filtered).collect();
    Ok(filter.resolve(&WorkBudget::default())?.check_against(&indexes)?)
}

/// Returns the filter with every language replaced by its name in the indexes.
///
/// # Errors
/// [`QueryError::Filter`] if neither the program nor any index knows a language, and [`QueryError::Storage`] if an
/// index cannot be read.
pub fn with_languages(
    roots: &[Root<'_>],
    filter: &FilterSpec,
    names: LanguageNames<'_>,
) -> Result<FilterSpec, QueryError> {
    Ok(filter.with_languages(roots.iter().map(|root| root.retriever.snapshot()), names)?)
}

/// Returns the best passages of one index; see [`Retriever::passages`].
pub(crate) fn passages(
    retriever: &Retriever,
    text: &str,
    (mode, limit): (Mode, usize),
    reranks: bool,
    work: &WorkBudget,
) -> Result<Vec<Passage>, QueryError> {
    QueryError::check_length(text)?;
    work.check()?;
    let running = Running::begin();
    let corpus = Corpus::new([retriever.snapshot()]);
    let Understood { parsed, text, kind, .. } =
        understand(&corpus, retriever.analyzer(), retriever.config(), text, work)?;
    let roots = [Root::of_project("", retriever)];
    let searched = prepare_roots(&roots, &corpus, (&text, &parsed), mode, vec![None], running.threads(&corpus))?;
    let mut late = late_interaction(&roots, mode, &text);
    let found = candidates(&roots, &searched, (&text, &parsed), (mode, limit), &mut late, work)?;
    let context = RankingContext {
        roots: &searched,
        boosts: &[retriever.boosts()],
        label_caches: &[retriever.label_cache()],
        analyzer: retriever.analyzer(),
        config: retriever.config(),
        mode,
        now: 0,
        parsed: &parsed,
        kind,
        reranking: if reranks { retriever.reranking(mode, &text) } else { None },
        work,
    };
    rank::rank_passages(&context, found.list, limit)
}

/// Number of searches that are running in this process.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
/// Minimum number of chunks for several threads. In a smaller index, waking up a thread takes longer than it saves.
const MIN_PARALLEL_CHUNKS: u64 = 20_000;

/// Guard of a running search.
struct Running {
    /// Whether no other search was running at the start of this one.
    is_alone: bool,
}

impl Running {
    fn begin() -> Self {
        Self { is_alone: RUNNING.fetch_add(1, Ordering::Relaxed) == 0 }
    }

    /// Returns whether this search should use several threads. The results do not depend on it.
    fn threads(&self, corpus: &Corpus<'_>) -> Threads {
        if self.is_alone && corpus.chunks() >= MIN_PARALLEL_CHUNKS { Threads::All } else { Threads::One }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        RUNNING.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Returns the live chunks of each index that pass the filter; `None` for all. With several indexes, the notes of the
/// filter are added only if no index has a matching chunk.
fn select(
    roots: &[Root<'_>],
    filter: &Filter,
    work: &WorkBudget,
    notes: &mut Vec<String>,
) -> Result<Vec<Option<RoaringBitmap>>, QueryError> {
    let (mut selected, mut reasons): (Vec<Option<RoaringBitmap>>, Vec<String>) = (Vec::new(), Vec::new());
    for root in roots {
        let snapshot = root.retriever.snapshot();
        let selection = filter.select(&root.filtered(), work)?;
        reasons.extend(selection.notes);
        selected.push(selection.chunks.map(|chunks| chunks & snapshot.live()));
    }
    let is_empty = |chunks: &Option<RoaringBitmap>| chunks.as_ref().is_some_and(RoaringBitmap::is_empty);
    if selected.len() == 1 || selected.iter().all(is_empty) {
        reasons.dedup();
        notes.append(&mut reasons);
    }
    Ok(selected)
}

/// Prepares the keyword and vector search of the query in each index. `selected` has the chunks that may be found in
/// each index; `None` for all.
fn prepare_roots<'s>(
    roots: &[Root<'s>],
    corpus: &Corpus<'s>,
    (text, parsed): (&str, &ParsedQuery),
    mode: Mode,
    selected: Vec<Option<RoaringBitmap>>,
    threads: Threads,
) -> Result<Vec<SearchedRoot<'s>>, QueryError> {
    let vectors = vectors(roots, mode, text)?;
    let bm25 = KeywordSearch::new(corpus, &roots[0].retriever.config().bm25, parsed)?;
    let parts = roots.iter().zip(bm25).zip(vectors).zip(selected);
    let searched = parts.map(|(((root, bm25), vector), filter)| SearchedRoot {
        name: root.display_name(roots),
        snapshot: root.retriever.snapshot(),
        memory: root.memory,
        bm25,
        vector,
        has_tokens: root.retriever.tokens().is_some(),
        filter,
        threads,
    });
    Ok(searched.collect())
}

/// Returns the query's vector for each index.
fn vectors(roots: &[Root<'_>], mode: Mode, text: &str) -> Result<Vec<QueryVector>, QueryError> {
    if mode == Mode::Sparse {
        let unused = Err("mode `sparse` uses keywords only".to_owned());
        return Ok(vec![unused; roots.len()]);
    }
    let embedder = roots.iter().find_map(|root| root.retriever.embedder());
    let snapshots: Vec<&Snapshot> = roots.iter().map(|root| root.retriever.snapshot()).collect();
    let vectors = query_vectors(&snapshots, embedder, text);
    match vectors.first() {
        Some(Err(reason)) if mode == Mode::Dense && vectors.iter().all(Result::is_err) => {
            Err(QueryError::NoVectors(reason.clone()))
        }
        _ => Ok(vectors),
    }
}

/// Creates the scorer that compares the words of the query with the words of chunks; `None` if no index has the
/// required model.
fn late_interaction<'r>(roots: &[Root<'r>], mode: Mode, text: &str) -> Option<LateInteraction<'r>> {
    let tokens = roots.iter().find_map(|root| root.retriever.tokens()).filter(|_| mode != Mode::Sparse);
    tokens.map(|model| LateInteraction::new(model, text))
}

fn candidates<'s>(
    roots: &[Root<'_>],
    searched: &[SearchedRoot<'s>],
    query: (&str, &ParsedQuery),
    (mode, limit): (Mode, usize),
    late: &mut Option<LateInteraction<'_>>,
    work: &WorkBudget,
) -> Result<Candidates<'s>, QueryError> {
    let hybrid = &roots[0].retriever.config().hybrid;
    let limits =
        CandidateLimits { by_keywords: hybrid.stage1_top_k.max(limit), by_vectors: hybrid.dense_top_k.max(limit) };
    retrieve::collect(searched, late, query, (mode, limits), work)
}

/// Returns the access record of each candidate from the log of its index.
fn accesses(roots: &[Root<'_>], candidates: &[Candidate<'_>], notes: &mut Vec<String>) -> Vec<Option<AccessRecord>> {
    let mut accesses = vec![None; candidates.len()];
    for (at, root) in roots.iter().enumerate() {
        let of_root = || candidates.iter().enumerate().filter(|(_, candidate)| candidate.root == at);
        // All pieces of a long entry of memory share the access record of the first piece.
        let noted = |key| if root.memory.is_some() { first_piece(key) } else { key };
        let keys: Vec<&str> = of_root().map(|(_, candidate)| noted(&*candidate.key)).collect();
        let found = root.retriever.accesses(&keys, notes);
        of_root().zip(found).for_each(|((place, _), access)| accesses[place] = access);
    }
    accesses
}

/// Counts the chunks that contain a word of the query by type, language and directory.
fn facets(roots: &[Root<'_>], searched: &[SearchedRoot<'_>]) -> Result<SearchFacets, StorageError> {
    let count = |(root, searched): (&Root<'_>, &SearchedRoot<'_>)| {
        let matching = searched.bm25.matching_chunks(searched.filter.as_ref());
        root.retriever.facet_index()?.count(searched.snapshot, &matching)
    };
    let parts = roots.iter().zip(searched).map(count).collect::<Result<Vec<_>, _>>()?;
    Ok(SearchFacets::merged(parts, &roots.iter().map(|root| root.name).collect::<Vec<_>>()))
}

/// Adds a note if the keyword search found nothing, and a note for every index without semantic scores.
fn note_missing(mode: Mode, roots: &[SearchedRoot<'_>], from_keywords: usize, notes: &mut Vec<String>) {
    // If the filter excludes everything, the filter's own note explains this.
    let may_match = roots.iter().any(|root| root.filter.as_ref().is_none_or(|chunks| !chunks.is_empty()));
    if mode != Mode::Dense && from_keywords == 0 && may_match {
        let has_vectors = roots.iter().any(|root| root.vector.is_ok());
        let falling_back = if has_vectors { ", falling back to semantic search" } else { "" };
        notes.push(format!("No keyword matches found{falling_back}"));
    }
    if mode == Mode::Sparse {
        return;
    }
    for root in roots {
        let place = root.name.map(|name| format!(" in {name}")).unwrap_or_default();
        if let Err(reason) = &root.vector {
            notes.push(format!("Ranked without semantic scores{place}: {reason}"));
        }
    }
}
