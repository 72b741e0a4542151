//! The postings of one term, and what they can add in each window.

use aurora_storage::{FIELDS, Postings, Row, Snapshot, StorageError, WINDOW, Window, WindowPostings};

use super::Desk;
use crate::bm25::FieldScorer;

/// Lists of up to this many postings are scored at once, which gives them exact bounds.
const SHORT: u32 = 1024;
/// All postings of a window are read for candidates if they are at most this many times as many.
const PER_CANDIDATE: usize = 4;
/// Different lengths of a field.
const LENGTHS: usize = 1 << 8;

/// The postings of a term.
pub(crate) struct List<'p> {
    source: Source<'p>,
    factor: f32,
    /// What is known of each window, by number.
    reaches: Vec<Reach>,
}

enum Source<'p> {
    /// Chunks and what they get, ascending.
    Scored(Vec<(u32, f32)>),
    Long { postings: &'p Postings<'p>, windows: Vec<Window>, tables: Vec<Option<Table>> },
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
            let scored = scored(postings, factor, fields, snapshot)?;
            for (at, (chunk, score)) in scored.iter().enumerate() {
                if let Some(reach) = reaches.get_mut((chunk / WINDOW) as usize) {
                    reach.add(*score, 1, at);
                }
            }
            Source::Scored(scored)
        } else {
            let windows =
                postings.windows(|corner| factor * fields.saturated(corner.frequencies, corner.lengths));
            for (at, window) in windows.iter().enumerate() {
                if let Some(reach) = reaches.get_mut(window.number as usize) {
                    reach.add(window.bound, window.count, at);
                }
            }
            let tables = (0..postings.parts()).map(|_| None).collect();
            Source::Long { postings, windows, tables }
        };
        Ok(Self { source, factor, reaches })
    }

    /// What the list can do in a window.
    #[inline]
    pub(super) fn reach(&self, window: u32) -> Reach {
        self.reaches.get(window as usize).copied().unwrap_or_default()
    }

    /// Gives the places that hold the term, ascending, with what they get; dead chunks may be among them.
    #[inline]
    pub(super) fn each(&mut self, desk: &mut Desk<'_>, mut each: impl FnMut(u16, f32)) {
        let reach = self.reach(desk.number);
        let runs = reach.from as usize..(reach.from + reach.runs) as usize;
        match &mut self.source {
            Source::Scored(scored) => {
                let inside = scored.get(runs).unwrap_or_default();
                inside.iter().for_each(|&(chunk, score)| each((chunk % WINDOW) as u16, score));
            }
            Source::Long { postings, windows, tables } => {
                for window in windows.get(runs).unwrap_or_default() {
                    postings.read(window, &mut desk.postings);
                    let table = tables[window.part]
                        .get_or_insert_with(|| Table::new(postings.palette(window.part), self.factor, desk.fields));
                    table.each(desk, self.factor, &mut each);
                }
            }
        }
    }

    /// Adds what the places of candidates get, which ascend.
    pub(super) fn add_to(&mut self, desk: &mut Desk<'_>, candidates: &mut [(u16, f32)]) {
        let reach = self.reach(desk.number);
        if reach.count == 0 {
            return;
        }
        if reach.count as usize <= candidates.len() * PER_CANDIDATE {
            let mut left = candidates.iter_mut().peekable();
            self.each(desk, |place, score| {
                while left.next_if(|(candidate, _)| *candidate < place).is_some() {}
                if let Some((_, sum)) = left.next_if(|(candidate, _)| *candidate == place) {
                    *sum += score;
                }
            });
            return;
        }
        let runs = reach.from as usize..(reach.from + reach.runs) as usize;
        match &self.source {
            Source::Scored(scored) => {
                let inside = scored.get(runs).unwrap_or_default();
                for (place, sum) in candidates {
                    let chunk = desk.number * WINDOW + u32::from(*place);
                    if let Ok(at) = inside.binary_search_by_key(&chunk, |(chunk, _)| *chunk) {
                        *sum += inside[at].1;
                    }
                }
            }
            Source::Long { postings, windows, .. } => {
                let windows = windows.get(runs).unwrap_or_default();
                for (place, sum) in candidates {
                    if let Some(row) = windows.iter().find_map(|window| postings.find_in(window, *place)) {
                        *sum += self.factor * desk.fields.saturated(row, desk.lengths.at(*place));
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
) -> Result<Vec<(u32, f32)>, StorageError> {
    let mut scored = Vec::with_capacity(postings.doc_frequency() as usize);
    let mut at = (u32::MAX, aurora_storage::LengthColumns::NONE);
    let mut result = Ok(());
    postings.for_each(|chunk, row| {
        let window = chunk.0 / WINDOW;
        if at.0 != window {
            match snapshot.window_lengths(window) {
                Ok(lengths) => at = (window, lengths),
                Err(error) => result = Err(error),
            }
        }
        scored.push((chunk.0, factor * fields.saturated(row, at.1.at((chunk.0 % WINDOW) as u16))));
    });
    result.map(|()| scored)
}

/// What the rows of a palette get, by code.
struct Table {
    /// For each row of a single field what it gets by the field's length.
    scores: Vec<[f32; LENGTHS]>,
    kinds: Vec<Kind>,
    /// The one field of all rows, if there is only one.
    only: Option<usize>,
}

/// What a row is like.
enum Kind {
    /// It is in this field alone.
    Single(usize),
    /// It is in several.
    Mixed(Row),
}

impl Table {
    fn new(palette: &[Row], factor: f32, fields: &FieldScorer) -> Self {
        let (mut scores, mut kinds) = (vec![[0.0; LENGTHS]; palette.len()], Vec::with_capacity(palette.len()));
        for (row, scores) in palette.iter().zip(&mut scores) {
            let mut held = (0..FIELDS).filter(|&field| row[field] > 0);
            kinds.push(match (held.next(), held.next()) {
                (Some(field), None) => {
                    for (score, length) in scores.iter_mut().zip(0..=u8::MAX) {
                        *score = factor * fields.saturate(fields.weighted(field, row[field], length));
                    }
                    Kind::Single(field)
                }
                _ => Kind::Mixed(*row),
            });
        }
        let field = |kind: &Kind| if let Kind::Single(field) = kind { Some(*field) } else { None };
        let first = kinds.first().and_then(field);
        let only = first.filter(|_| kinds.iter().all(|kind| field(kind) == first));
        Self { scores, kinds, only }
    }

    /// Gives the places of the postings on the desk with what they get.
    #[inline]
    fn each(&self, desk: &Desk<'_>, factor: f32, each: &mut impl FnMut(u16, f32)) {
        let Desk { fields, lengths, postings, .. } = desk;
        let postings: &WindowPostings = postings;
        let coded = postings.places().iter().zip(postings.codes());
        if let Some(field) = self.only.filter(|_| postings.rare().is_empty()) {
            let lengths = lengths.of_field(field);
            for (&place, &code) in coded {
                let length = lengths[usize::from(place) % WINDOW as usize];
                each(place, self.scores.get(usize::from(code)).map_or(0.0, |scores| scores[usize::from(length)]));
            }
            return;
        }
        let mut rare = postings.rare().iter();
        for (&place, &code) in coded {
            let score = match self.kinds.get(usize::from(code)) {
                Some(Kind::Single(field)) => {
                    let length = lengths.of_field(*field)[usize::from(place) % WINDOW as usize];
                    self.scores[usize::from(code)][usize::from(length)]
                }
                Some(Kind::Mixed(row)) => factor * fields.saturated(*row, lengths.at(place)),
                None => {
                    let row = rare.next().copied().unwrap_or_default();
                    factor * fields.saturated(row, lengths.at(place))
                }
            };
            each(place, score);
        }
    }
}
