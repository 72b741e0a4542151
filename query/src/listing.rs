//! Lists the chunks that match a filter if the query is empty. The list is ordered by path and line, without ranking.

use std::time::Instant;

use aurora_storage::{Chunk, ChunkId};
use rustc_hash::FxHashSet;

use crate::column_notes::{column_notes, stage_notes};
use crate::explain::{Explanation, activation_reason};
use crate::facet_index::SearchFacets;
use crate::filter::{Filter, TextFilter};
use crate::present::{Hit, Scores, SearchResults, StageCounts, line_numbers};
use crate::query::{Query, QueryError};
use crate::rank::first_piece;
use crate::searcher::Searcher;
use crate::tags::add_tags;
use crate::work::{Cancelled, WorkBudget};

/// Explanation of the scores of a chunk that is not ranked.
const UNRANKED: &str = "not ranked: no query";

/// Lists the chunks of several indexes that pass the query's filters, index by index, ordered by path and line. With a
/// text filter, omits a chunk if shorter listed chunks of the same file already contain every line with a match.
pub(crate) fn list(
    searchers: &[&Searcher],
    query: &Query,
    filter: &Filter,
    start: Instant,
) -> Result<SearchResults, QueryError> {
    let (mut parts, mut hits) = (Vec::new(), Vec::new());
    for (place, searcher) in searchers.iter().enumerate() {
        let mut part = Part::new(searcher, query, filter, query.limit - hits.len())?;
        for hit in std::mem::take(&mut part.hits) {
            let name = searcher.display_name(searchers).map(str::to_owned);
            hits.push(Hit { rank: hits.len() + 1, root_place: place, root: name, ..hit });
        }
        parts.push(part);
    }
    let eligible = parts.iter().map(|part| part.eligible).sum();
    let mut notes: Vec<String> = searchers.iter().flat_map(|searcher| &searcher.notes).cloned().collect();
    add_tags(searchers, &mut hits, &mut notes);
    for note in parts.iter().flat_map(|part| &part.notes).filter(|_| eligible == 0 || searchers.len() == 1) {
        if !notes.contains(note) {
            notes.push(note.clone());
        }
    }
    notes.extend(column_notes(searchers, &query.filter, false, &hits));
    notes.extend(stage_notes(searchers, false));
    if parts.iter().any(|part| part.has_more) {
        notes.push(format!("{eligible} chunks match; the list is limited to {}", query.limit));
    }
    let facets: Vec<SearchFacets> = parts.iter_mut().filter_map(|part| part.facets.take()).collect();
    let names: Vec<&str> = searchers.iter().map(|searcher| searcher.name()).collect();
    Ok(SearchResults {
        query: query.text.clone(),
        mode: query.mode,
        stages: StageCounts {
            indexed: searchers.iter().map(|searcher| searcher.snapshot().live().len()).sum(),
            eligible,
            shown: hits.len(),
            ..StageCounts::default()
        },
        hits,
        notes,
        facets: query.facets.then(|| SearchFacets::merged(facets, &names)),
        patterns: filter.text().clone(),
        took: start.elapsed(),
        ..SearchResults::default()
    })
}

/// Returns whether a chunk is an archived entry of memory.
fn is_expired(searcher: &Searcher, id: ChunkId, now: i64) -> Result<bool, QueryError> {
    let (Some(memory), Some(chunk)) = (&searcher.memory, searcher.snapshot().chunk(id)?) else { return Ok(false) };
    let access = searcher.accesses(&[first_piece(&chunk.key())], &mut Vec::new()).pop().flatten();
    Ok(memory.aging(chunk, access.as_ref(), now).is_expired)
}

/// The listed chunks of one index.
struct Part {
    hits: Vec<Hit>,
    eligible: u64,
    /// Whether the limit excluded some chunks.
    has_more: bool,
    facets: Option<SearchFacets>,
    notes: Vec<String>,
}

impl Part {
    fn new(searcher: &Searcher, query: &Query, filter: &Filter, limit: usize) -> Result<Self, QueryError> {
        let snapshot = searcher.snapshot();
        let selection = filter.select(&searcher.filtered(), &query.work)?;
        let mut notes = selection.notes;
        let eligible = match selection.chunks {
            Some(chunks) => chunks & snapshot.live(),
            None => snapshot.live().clone(),
        };
        let mut found: Vec<(ChunkId, Chunk)> = Vec::new();
        let mut seen = 0;
        for file in snapshot.files() {
            if found.len() >= limit || seen == eligible.len() {
                break;
            }
            let ids = file?.chunks.into_iter().filter(|id| eligible.contains(id.0));
            let mut chunks: Vec<(ChunkId, Chunk)> = Vec::new();
            for id in ids {
                query.work.check()?;
                seen += 1;
                if !is_expired(searcher, id, query.now)? {
                    chunks.extend(snapshot.chunk_with_text(id)?.map(|chunk| (id, chunk)));
                }
            }
            found.extend(without_outer(chunks, filter.text(), &query.work)?);
        }
        let has_more = seen < eligible.len() || found.len() > limit;
        found.truncate(limit);
        let facets = if query.facets { Some(searcher.facet_index()?.count(snapshot, &eligible)?) } else { None };
        let keys: Vec<&str> = found.iter().map(|(_, chunk)| chunk.key.as_str()).collect();
        let accesses = searcher.accesses(&keys, &mut notes);
        let hits = found.into_iter().zip(accesses).map(|((id, chunk), access)| {
            let explanation = Explanation {
                bm25: UNRANKED.to_owned(),
                semantic: UNRANKED.to_owned(),
                activation: activation_reason(chunk.chunk_type, &chunk.git, access.as_ref(), query.now),
                ..Explanation::default()
            };
            let is_memory = searcher.is_memory();
            Hit::from_chunk((0, id), chunk, (query.content, is_memory), Scores::default(), access, explanation)
        });
        Ok(Self { hits: hits.collect(), eligible: eligible.len(), has_more, facets, notes })
    }
}

/// Returns a file's chunks ordered by line. Removes chunks whose matching lines are all contained in shorter chunks.
fn without_outer(
    mut chunks: Vec<(ChunkId, Chunk)>,
    text: &TextFilter,
    work: &WorkBudget,
) -> Result<Vec<(ChunkId, Chunk)>, Cancelled> {
    // Shortest first: a chunk cannot enclose a longer chunk.
    chunks.sort_by(|(_, a), (_, b)| {
        let size = |chunk: &Chunk| chunk.line_end.saturating_sub(chunk.line_start);
        size(a).cmp(&size(b)).then_with(|| a.key.cmp(&b.key))
    });
    let mut shown: FxHashSet<u32> = FxHashSet::default();
    chunks.retain(|(_, chunk)| {
        if work.is_cancelled() {
            return false;
        }
        let numbers = line_numbers(&chunk.text, (chunk.line_start, chunk.line_end), None);
        let starts = text.find(&chunk.text).into_iter().map(|found| chunk.text[..found.start].matches('\n').count());
        let lines: Vec<Option<u32>> = starts.map(|place| numbers.get(place).copied().flatten()).collect();
        let adds = lines.is_empty() || lines.iter().any(|line| line.is_none_or(|line| !shown.contains(&line)));
        if adds {
            shown.extend(lines.into_iter().flatten());
        }
        adds
    });
    work.check()?;
    chunks.sort_by(|(_, a), (_, b)| a.line_start.cmp(&b.line_start).then_with(|| a.key.cmp(&b.key)));
    Ok(chunks)
}
