//! Runs one search over one or several indexes: understand, retrieve, rank, explain, present.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use aurora_analysis::LateInteraction;
use aurora_storage::{AccessRecord, Snapshot, StorageError, Threads};
use roaring::RoaringBitmap;

use crate::column_notes::{column_notes, stage_notes};
use crate::confidence::Measures;
use crate::corpus::Corpus;
use crate::facet_index::SearchFacets;
use crate::filter::{Filter, FilterSpec, LanguageNames};
use crate::listing;
use crate::phases::{Phases, Stopwatch};
use crate::present::{self, SearchResults, StageCounts};
use crate::query::{Mode, Query, QueryError};
use crate::rank::{self, Boosts, Passage, RankingContext};
use crate::retrieve::bm25::KeywordSearch;
use crate::retrieve::{self, Candidate, CandidateLimits, PreparedQuery, QueryVector, query_vectors};
use crate::searcher::Searcher;
use crate::tags::add_tags;
use crate::understand::{ParsedQuery, Subject, Understood, understand};
use crate::work::WorkBudget;

impl Searcher {
    /// Answers a query.
    ///
    /// # Errors
    /// Fails if the query or the filter is invalid, if mode `dense` has no vectors, if the index cannot be read, or if
    /// the request is cancelled.
    pub fn search(&self, query: &Query) -> Result<SearchResults, QueryError> {
        search_all(&[self], query)
    }

    /// Returns the best passages for a query: chunks ordered by reciprocal rank fusion alone. Access history, rules and
    /// names do not affect the order, and copies are not folded. If `reranks` is true, the configured reranker reorders
    /// the best passages.
    ///
    /// # Errors
    /// Fails if the query is invalid, if mode `dense` has no vectors, if the index cannot be read, or if the request is
    /// cancelled.
    pub fn passages(
        &self,
        text: &str,
        mode: Mode,
        limit: usize,
        reranks: bool,
        work: &WorkBudget,
    ) -> Result<Vec<Passage>, QueryError> {
        QueryError::check_length(text)?;
        work.check()?;
        let running = Running::begin();
        let corpus = Corpus::new([self.snapshot()]);
        let Understood { parsed, text, kind, .. } = understand(&corpus, self.config(), text, work)?;
        let query = (text.as_str(), &parsed);
        let prepared = prepare_roots(&[self], &corpus, query, mode, vec![None], running.threads(&corpus));
        let searched = prepared?.0;
        let mut late = late_interaction(&[self], mode, &text);
        let limits = CandidateLimits::new(&self.config().hybrid, limit);
        let found = retrieve::collect(&searched, &mut late, query, (mode, limits), work)?;
        let context = RankingContext {
            roots: &searched,
            boosts: &[&*self.boosts],
            label_caches: &[&*self.label_cache],
            config: self.config(),
            mode,
            now: 0,
            parsed: &parsed,
            kind,
            reranking: if reranks { self.reranking(mode, &text) } else { None },
            work,
        };
        rank::rank_passages(&context, found.list, limit)
    }
}

