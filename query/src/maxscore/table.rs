//! What the rows of a palette are worth.

use aurora_storage::{Coded, FIELDS, LengthColumns, Row, WINDOW};

use super::Desk;
use crate::bm25::{FieldScorer, LENGTHS};

/// What the postings of one part get, by the code of their row and the lengths of their fields.
pub(super) struct Table {
    factor: f32,
    /// For each row of a single field what it gets by the length of that; zeros for other rows, and up to at least [`FEW`].
    curves: Vec<[f32; LENGTHS]>,
    kinds: Vec<Kind>,
    rows: Vec<Row>,
    /// The one field of all rows of the palette, if there is only one.
    only: Option<usize>,
}

/// Rows of a small palette, and one that is not in it.
const FEW: usize = 16;

/// What a row is like.
#[derive(Clone, Copy)]
enum Kind {
    /// It is in this field alone.
    Single(usize),
    /// It is in several.
    Mixed,
}

impl Table {
    /// For a palette, and what scores are multiplied with; `before` are tables of other parts of the same list.
    pub(super) fn new(palette: &[Row], factor: f32, fields: &FieldScorer, before: &[Option<Self>]) -> Self {
        let kind = |row: &Row| {
            let mut held = (0..FIELDS).filter(|&field| row[field] > 0);
            match (held.next(), held.next()) {
                (Some(field), None) => Kind::Single(field),
                _ => Kind::Mixed,
            }
        };
        let kinds: Vec<Kind> = palette.iter().map(kind).collect();
        let mut curves = vec![[0.0; LENGTHS]; palette.len().max(FEW)];
        for ((row, kind), curve) in palette.iter().zip(&kinds).zip(&mut curves) {
            if let Kind::Single(field) = *kind {
                // Parts of a list have mostly the same rows.
                match before.iter().flatten().find_map(|table| table.curve(row)) {
                    Some(known) => *curve = *known,
                    None => fields.curve(field, row[field], factor, curve),
                }
            }
        }
        let field = |kind: &Kind| if let Kind::Single(field) = kind { Some(*field) } else { None };
        let first = kinds.first().and_then(field);
        let only = first.filter(|_| kinds.iter().all(|kind| field(kind) == first));
        Self { factor, curves, kinds, rows: palette.to_vec(), only }
    }

    /// The curve of a row of a single field.
    fn curve(&self, row: &Row) -> Option<&[f32; LENGTHS]> {
        let at = self.rows.iter().position(|known| known == row)?;
        self.curves.get(at)
    }

    /// Scores the postings on the desk.
    pub(super) fn score(&self, desk: &mut Desk<'_>) {
        let Desk { fields, lengths, postings, scores, .. } = desk;
        let coded = postings.places().iter().zip(postings.codes()).zip(scores.iter_mut());
        match (self.only, self.curves.first_chunk::<FEW>()) {
            (Some(field), Some(curves)) if self.kinds.len() < FEW => {
                let lengths = lengths.of_field(field);
                for ((&place, &code), score) in coded {
                    let length = lengths[usize::from(place) % WINDOW as usize];
                    *score = curves[usize::from(code) % FEW][usize::from(length)];
                }
            }
            _ => {
                for ((&place, &code), score) in coded {
                    *score = self.score_of(Coded::Code(code), fields, lengths, place);
                }
            }
        }
        for (at, row) in postings.rare() {
            let at = usize::from(*at);
            scores[at] = self.factor * fields.saturated(*row, lengths.at(postings.places()[at]));
        }
    }

    /// The score of one posting.
    #[inline]
    pub(super) fn score_of(&self, coded: Coded, fields: &FieldScorer, lengths: &LengthColumns<'_>, place: u16) -> f32 {
        let row = match coded {
            Coded::Rare(row) => row,
            Coded::Code(code) => match self.kinds.get(usize::from(code)) {
                Some(Kind::Single(field)) => {
                    let length = lengths.of_field(*field)[usize::from(place) % WINDOW as usize];
                    return self.curves[usize::from(code)][usize::from(length)];
                }
                Some(Kind::Mixed) => self.rows[usize::from(code)],
                None => return 0.0,
            },
        };
        self.factor * fields.saturated(row, lengths.at(place))
    }
}
