//! What the rows of a palette are worth.

use aurora_storage::{Coded, Corner, FIELDS, Field, LengthColumns, Postings, Row, WINDOW, Window};

use super::Desk;
use super::candidates::Candidates;
use crate::bm25::{FieldScorer, LENGTHS};

const BODY: usize = Field::Body.index();
/// Codes of a small palette.
const FEW: usize = 16;
/// For so many postings it pays to look at another row of the palette.
const PER_ROW: u32 = 8;

/// What the postings of a list get, by the code of their row and the lengths of their fields.
pub(super) struct Tables<'p> {
    fields: &'p FieldScorer,
    factor: f32,
    /// For each part that was read the table of its palette.
    of_part: Vec<Option<Table<'p>>>,
}

/// The rows of one palette.
struct Table<'p> {
    palette: &'p [Row],
    /// For the first codes what a posting gets by the length of its body, if its row is in the body alone.
    curves: [&'p [f32; LENGTHS]; FEW],
    /// Whether there is nothing else.
    is_complete: bool,
    kinds: Vec<Kind>,
}

/// What a row is like.
#[derive(Clone, Copy)]
enum Kind {
    /// There is a curve.
    Curve,
    /// So often in some fields.
    Mixed { fields: [u8; FIELDS], frequencies: [f32; FIELDS], count: u8 },
}

impl Kind {
    fn mixed(row: &Row) -> Self {
        let (mut fields, mut frequencies, mut count) = ([0; FIELDS], [0.0; FIELDS], 0);
        for (field, &frequency) in row.iter().enumerate().filter(|(_, frequency)| **frequency > 0) {
            (fields[count], frequencies[count]) = (field as u8, f32::from(frequency));
            count += 1;
        }
        Self::Mixed { fields, frequencies, count: count as u8 }
    }
}

impl<'p> Tables<'p> {
    /// For a list of so many parts, and what scores are multiplied with.
    pub(super) fn new(parts: usize, factor: f32, fields: &'p FieldScorer) -> Self {
        Self { fields, factor, of_part: (0..parts).map(|_| None).collect() }
    }

    /// Prepares for a part.
    pub(super) fn prepare(&mut self, part: usize, postings: &'p Postings<'_>) {
        self.of_part[part].get_or_insert_with(|| Table::new(postings.palette(part), self.fields));
    }