/// Answers one query from several indexes as if they were one. The document frequency of a term is the number of chunks
/// in all indexes that contain the term, and all candidates are ranked in one list. The search uses the configuration
/// and the reranker of the first index, and the embedder of the first index that has one. An index whose vectors come
/// from a different model is searched by keywords only.
///
/// # Errors
/// Fails if there is no searcher, if the query or the filter is invalid, if mode `dense` has no vectors, if an index
/// cannot be read, or if the request is cancelled.
pub fn search_all(searchers: &[&Searcher], query: &Query) -> Result<SearchResults, QueryError> {
    let (start, running) = (Instant::now(), Running::begin());
    let first = *searchers.first().ok_or(QueryError::NoRoot)?;
    QueryError::check_length(&query.text)?;
    let work = &query.work;
    work.check()?;
    let filter = query.filter.resolve(work)?;
    filter.check_against(&searchers.iter().map(|searcher| searcher.filtered()).collect::<Vec<_>>())?;
    if query.text.trim().is_empty() && !query.filter.is_empty() {
        return listing::list(searchers, query, &filter, start);
    }
    let (mut phases, mut watch) = (Phases::default(), Stopwatch::start());
    let corpus = Corpus::new(searchers.iter().map(|searcher| searcher.snapshot()));
    let Understood { parsed, text, kind, mut notes } = understand(&corpus, first.config(), &query.text, work)?;
    phases.understand = watch.lap();
    let selected = select(searchers, &filter, work, &mut notes)?;
    phases.filter = watch.lap();
    let boosts: Vec<&Boosts> = searchers.iter().map(|searcher| &*searcher.boosts).collect();
    notes.extend(boosts.iter().filter_map(|boosts| boosts.note()).map(str::to_owned));
    notes.extend(searchers.iter().flat_map(|searcher| &searcher.notes).cloned());
    notes.dedup();

    let threads = running.threads(&corpus);
    let (searched, embedding) = prepare_roots(searchers, &corpus, (&text, &parsed), query.mode, selected, threads)?;
    phases.embed = embedding;
    phases.keywords = watch.lap().saturating_sub(embedding);
    work.check()?;
    let facets = if query.facets { Some(facets(searchers, &searched)?) } else { None };
    phases.filter += watch.lap();
    let mut late = late_interaction(searchers, query.mode, &text);
    phases.embed += watch.lap();
    let limits = CandidateLimits::new(&first.config().hybrid, query.limit);
    let mut found = retrieve::collect(&searched, &mut late, (&text, &parsed), (query.mode, limits), work)?;
    retrieve::add_files(&searched, &mut found.list, &mut late, query.mode)?;
    phases += found.phases;
    work.check()?;
    note_missing(query.mode, &searched, found.from_keywords, &mut notes);
    if query.mode != Mode::Dense && found.from_keywords > 0 && text == query.text {
        notes.extend(retrieve::missing_subject(&searched, &found.list, Subject::parse(&text))?);
    }
    let mut stages = StageCounts {
        indexed: corpus.chunks(),
        eligible: searched.iter().map(PreparedQuery::eligible).sum(),
        from_keywords: found.from_keywords,
        from_vectors: found.from_vectors,
        ranked: found.list.len(),
        shown: 0,
    };

    phases.candidates += watch.lap().saturating_sub(found.elapsed);
    let accesses = accesses(searchers, &found.list, &mut notes);
    let context = RankingContext {
        roots: &searched,
        boosts: &boosts,
        label_caches: &searchers.iter().map(|searcher| &*searcher.label_cache).collect::<Vec<_>>(),
        config: first.config(),
        mode: query.mode,
        now: query.now,
        parsed: &parsed,
        kind,
        reranking: first.reranking(query.mode, &text),
        work,
    };
    let ranked = rank::rank(&context, found.list, accesses, &mut notes, &mut phases)?;
    let measures = Measures::new(&context);
    let evidence = measures.answer(&ranked);
    let groups = rank::fold(&context, &ranked, query.limit, query.group)?;
    phases.rank = watch.lap().saturating_sub(phases.rerank);
    let mut hits = present::hits(&measures, &evidence, query.content, &ranked, groups)?;
    add_tags(searchers, &mut hits, &mut notes);
    notes.extend(column_notes(searchers, &query.filter, true, &hits));
    notes.extend(stage_notes(searchers, query.mode != Mode::Sparse));
    stages.shown = hits.len();
    phases.present = watch.lap();
    Ok(SearchResults {
        query: query.text.clone(),
        kind: Some(kind),
        mode: query.mode,
        confidence: Some(evidence.confidence()),
        close: Some(evidence.is_close()),
        evidence: Some(evidence),
        hits,
        notes,
        stages,
        facets,
        patterns: filter.text().clone(),
        took: start.elapsed(),
        phases,
        ..SearchResults::default()
    })
}

/// Checks a filter against the columns of several indexes without searching them.
///
/// # Errors
/// Returns [`QueryError::Filter`] for an invalid value, a condition that does not fit its column, a column that no
/// index has, or a path outside of all indexed directories.
pub fn check_filter(searchers: &[&Searcher], filter: &FilterSpec) -> Result<(), QueryError> {
    Ok(filter
        .resolve(&WorkBudget::default())?
        .check_against(&searchers.iter().map(|searcher| searcher.filtered()).collect::<Vec<_>>())?)
}

/// Returns the filter with every language replaced by its names in the indexes.
///
/// # Errors
/// Returns [`QueryError::Filter`] if neither the program nor any index knows a language, and [`QueryError::Storage`] if
/// an index cannot be read.
pub fn with_languages(
    searchers: &[&Searcher],
    filter: &FilterSpec,
    names: LanguageNames<'_>,
) -> Result<FilterSpec, QueryError> {
    Ok(filter.with_languages(searchers.iter().map(|searcher| searcher.snapshot()), names)?)
}

/// Number of searches that are running in this process.
static RUNNING: AtomicUsize = AtomicUsize::new(0);
/// Minimum number of chunks for a search with several threads. In a smaller index, waking up the threads takes more
/// time than they save.
const MIN_PARALLEL_CHUNKS: u64 = 20_000;

/// Guard that counts a search as running until the guard is dropped.
struct Running {
    /// Whether no other search was running when this search started.
    is_alone: bool,
}

impl Running {
    fn begin() -> Self {
        Self { is_alone: RUNNING.fetch_add(1, Ordering::Relaxed) == 0 }
    }

