//! The postings of one term, and what they can add in each window.

use aurora_storage::{ChunkId, LengthColumns, Postings, Snapshot, StorageError, WINDOW, Window};

use super::Desk;
use super::sums::Sums;
use super::table::Tables;
use crate::bm25::FieldScorer;

/// Lists of up to this many postings are scored at once, which gives them exact bounds.
const SHORT: u32 = 1024;
/// All postings of a window are read for candidates if they are at most this many times as many.
const PER_CANDIDATE: usize = 16;

/// The postings of a term.
pub(crate) struct List<'p> {
    source: Source<'p>,
    /// What is known of each window, by number.
    reaches: Vec<Reach>,
}

enum Source<'p> {
    /// Chunks and what they get, ascending.
    Scored {
        chunks: Vec<u32>,
        scores: Vec<f32>,
    },
    Long {
        postings: &'p Postings<'p>,
        windows: Vec<Window>,
        tables: Tables,
    },
}

/// What a list can do in a window.
#[derive(Clone, Copy, Default)]
pub(super) struct Reach {
    /// At least what any of its chunks gets.
    pub(super) bound: f32,
    /// Number of postings.
    pub(super) count: u32,
    /// Where they are in the list's source: the first of its windows or scored chunks, and how many.
    from: u32,
    runs: u32,
}

impl Reach {
    fn add(&mut self, bound: f32, count: u32, at: usize) {
        if self.runs == 0 {
            self.from = at as u32;
        }
        self.bound = self.bound.max(bound);
        self.count += count;
        self.runs += 1;
    }
}

impl<'p> List<'p> {
    /// A list of a term with a positive factor.
    pub(crate) fn new(
        postings: &'p Postings<'p>,
        factor: f32,
        fields: &FieldScorer,
        snapshot: &Snapshot,
    ) -> Result<Self, StorageError> {
        let mut reaches = vec![Reach::default(); snapshot.manifest().next_chunk_id.div_ceil(WINDOW) as usize];
        let source = if postings.doc_frequency() <= SHORT {
            let (chunks, scores) = scored(postings, factor, fields, snapshot)?;
            for (at, (chunk, score)) in chunks.iter().zip(&scores).enumerate() {
                if let Some(reach) = reaches.get_mut((chunk / WINDOW) as usize) {
                    reach.add(*score, 1, at);
                }
            }
            Source::Scored { chunks, scores }
        } else {
            let windows = postings.windows(|corner| factor * fields.bound(corner));
            for (at, window) in windows.iter().enumerate() {
                if let Some(reach) = reaches.get_mut(window.number as usize) {
                    reach.add(window.bound, window.count, at);
                }
            }
            let tables = Tables::new(postings.parts(), factor, fields);
            Source::Long { postings, windows, tables }
        };
        Ok(Self { source, reaches })
    }

    /// What the list can do in a window.
    #[inline]
    pub(super) fn reach(&self, window: u32) -> Reach {
        self.reaches.get(window as usize).copied().unwrap_or_default()
    }

    /// Gives the places that hold the term, ascending, with what they get; dead chunks may be among them.
    #[inline]
    pub(super) fn each(&mut self, desk: &mut Desk<'_>, mut each: impl FnMut(&[u16], &[f32])) {
        let reach = self.reach(desk.number);
        let runs = reach.from as usize..(reach.from + reach.runs) as usize;
        match &mut self.source {
            Source::Scored { chunks, scores } => {
                desk.places.clear();
                desk.places.extend(chunks[runs.clone()].iter().map(|chunk| (chunk % WINDOW) as u16));
                each(&desk.places, &scores[runs]);
            }
            Source::Long { postings, windows, tables } => {
                for window in windows.get(runs).unwrap_or_default() {
                    postings.read(window, &mut desk.postings);
                    tables.prepare(window.part, postings);
                    tables.score(window.part, desk);
                    let places = desk.postings.places();
                    each(places, &desk.scores);
                }
            }
        }
    }

    /// Adds what candidates get to their sums, and perhaps to those of others; places ascend.
    pub(super) fn add_to(&mut self, desk: &mut Desk<'_>, candidates: &[u16], sums: &mut Sums) {
        let reach = self.reach(desk.number);
        if reach.count as usize <= candidates.len() * PER_CANDIDATE {
            return self.each(desk, |places, scores| sums.add(places, scores));
        }
        let runs = reach.from as usize..(reach.from + reach.runs) as usize;
        match &mut self.source {
            Source::Scored { chunks, scores } => {
                let (chunks, scores) = (&chunks[runs.clone()], &scores[runs]);
                for place in candidates {
                    if let Ok(at) = chunks.binary_search(&(desk.number * WINDOW + u32::from(*place))) {
                        sums.add_one(*place, scores[at]);
                    }
                }
            }
            Source::Long { postings, windows, tables } => {
                for window in windows.get(runs).unwrap_or_default() {
                    tables.prepare(window.part, postings);
                    let mut probe = postings.probe(window);
                    for place in candidates {
                        if let Some(coded) = probe.find(*place) {
                            sums.add_one(*place, tables.score_of(window.part, coded, desk, *place));
                        }
                    }
                }
            }
        }
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