    /// The table of a part that it was prepared for.
    #[inline]
    fn of(&self, part: usize) -> Option<&Table<'p>> {
        self.of_part[part].as_ref()
    }

    /// The lowest code whose row may get `bar` in a window: no posting with a lower one does.
    pub(super) fn least(&self, window: &Window, postings: &Postings<'_>, bar: f32) -> u8 {
        let Some(table) = self.of(window.part) else { return 0 };
        let (mut corners, mut count) = ([Corner::Body { frequency: 0, length: 0 }; CORNERS], 0);
        postings.corners(window, |corner| {
            if let Some(room) = corners.get_mut(count) {
                *room = *corner;
            }
            count += 1;
        });
        let Some(corners) = corners.get(..count).filter(|corners| !corners.is_empty()) else { return 0 };
        let rows = table.palette.len().min((window.count / PER_ROW) as usize);
        let reaches = |code: &usize| {
            let row = &table.palette[*code];
            corners.iter().any(|corner| self.factor * self.fields.below(row, corner) >= bar)
        };
        (0..rows).find(reaches).unwrap_or(rows) as u8
    }

    /// Scores the postings on the desk, which are of a part that it was prepared for.
    pub(super) fn score(&self, part: usize, desk: &mut Desk<'_>) {
        let Some(table) = self.of(part) else { return };
        let Desk { lengths, postings, scores, .. } = desk;
        scores.resize(postings.places().len(), 0.0);
        let coded = scores.iter_mut().zip(postings.places()).zip(postings.codes());
        if table.is_complete {
            let lengths = lengths.of_field(BODY);
            for ((score, &place), &code) in coded {
                *score = self.factor * table.of_curve(code, lengths[usize::from(place) % WINDOW as usize]);
            }
        } else {
            for ((score, &place), &code) in coded {
                *score = table.score(code, self.factor, self.fields, lengths, place);
            }
        }
        for (at, row) in postings.rare() {
            let at = usize::from(*at);
            scores[at] = self.factor * self.fields.saturated(*row, lengths.at(postings.places()[at]));
        }
    }

    /// Adds what the postings on the desk get to the sums of candidates.
    pub(super) fn add_to(&self, part: usize, desk: &mut Desk<'_>, candidates: &mut Candidates) {
        let Some(table) = self.of(part) else { return };
        let Desk { lengths, postings, posting_at, hits, .. } = desk;
        posting_at.fill(0);
        for (&place, number) in postings.places().iter().zip(1..) {
            posting_at[usize::from(place) % WINDOW as usize] = number;
        }
        // Without a branch, since nobody can guess which of them hold the term.
        hits.resize(candidates.places().len(), (0, 0));
        let mut count = 0;
        for (&place, index) in candidates.places().iter().zip(0..) {
            let number = posting_at[usize::from(place) % WINDOW as usize];
            hits[count] = (index, number.wrapping_sub(1));
            count += usize::from(number > 0);
        }
        let (places, codes) = (postings.places(), postings.codes());
        let mut rare = postings.rare().iter().peekable();
        for &(index, number) in &hits[..count] {
            let (place, code) = (places[usize::from(number)], codes[usize::from(number)]);
            let score = if usize::from(code) < table.kinds.len() {
                table.score(code, self.factor, self.fields, lengths, place)
            } else {
                while rare.next_if(|(at, _)| *at < number).is_some() {}
                rare.peek().map_or(0.0, |(_, row)| self.factor * self.fields.saturated(*row, lengths.at(place)))
            };
            candidates.add(index.into(), score);
        }
    }

    /// The score of one posting of a part that it was prepared for.
    #[inline]
    pub(super) fn score_of(&self, part: usize, coded: Coded, desk: &Desk<'_>, place: u16) -> f32 {
        match (coded, self.of(part)) {
            (Coded::Code(code), Some(table)) => table.score(code, self.factor, self.fields, &desk.lengths, place),
            (Coded::Rare(row), _) => self.factor * self.fields.saturated(row, desk.lengths.at(place)),
            (Coded::Code(_), None) => 0.0,
        }
    }
}

/// Corners that are looked at for each row.
const CORNERS: usize = 32;

impl<'p> Table<'p> {
    fn new(palette: &'p [Row], fields: &'p FieldScorer) -> Self {
        let mut curves = [&[0.0; LENGTHS]; FEW];
        let mut kinds = Vec::with_capacity(palette.len());
        for (code, row) in palette.iter().enumerate() {
            let curve = if row[..BODY] == [0; BODY] { fields.curve(row[BODY]) } else { None };
            match (curves.get_mut(code), curve) {
                (Some(place), Some(curve)) => {
                    *place = curve;
                    kinds.push(Kind::Curve);
                }
                _ => kinds.push(Kind::mixed(row)),
            }
        }
        let is_complete = kinds.iter().all(|kind| matches!(kind, Kind::Curve));
        Self { palette, curves, is_complete, kinds }
    }

    /// The score of a row in the body alone.
    #[inline]
    fn of_curve(&self, code: u8, length: u8) -> f32 {
        self.curves[usize::from(code) % FEW][usize::from(length)]
    }

    #[inline]
    fn score(&self, code: u8, factor: f32, fields: &FieldScorer, lengths: &LengthColumns<'_>, place: u16) -> f32 {
        let length = |field: usize| lengths.of_field(field)[usize::from(place) % WINDOW as usize];
        match self.kinds.get(usize::from(code)) {
            Some(Kind::Curve) => factor * self.of_curve(code, length(BODY)),
            Some(Kind::Mixed { fields: held, frequencies, count }) => {
                let mut sum = 0.0;
                for (&field, frequency) in held.iter().zip(frequencies).take((*count).into()) {
                    let field = usize::from(field) % FIELDS;
                    sum += fields.weighted(field, *frequency, length(field));
                }
                factor * fields.saturate(sum)
            }
            None => 0.0,
        }
    }
}
