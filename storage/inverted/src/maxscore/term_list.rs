//! The posting list of one term, with an upper bound on its scores in each window.

use std::ops::Range;

use super::accumulators::{WindowAccumulators, for_each_above};
use super::score_table::ScoreTables;
use super::{WindowCandidates, WindowScratch};
use crate::bm25f::FieldScorer;
use crate::chunk_id::{ChunkId, WINDOW};
use crate::collection::Collection;
use crate::lengths::LengthColumns;
use crate::postings::{ListWindow, Postings};

/// The list of a term with at most this many live postings in all indexes is scored before the search, so that its
/// bounds are exact.
const MAX_SCORED_POSTINGS: u64 = 1024;
/// A list with at most this many live postings is scored in any case, because that takes less time than reading its
/// bounds.
const MAX_SHORT_POSTINGS: u32 = 64;
/// The best posting of a group with occurrences outside the body nearly always reaches this share of the bound of the
/// group. With a higher share, more estimates are too high, and an estimate that is too high doubles the work.
const REACHED_SHARE: f32 = 0.8;
/// To look up candidates, a window with at most this many postings per candidate is decoded completely.
const MAX_POSTINGS_PER_CANDIDATE: usize = 16;

/// The postings of a term.
pub(crate) struct TermList<'p> {
    /// Position of the term in the query.
    term: usize,
    postings: ListPostings<'p>,
    /// Bounds by window number.
    bounds: Vec<WindowBound>,
    /// Scores that chunks probably reach. Each score belongs to a different chunk.
    reached: Vec<f32>,
}

enum ListPostings<'p> {
    /// Postings that were scored before the search: chunks in ascending order, and their scores.
    Scored { chunks: Vec<u32>, scores: Vec<f32> },
    /// Postings that are decoded window by window.
    Windowed { postings: &'p Postings<'p>, windows: Vec<ListWindow>, tables: ScoreTables<'p> },
}

/// Bounds of a list in one window, and the location of its postings.
#[derive(Clone, Copy, Default)]
pub(super) struct WindowBound {
    /// Upper bound on the score of every chunk.
    pub(super) score: f32,
    /// Number of postings, deleted chunks included.
    pub(super) count: u32,
    /// Start of the window's range in [`ListPostings::Scored`] or in the `windows` of [`ListPostings::Windowed`].
    start: u32,
    /// Length of this range.
    len: u32,
}

impl WindowBound {
    fn add(&mut self, score: f32, count: u32, at: usize) {
        if self.len == 0 {
            self.start = at as u32;
        }
        self.score = self.score.max(score);
        self.count += count;
        self.len += 1;
    }
}

impl<'p> TermList<'p> {
    /// Creates the list of a term, given the position of the term in the query and the number of live postings in all
    /// indexes. The factor must be positive.
    pub(crate) fn new<C: Collection>(
        (postings, factor): (&'p Postings<'p>, f32),
        (term, frequency): (usize, u64),
        fields: &'p FieldScorer,
        collection: &C,
    ) -> Result<Self, C::Error> {
        let mut bounds = vec![WindowBound::default(); collection.end().div_ceil(WINDOW) as usize];
        let mut reached = Vec::new();
        let postings = if frequency <= MAX_SCORED_POSTINGS || postings.doc_frequency() <= MAX_SHORT_POSTINGS {
            let (chunks, scores) = score_all(postings, factor, fields, collection)?;
            for (at, (chunk, score)) in chunks.iter().zip(&scores).enumerate() {
                if let Some(bound) = bounds.get_mut((chunk / WINDOW) as usize) {
                    bound.add(*score, 1, at);
                }
            }
            reached.extend(&scores);
            ListPostings::Scored { chunks, scores }
        } else {
            let windows = postings.windows(|impact| {
                let bound = factor * fields.upper_bound(impact);
                if impact.has_lengths() {
                    reached.push(if impact.other_fields.is_none() { bound } else { bound * REACHED_SHARE });
                }
                bound
            });
            for (at, window) in windows.iter().enumerate() {
                if let Some(bound) = bounds.get_mut(window.number as usize) {
                    bound.add(window.bound, window.count, at);
                }
            }
            let tables = ScoreTables::new(postings.parts(), factor, fields);
            ListPostings::Windowed { postings, windows, tables }
        };
        Ok(Self { term, postings, bounds, reached })
    }

    /// Returns the position of the term, and the scores that chunks probably reach. A second call returns no scores.
    pub(super) fn take_reached(&mut self) -> (usize, Vec<f32>) {
        (self.term, std::mem::take(&mut self.reached))
    }

