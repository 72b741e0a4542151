//! Answers to patterns without a query: matching chunks in the order of paths and lines, not ranked.

use std::collections::BTreeMap;
use std::time::Instant;

use aurora_storage::{Chunk, ChunkId, Snapshot};
use rustc_hash::FxHashSet;

use crate::explain::{Explanation, activation_reason};
use crate::filter::TextFilter;
use crate::present::facets::FacetIndex;
use crate::present::lines::line_numbers;
use crate::present::results::{Hit, Scores, SearchResults, StageCounts};
use crate::query::{Query, QueryError};
use crate::rank::activation::ActivationParts;

/// Reason given for a score that is none.
const UNRANKED: &str = "not ranked: no query";

/// The chunks that pass the query's filters, by path and line. A chunk that only shows matches which chunks inside it
/// show as well is left out for them. With `facets`, those that pass are counted.
pub(crate) fn list(
    snapshot: &Snapshot,
    query: &Query<'_>,
    facets: Option<&FacetIndex>,
    start: Instant,
) -> Result<SearchResults, QueryError> {
    let filter = query.filter.resolve()?;
    let text = query.filter.text()?;
    let selection = filter.select(snapshot)?;
    let mut notes = selection.notes;
    let eligible = selection.chunks.unwrap_or_default() & snapshot.live();
    let mut found: Vec<(ChunkId, Chunk)> = Vec::new();
    let mut seen = 0;
    for file in snapshot.files() {
        let ids = file?.chunks.into_iter().filter(|id| eligible.contains(id.0));
        let mut chunks: Vec<(ChunkId, Chunk)> = Vec::new();
        for id in ids {
            chunks.extend(snapshot.chunk_with_text(id)?.map(|chunk| (id, chunk)));
        }
        seen += chunks.len() as u64;
        found.extend(without_outer(chunks, &text));
        if found.len() >= query.limit || seen == eligible.len() {
            break;
        }
    }
    if seen < eligible.len() || found.len() > query.limit {
        notes.push(format!("{} chunks match; --limit shows more of them", eligible.len()));
    }
    found.truncate(query.limit);
    let stages = StageCounts {
        indexed: snapshot.live().len(),
        eligible: eligible.len(),
        shown: found.len(),
        ..StageCounts::default()
    };
    let facets = facets.map(|facets| facets.count(snapshot, &eligible)).transpose()?;
    let accesses = query.accesses(found.iter().map(|(_, chunk)| chunk.key.as_str()), &mut notes);
    let mut hits = Vec::with_capacity(found.len());
    for (at, ((id, chunk), access)) in found.into_iter().zip(accesses).enumerate() {
        let explanation = Explanation {
            matched_terms: Vec::new(),
            matched_columns: Vec::new(),
            exact_term: None,
            exact_identifier: false,
            bm25: UNRANKED.to_owned(),
            semantic: UNRANKED.to_owned(),
            activation: activation_reason(&chunk.git, access.as_ref(), query.now),
            activation_parts: ActivationParts::default(),
            rules: Vec::new(),
        };
        hits.push(Hit::of((at + 1, id), chunk, query.content, Scores::default(), access, explanation));
    }
    let (text, mode, took) = (query.text.clone(), query.mode, start.elapsed());
    Ok(SearchResults {
        query: text,
        kind: None,
        mode,
        hits,
        notes,
        stages,
        facets,
        index: None,
        term_weights: BTreeMap::new(),
        took,
    })
}

/// A file's chunks by line, the innermost of those that show the same matches.
fn without_outer(mut chunks: Vec<(ChunkId, Chunk)>, text: &TextFilter) -> Vec<(ChunkId, Chunk)> {
    // From the inside out: what has fewer lines cannot hold what has more.
    chunks.sort_by(|(_, a), (_, b)| {
        let size = |chunk: &Chunk| chunk.line_end.saturating_sub(chunk.line_start);
        size(a).cmp(&size(b)).then_with(|| a.key.cmp(&b.key))
    });
    let mut shown: FxHashSet<u32> = FxHashSet::default();
    chunks.retain(|(_, chunk)| {
        let numbers = line_numbers(&chunk.text, (chunk.line_start, chunk.line_end), None);
        let starts = text.find(&chunk.text).into_iter().map(|found| chunk.text[..found.start].matches('\n').count());
        let lines: Vec<Option<u32>> = starts.map(|place| numbers.get(place).copied().flatten()).collect();
        let adds = lines.is_empty() || lines.iter().any(|line| line.is_none_or(|line| !shown.contains(&line)));
        if adds {
            shown.extend(lines.into_iter().flatten());
        }
        adds
    });
    chunks.sort_by(|(_, a), (_, b)| a.line_start.cmp(&b.line_start).then_with(|| a.key.cmp(&b.key)));
    chunks
}
