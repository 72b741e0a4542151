//! What the rows of a palette are worth.

use aurora_storage::{Coded, FIELDS, Field, LengthColumns, Postings, Row, WINDOW, Window, is_body_alone};

use super::candidates::Candidates;
use super::{Desk, by_place};
use crate::bm25::{FieldScorer, LENGTHS};

const BODY: usize = Field::Body.index();
/// Different codes.
const CODES: usize = 1 << 8;
/// Of rows that have none.
static NO_CURVE: [f32; LENGTHS] = [0.0; LENGTHS];
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
    /// By code what a posting gets by the length of its body, if its row is in the body alone.
    curves: Box<[&'p [f32; LENGTHS]; CODES]>,
    /// Which codes have none, and whether there are such.
    without_curve: [bool; CODES],
    any_without: bool,
    /// Every row as fractions, and whether it is in the body alone.
    rows: Vec<([f32; FIELDS], bool)>,
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
        let mut least = table.rows.len().min((window.count / PER_ROW) as usize);
        let needed = self.fields.needed(bar / self.factor);
        let known = postings.corners(window, |corner| {
            if self.factor * self.fields.bound(corner) >= bar {
                let in_body = corner.beside.is_none();
                let norms = self.fields.norms(corner);
                let reaching = table.rows[..least].iter().position(|(row, row_in_body)| {
                    let highest: f32 = row.iter().zip(&norms).map(|(frequency, norm)| frequency * norm).sum();
                    highest >= needed
                        && *row_in_body == in_body
                        && self.factor * self.fields.bound_of(row, corner) >= bar
                });
                least = reaching.unwrap_or(least);
            }
        });
        known.map_or(0, |()| least as u8)
    }

    /// Scores the postings on the desk, which are of a part that it was prepared for.
    pub(super) fn score(&self, part: usize, desk: &mut Desk<'_>) {
        let Some(table) = self.of(part) else { return };
        let Desk { lengths, postings, scores, mixed, .. } = desk;
        let (places, codes) = (postings.places(), postings.codes());
        scores.resize(places.len(), 0.0);
        let body = lengths.of_field(BODY);
        let curve_of =
            |place: u16, code: u8| self.factor * table.of_curve(code, body[usize::from(place) % WINDOW as usize]);
        let coded = scores.iter_mut().zip(places).zip(codes);
        if table.any_without {
            // Those without a curve later: nobody can guess which they are.
            mixed.resize(places.len(), 0);
            let mut count = 0;
            for (((score, &place), &code), index) in coded.zip(0..) {
                *score = curve_of(place, code);
                mixed[count] = index;
                count += usize::from(table.without_curve[usize::from(code)]);
            }
            for at in mixed[..count].iter().map(|at| usize::from(*at)) {
                scores[at] = table.score_mixed(codes[at], self.factor, self.fields, lengths, places[at]);
            }
        } else {
            coded.for_each(|((score, &place), &code)| *score = curve_of(place, code));
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
        let posting_at = posting_at.get_or_insert_with(by_place);
        posting_at.fill(0);
        for (&place, number) in postings.places().iter().zip(1..) {
            posting_at[usize::from(place) % WINDOW as usize] = number;
        }
        // Without a branch, since nobody can guess which of them hold the term.
        hits.resize(candidates.len(), (0, 0));
        let mut count = 0;
        for (&(place, _), index) in candidates.as_slice().iter().zip(0..) {
            let number = posting_at[usize::from(place) % WINDOW as usize];
            hits[count] = (index, number.wrapping_sub(1));
            count += usize::from(number > 0);
        }
        let (places, codes) = (postings.places(), postings.codes());
        let mut rare = postings.rare().iter().peekable();
        for &(index, number) in &hits[..count] {
            let (place, code) = (places[usize::from(number)], codes[usize::from(number)]);
            let score = if usize::from(code) < table.rows.len() {
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

impl<'p> Table<'p> {
    fn new(palette: &'p [Row], fields: &'p FieldScorer) -> Self {
        let rows: Vec<_> = palette.iter().map(|row| (row.map(f32::from), is_body_alone(row))).collect();
        let (mut curves, mut without_curve) = (Box::new([&NO_CURVE; CODES]), [true; CODES]);
        for (code, row) in palette.iter().enumerate().filter(|(_, row)| is_body_alone(row)) {
            if let Some(curve) = fields.curve(row[BODY]) {
                (curves[code], without_curve[code]) = (curve, false);
            }
        }
        let any_without = without_curve[..palette.len()].contains(&true);
        Self { curves, without_curve, any_without, rows }
    }

    /// The score of a row in the body alone.
    #[inline]
    fn of_curve(&self, code: u8, length: u8) -> f32 {
        self.curves[usize::from(code)][usize::from(length)]
    }

    /// The score of a row without a curve; 0 for a code that is not in the palette.
    #[inline]
    fn score_mixed(&self, code: u8, factor: f32, fields: &FieldScorer, lengths: &LengthColumns<'_>, place: u16) -> f32 {
        let Some((row, _)) = self.rows.get(usize::from(code)) else { return 0.0 };
        factor * fields.saturated_of(row, lengths.at(place))
    }

    /// The score of a row in any fields; 0 for a code that is not in the palette.
    #[inline]
    fn score(&self, code: u8, factor: f32, fields: &FieldScorer, lengths: &LengthColumns<'_>, place: u16) -> f32 {
        match self.without_curve[usize::from(code)] {
            true => self.score_mixed(code, factor, fields, lengths, place),
            false => factor * self.of_curve(code, lengths.of_field(BODY)[usize::from(place) % WINDOW as usize]),
        }
    }
}