    /// Returns the threads that this search should use. The results do not depend on the number of threads.
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
    searchers: &[&Searcher],
    filter: &Filter,
    work: &WorkBudget,
    notes: &mut Vec<String>,
) -> Result<Vec<Option<RoaringBitmap>>, QueryError> {
    let (mut selected, mut reasons): (Vec<Option<RoaringBitmap>>, Vec<String>) = (Vec::new(), Vec::new());
    for searcher in searchers {
        let snapshot = searcher.snapshot();
        let selection = filter.select(&searcher.filtered(), work)?;
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

/// Prepares the keyword and vector search of the query in each index. `selected` contains, for each index, the chunks
/// that the search may return, or `None` for all chunks. Also returns the time for embedding the query.
fn prepare_roots<'s>(
    searchers: &[&'s Searcher],
    corpus: &Corpus<'s>,
    (text, parsed): (&str, &ParsedQuery),
    mode: Mode,
    selected: Vec<Option<RoaringBitmap>>,
    threads: Threads,
) -> Result<(Vec<PreparedQuery<'s>>, Duration), QueryError> {
    let mut watch = Stopwatch::start();
    let vectors = vectors(searchers, mode, text)?;
    let embedding = watch.lap();
    let bm25 = KeywordSearch::new(corpus, &searchers[0].config().bm25, parsed)?;
    let parts = searchers.iter().zip(bm25).zip(vectors).zip(selected);
    let searched = parts.map(|(((searcher, bm25), vector), filter)| PreparedQuery {
        name: searcher.display_name(searchers),
        snapshot: searcher.snapshot(),
        memory: searcher.memory.as_deref(),
        bm25,
        vector,
        has_tokens: searcher.tokens.is_some(),
        filter,
        threads,
    });
    Ok((searched.collect(), embedding))
}

/// Returns the query's vector for each index.
fn vectors(searchers: &[&Searcher], mode: Mode, text: &str) -> Result<Vec<QueryVector>, QueryError> {
    if mode == Mode::Sparse {
        let unused = Err("mode `sparse` uses keywords only".to_owned());
        return Ok(vec![unused; searchers.len()]);
    }
    let embedder = searchers.iter().find_map(|searcher| searcher.embedder.as_deref());
    let snapshots: Vec<&Snapshot> = searchers.iter().map(|searcher| searcher.snapshot()).collect();
    let vectors = query_vectors(&snapshots, embedder, text);
    match vectors.first() {
        Some(Err(reason)) if mode == Mode::Dense && vectors.iter().all(Result::is_err) => {
            Err(QueryError::NoVectors(reason.clone()))
        }
        _ => Ok(vectors),
    }
}

/// Creates the scorer that compares the words of the query with the words of chunks. `None` in mode `sparse`, or if no
/// index has the required model.
fn late_interaction<'r>(searchers: &[&'r Searcher], mode: Mode, text: &str) -> Option<LateInteraction<'r>> {
    let tokens = searchers.iter().find_map(|searcher| searcher.tokens.as_deref()).filter(|_| mode != Mode::Sparse);
    tokens.map(|model| LateInteraction::new(model, text))
}

/// Returns the access record of each candidate from the log of its index.
fn accesses(
    searchers: &[&Searcher],
    candidates: &[Candidate<'_>],
    notes: &mut Vec<String>,
) -> Vec<Option<AccessRecord>> {
    let mut accesses = vec![None; candidates.len()];
    for (at, searcher) in searchers.iter().enumerate() {
        let of_root = || candidates.iter().enumerate().filter(|(_, candidate)| candidate.root == at);
        let keys: Vec<&str> = of_root().map(|(_, candidate)| searcher.history_key(&candidate.key)).collect();
        if keys.is_empty() {
            continue;
        }
        let found = searcher.accesses(&keys, notes);
        of_root().zip(found).for_each(|((place, _), access)| accesses[place] = access);
    }
    accesses
}

/// Counts the chunks that pass the filter and contain a word of the query, by type, language and directory.
fn facets(searchers: &[&Searcher], searched: &[PreparedQuery<'_>]) -> Result<SearchFacets, StorageError> {
    let count = |(searcher, searched): (&&Searcher, &PreparedQuery<'_>)| {
        let matching = searched.bm25.matching_chunks(searched.filter.as_ref());
        searcher.facet_index()?.count(searched.snapshot, &matching)
    };
    let parts = searchers.iter().zip(searched).map(count).collect::<Result<Vec<_>, _>>()?;
    Ok(SearchFacets::merged(parts, &searchers.iter().map(|searcher| searcher.name()).collect::<Vec<_>>()))
}

/// Adds a note if the keyword search found nothing, and a note for every index without semantic scores.
fn note_missing(mode: Mode, roots: &[PreparedQuery<'_>], from_keywords: usize, notes: &mut Vec<String>) {
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
