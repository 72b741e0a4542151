//! What the rows of a palette are worth.

use aurora_storage::{Coded, FIELDS, Field, LengthColumns, Postings, Row, WINDOW, Window, is_body_alone};

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
    /// How many codes have one, from the first on.
    with_curve: usize,
    /// Every row as fractions.
    rows: Vec<[f32; FIELDS]>,
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
        let mut least = table.palette.len().min((window.count / PER_ROW) as usize);
        let known = postings.corners(window, |corner| {
            let score = |row: &Row| corner.shortest(row).map_or(0.0, |lengths| self.fields.saturated(*row, lengths));
            let reaching = table.palette[..least].iter().position(|row| self.factor * score(row) >= bar);
            least = reaching.unwrap_or(least);
        });
        known.map_or(0, |()| least as u8)
    }

    /// Scores the postings on the desk, which are of a part that it was prepared for.
    pub(super) fn score(&self, part: usize, desk: &mut Desk<'_>) {
        let Some(table) = self.of(part) else { return };
        let Desk { lengths, postings, scores, .. } = desk;
        scores.resize(postings.places().len(), 0.0);
        let coded = scores.iter_mut().zip(postings.places()).zip(postings.codes());
        if table.with_curve == table.palette.len() {
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
        let posting_at = posting_at.get_or_insert_with(|| Box::new([0; WINDOW as usize]));
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
            let score = if usize::from(code) < table.palette.len() {
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
        let mut curves = [&[0.0; LENGTHS]; FEW];
        let rows = palette.iter().map(|row| row.map(f32::from)).collect();
        let low = palette.iter().map_while(|row| if is_body_alone(row) { fields.curve(row[BODY]) } else { None });
        let mut with_curve = 0;
        for (place, curve) in curves.iter_mut().zip(low) {
            *place = curve;
            with_curve += 1;
        }
        Self { palette, curves, with_curve, rows }
    }

    /// The score of a row in the body alone.
    #[inline]
    fn of_curve(&self, code: u8, length: u8) -> f32 {
        self.curves[usize::from(code) % FEW][usize::from(length)]
    }

    /// The score of a row in any fields; 0 for a code that is not in the palette.
    #[inline]
    fn score(&self, code: u8, factor: f32, fields: &FieldScorer, lengths: &LengthColumns<'_>, place: u16) -> f32 {
        if usize::from(code) < self.with_curve {
            return factor * self.of_curve(code, lengths.of_field(BODY)[usize::from(place) % WINDOW as usize]);
        }
        let Some(row) = self.rows.get(usize::from(code)) else { return 0.0 };
        factor * fields.saturated_of(row, lengths.at(place))
    }
}