    /// Returns the bound of a window.
    #[inline]
    pub(super) fn bound_in(&self, window: u32) -> WindowBound {
        self.bounds.get(window as usize).copied().unwrap_or_default()
    }

    /// Calls `each` with the offset and score of every posting whose score is at least `threshold`, in ascending order
    /// of offsets. Deleted chunks may be among them.
    pub(super) fn for_each_above(
        &mut self,
        scratch: &mut WindowScratch<'_>,
        threshold: f32,
        mut each: impl FnMut(u16, f32),
    ) {
        let range = self.range(scratch.number);
        match &mut self.postings {
            ListPostings::Scored { chunks, scores } => {
                let scored = chunks[range.clone()].iter().zip(&scores[range]).filter(|(_, score)| **score >= threshold);
                scored.for_each(|(chunk, score)| each((chunk % WINDOW) as u16, *score));
            }
            ListPostings::Windowed { postings, windows, tables } => {
                for window in windows.get(range).unwrap_or_default() {
                    tables.prepare(window.part, postings);
                    let min_code = tables.min_code(window, postings, threshold);
                    postings.read(window, min_code, &mut scratch.postings);
                    tables.score(window.part, scratch);
                    let (offsets, scores) = (scratch.postings.offsets(), &scratch.scores);
                    for_each_above(scores, threshold, |at| each(offsets[at], scores[at]));
                }
            }
        }
    }

    /// Adds the score of every posting to the accumulator of its chunk.
    pub(super) fn add_all(&mut self, scratch: &mut WindowScratch<'_>, accumulators: &mut WindowAccumulators<'_>) {
        let range = self.range(scratch.number);
        match &mut self.postings {
            ListPostings::Scored { chunks, scores } => {
                accumulators.add(chunks[range.clone()].iter().map(|chunk| (chunk % WINDOW) as u16), &scores[range])
            }
            ListPostings::Windowed { postings, windows, tables } => {
                for window in windows.get(range).unwrap_or_default() {
                    tables.prepare(window.part, postings);
                    postings.read(window, 0, &mut scratch.postings);
                    tables.score(window.part, scratch);
                    accumulators.add(scratch.postings.offsets().iter().copied(), &scratch.scores);
                }
            }
        }
    }

    /// Looks up each candidate in this list, and adds the score of its posting to its partial score.
    pub(super) fn add_to(&mut self, scratch: &mut WindowScratch<'_>, candidates: &mut WindowCandidates) {
        let (range, count) = (self.range(scratch.number), self.bound_in(scratch.number).count as usize);
        match &mut self.postings {
            ListPostings::Scored { chunks, scores } => {
                for (chunk, score) in chunks[range.clone()].iter().zip(&scores[range]) {
                    let offset = (chunk % WINDOW) as u16;
                    if let Ok(at) = candidates.binary_search_by_key(&offset, |(offset, _)| *offset) {
                        candidates[at].1 += score;
                    }
                }
            }
            ListPostings::Windowed { postings, windows, tables } => {
                for window in windows.get(range).unwrap_or_default() {
                    tables.prepare(window.part, postings);
                    if count <= candidates.len() * MAX_POSTINGS_PER_CANDIDATE {
                        postings.read(window, 0, &mut scratch.postings);
                        tables.add_to(window.part, scratch, candidates);
                    } else {
                        let mut cursor = postings.cursor(window);
                        for (offset, score) in &mut *candidates {
                            if let Some(code) = cursor.seek(*offset) {
                                *score += tables.score_posting(window.part, code, scratch, *offset);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Returns the range of a window in the scored chunks or in the windows of the list.
    fn range(&self, window: u32) -> Range<usize> {
        let bound = self.bound_in(window);
        bound.start as usize..(bound.start + bound.len) as usize
    }
}

/// Returns the live chunks of a list with their scores.
fn score_all<C: Collection>(
    postings: &Postings<'_>,
    factor: f32,
    fields: &FieldScorer,
    collection: &C,
) -> Result<(Vec<u32>, Vec<f32>), C::Error> {
    let count = postings.doc_frequency() as usize;
    let (mut chunks, mut scores) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut current = (u32::MAX, LengthColumns::NONE);
    let mut result = Ok(());
    postings.for_each(|ChunkId(chunk), frequencies| {
        let window = chunk / WINDOW;
        if current.0 != window {
            match collection.window_lengths(window) {
                Ok(lengths) => current = (window, lengths),
                Err(error) => result = Err(error),
            }
        }
        chunks.push(chunk);
        let offset = (chunk % WINDOW) as usize;
        scores.push(factor * fields.saturated_with(&frequencies, |field| current.1.column(field)[offset]));
    });
    result.map(|()| (chunks, scores))
}
