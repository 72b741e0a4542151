//! The postings of one term, and what they can add in each window.

use std::ops::Range;

use aurora_storage::{ChunkId, LengthColumns, ListWindow, Postings, Snapshot, StorageError, WINDOW};

use super::WindowScratch;
use super::accumulators::{WindowAccumulators, for_each_above};
use super::candidates::WindowCandidates;
use super::score_table::ScoreTables;
use crate::bm25::FieldScorer;

/// Lists of up to this many postings are scored at once, which gives them exact bounds.
const SHORT: u32 = 1024;
/// What share of a bound the best of postings in several fields nearly always gets: a search that guessed too high is done twice.
const CLOSE: f32 = 0.8;
/// All postings of a window are read for candidates if they are at most this many times as many.
const PER_CANDIDATE: usize = 16;

/// The postings of a term.
pub(crate) struct TermList<'p> {
    source: ListSource<'p>,
    /// What is known of each window, by number.
    window_bounds: Vec<WindowBound>,
    /// Scores that about as many chunks get, or more; each in another chunk.
    likely: Vec<f32>,
}

enum ListSource<'p> {
    /// Chunks and what they get, ascending.
    Scored {
        chunks: Vec<u32>,
        scores: Vec<f32>,
    },
    Long {
        postings: &'p Postings<'p>,
        windows: Vec<ListWindow>,
        tables: ScoreTables<'p>,
    },
}

/// What a list can do in a window.
#[derive(Clone, Copy, Default)]
pub(super) struct WindowBound {
    /// At least what any of its chunks gets.
    pub(super) bound: f32,
    /// Number of postings.
    pub(super) count: u32,
    /// Where they are in the list's source: the first of its windows or scored chunks, and how many.
    from: u32,
    runs: u32,
}

impl WindowBound {
    fn add(&mut self, bound: f32, count: u32, at: usize) {
        if self.runs == 0 {
            self.from = at as u32;
        }
        self.bound = self.bound.max(bound);
        self.count += count;
        self.runs += 1;
    }
}

impl<'p> TermList<'p> {
    /// A list of a term with a positive factor.
    pub(crate) fn new(
        postings: &'p Postings<'p>,
        factor: f32,
        fields: &'p FieldScorer,
        snapshot: &Snapshot,
    ) -> Result<Self, StorageError> {
        let mut window_bounds =
            vec![WindowBound::default(); snapshot.manifest().next_chunk_id.div_ceil(WINDOW) as usize];
        let mut likely = Vec::new();
        let source = if postings.doc_frequency() <= SHORT {
            let (chunks, scores) = scored(postings, factor, fields, snapshot)?;
            for (at, (chunk, score)) in chunks.iter().zip(&scores).enumerate() {
                if let Some(reach) = window_bounds.get_mut((chunk / WINDOW) as usize) {
                    reach.add(*score, 1, at);
                }
            }
            likely.extend(&scores);
            ListSource::Scored { chunks, scores }
        } else {
            let windows = postings.windows(|impact| {
                let bound = factor * fields.upper_bound(impact);
                if impact.has_lengths() {
                    likely.push(if impact.other_fields.is_none() { bound } else { bound * CLOSE });
                }
                bound
            });
            for (at, window) in windows.iter().enumerate() {
                if let Some(reach) = window_bounds.get_mut(window.number as usize) {
                    reach.add(window.bound, window.count, at);
                }
            }
            let tables = ScoreTables::new(postings.parts(), factor, fields);
            ListSource::Long { postings, windows, tables }
        };
        Ok(Self { source, window_bounds, likely })
    }

    /// What about `k` chunks get, or more, if that is more than `least`; that otherwise, or if it cannot be told.
    pub(super) fn likely(&mut self, k: usize, least: f32) -> f32 {
        let mut above = std::mem::take(&mut self.likely);
        above.retain(|score| *score > least);
        if above.len() < k {
            return least;
        }
        *above.select_nth_unstable_by(k - 1, |a, b| b.total_cmp(a)).1
    }

    /// What the list can do in a window.
    #[inline]
    pub(super) fn reach(&self, window: u32) -> WindowBound {
        self.window_bounds.get(window as usize).copied().unwrap_or_default()
    }

