//! What the rows of a palette are worth.

use aurora_storage::{Coded, FIELDS, Field, LengthColumns, Postings, Row, WINDOW};

use super::Desk;
use crate::bm25::{FieldScorer, LENGTHS};

const BODY: usize = Field::Body.index();
/// Frequencies below this have a curve, and palettes up to this length are small.
const FEW: usize = 16;

/// What the postings of a list get, by the code of their row and the lengths of their fields.
pub(super) struct Tables {
    factor: f32,
    /// For each frequency in the body alone what it gets by the length of that.
    curves: Box<[[f32; LENGTHS]; FEW]>,
    parts: Vec<Option<Table>>,
}

/// The rows of the palette of one part.
pub(super) struct Table {
    kinds: Vec<Kind>,
    /// For each code of a small palette whose rows all have a curve the number of that; 0 for what is not in the palette.
    curves: Option<[u8; FEW]>,
}

/// What a row is like.
#[derive(Clone, Copy)]
enum Kind {
    /// So often in the body alone, and there is a curve.
    Curve(u8),
    /// So often in some fields.
    Mixed { fields: [u8; FIELDS], frequencies: [f32; FIELDS], count: u8 },
}

impl Kind {
    fn of(row: &Row) -> Self {
        if row[..BODY] == [0; BODY] && usize::from(row[BODY]) < FEW {
            return Self::Curve(row[BODY] as u8);
        }
        let (mut fields, mut frequencies, mut count) = ([0; FIELDS], [0.0; FIELDS], 0);
        for (field, &frequency) in row.iter().enumerate().filter(|(_, frequency)| **frequency > 0) {
            (fields[count], frequencies[count]) = (field as u8, f32::from(frequency));
            count += 1;
        }
        Self::Mixed { fields, frequencies, count: count as u8 }
    }
}

impl Tables {
    /// For a list of so many parts, and what scores are multiplied with.
    pub(super) fn new(parts: usize, factor: f32, fields: &FieldScorer) -> Self {
        let mut curves = Box::new([[0.0; LENGTHS]; FEW]);
        curves.iter_mut().zip(0..).for_each(|(curve, frequency)| fields.curve(BODY, frequency, factor, curve));
        Self { factor, curves, parts: (0..parts).map(|_| None).collect() }
    }

    /// Prepares for a part.
    pub(super) fn prepare(&mut self, part: usize, postings: &Postings<'_>) {
        self.parts[part].get_or_insert_with(|| Table::new(postings.palette(part)));
    }

    /// Scores the postings on the desk, which are of a part that it was prepared for.
    pub(super) fn score(&self, part: usize, desk: &mut Desk<'_>) {
        let Some(Some(table)) = self.parts.get(part) else { return };
        let Desk { fields, lengths, postings, scores, .. } = desk;
        let coded = postings.places().iter().zip(postings.codes());
        scores.clear();
        if let Some(of) = &table.curves {
            let lengths = lengths.of_field(BODY);
            scores.extend(coded.map(|(&place, &code)| {
                let length = lengths[usize::from(place) % WINDOW as usize];
                self.curves[usize::from(of[usize::from(code) % FEW]) % FEW][usize::from(length)]
            }));
        } else {
            scores.extend(coded.map(|(&place, &code)| self.score_of_code(table, code, fields, lengths, place)));
        }
        for (at, row) in postings.rare() {
            let at = usize::from(*at);
            scores[at] = self.factor * fields.saturated(*row, lengths.at(postings.places()[at]));
        }
    }

    /// The score of one posting of a part that it was prepared for.
    #[inline]
    pub(super) fn score_of(&self, part: usize, coded: Coded, desk: &Desk<'_>, place: u16) -> f32 {
        match (coded, &self.parts[part]) {
            (Coded::Code(code), Some(table)) => self.score_of_code(table, code, desk.fields, &desk.lengths, place),
            (Coded::Rare(row), _) => self.factor * desk.fields.saturated(row, desk.lengths.at(place)),
            (Coded::Code(_), None) => 0.0,
        }
    }

    #[inline]
    fn score_of_code(
        &self,
        table: &Table,
        code: u8,
        fields: &FieldScorer,
        lengths: &LengthColumns<'_>,
        place: u16,
    ) -> f32 {
        let length = |field: usize| lengths.of_field(field)[usize::from(place) % WINDOW as usize];
        match table.kinds.get(usize::from(code)) {
            Some(Kind::Curve(curve)) => self.curves[usize::from(*curve) % FEW][usize::from(length(BODY))],
            Some(Kind::Mixed { fields: held, frequencies, count }) => {
                let mut sum = 0.0;
                for (&field, frequency) in held.iter().zip(frequencies).take((*count).into()) {
                    let field = usize::from(field) % FIELDS;
                    sum += fields.weighted(field, *frequency, length(field));
                }
                self.factor * fields.saturate(sum)
            }
            None => 0.0,
        }
    }
}

impl Table {
    fn new(palette: &[Row]) -> Self {
        let kinds: Vec<Kind> = palette.iter().map(Kind::of).collect();
        let mut curves = (palette.len() < FEW).then_some([0; FEW]);
        for (code, kind) in kinds.iter().enumerate() {
            match (kind, &mut curves) {
                (Kind::Curve(curve), Some(curves)) => curves[code] = *curve,
                (Kind::Mixed { .. }, curves) => *curves = None,
                (_, None) => {}
            }
        }
        Self { kinds, curves }
    }
}