    /// Gives the offsets whose score is at least `threshold`, ascending, with it; dead chunks may be among them.
    pub(super) fn for_each_above(
        &mut self,
        scratch: &mut WindowScratch<'_>,
        threshold: f32,
        mut each: impl FnMut(u16, f32),
    ) {
        let runs = self.runs(scratch.number);
        match &mut self.source {
            ListSource::Scored { chunks, scores } => {
                let scored = chunks[runs.clone()].iter().zip(&scores[runs]).filter(|(_, score)| **score >= threshold);
                scored.for_each(|(chunk, score)| each((chunk % WINDOW) as u16, *score));
            }
            ListSource::Long { postings, windows, tables } => {
                for window in windows.get(runs).unwrap_or_default() {
                    tables.prepare(window.part, postings);
                    let least = tables.least(window, postings, threshold);
                    postings.read(window, least, &mut scratch.postings);
                    tables.score(window.part, scratch);
                    let (offsets, scores) = (scratch.postings.offsets(), &scratch.scores);
                    for_each_above(scores, threshold, |at| each(offsets[at], scores[at]));
                }
            }
        }
    }

    /// Adds what offsets get to their accumulators.
    pub(super) fn add_all(&mut self, scratch: &mut WindowScratch<'_>, accumulators: &mut WindowAccumulators<'_>) {
        let runs = self.runs(scratch.number);
        match &mut self.source {
            ListSource::Scored { chunks, scores } => {
                accumulators.add(chunks[runs.clone()].iter().map(|chunk| (chunk % WINDOW) as u16), &scores[runs])
            }
            ListSource::Long { postings, windows, tables } => {
                for window in windows.get(runs).unwrap_or_default() {
                    tables.prepare(window.part, postings);
                    postings.read(window, 0, &mut scratch.postings);
                    tables.score(window.part, scratch);
                    accumulators.add(scratch.postings.offsets().iter().copied(), &scratch.scores);
                }
            }
        }
    }

    /// Adds what candidates get to their accumulators.
    pub(super) fn add_to(&mut self, scratch: &mut WindowScratch<'_>, candidates: &mut WindowCandidates) {
        let (runs, count) = (self.runs(scratch.number), self.reach(scratch.number).count as usize);
        match &mut self.source {
            ListSource::Scored { chunks, scores } => {
                for (chunk, score) in chunks[runs.clone()].iter().zip(&scores[runs]) {
                    if let Some(at) = candidates.find((chunk % WINDOW) as u16) {
                        candidates.add(at, *score);
                    }
                }
            }
            ListSource::Long { postings, windows, tables } => {
                for window in windows.get(runs).unwrap_or_default() {
                    tables.prepare(window.part, postings);
                    if count <= candidates.len() * PER_CANDIDATE {
                        postings.read(window, 0, &mut scratch.postings);
                        tables.add_to(window.part, scratch, candidates);
                    } else {
                        let mut cursor = postings.cursor(window);
                        for at in 0..candidates.len() {
                            let (offset, _) = candidates.as_slice()[at];
                            if let Some(coded) = cursor.seek(offset) {
                                candidates.add(at, tables.score_of(window.part, coded, scratch, offset));
                            }
                        }
                    }
                }
            }
        }
    }

    /// Where the source has what is in a window.
    fn runs(&self, window: u32) -> Range<usize> {
        let reach = self.reach(window);
        reach.from as usize..(reach.from + reach.runs) as usize
    }
}

/// The live chunks of a list with what they get.
fn scored(
    postings: &Postings<'_>,
    factor: f32,
    fields: &FieldScorer,
    snapshot: &Snapshot,
) -> Result<(Vec<u32>, Vec<f32>), StorageError> {
    let count = postings.doc_frequency() as usize;
    let (mut chunks, mut scores) = (Vec::with_capacity(count), Vec::with_capacity(count));
    let mut at = (u32::MAX, LengthColumns::NONE);
    let mut result = Ok(());
    postings.for_each(|ChunkId(chunk), row| {
        let window = chunk / WINDOW;
        if at.0 != window {
            match snapshot.window_lengths(window) {
                Ok(lengths) => at = (window, lengths),
                Err(error) => result = Err(error),
            }
        }
        chunks.push(chunk);
        scores.push(factor * fields.saturated(row, at.1.at((chunk % WINDOW) as u16)));
    });
    result.map(|()| (chunks, scores))
}
