//! What the rows of a dictionary are worth.

use aurora_storage::{FIELDS, Field, LengthColumns, ListWindow, Postings, TfCode, TfVector, WINDOW, is_body_only};

use super::candidates::WindowCandidates;
use super::{WindowScratch, by_offset};
use crate::bm25::{FieldScorer, LENGTHS};

const BODY: usize = Field::Body.index();
/// Different codes.
const CODES: usize = 1 << 8;
/// Of rows that have none.
static NO_SCORES: [f32; LENGTHS] = [0.0; LENGTHS];
/// For so many postings it pays to look at another row of the dictionary.
const PER_ROW: u32 = 8;

/// What the postings of a list get, by the code of their row and the lengths of their fields.
pub(super) struct ScoreTables<'p> {
    fields: &'p FieldScorer,
    factor: f32,
    /// For each part that was read the table of its dictionary.
    of_part: Vec<Option<ScoreTable<'p>>>,
}

/// The rows of one dictionary.
struct ScoreTable<'p> {
    /// By code what a posting gets by the length of its body, if its row is in the body alone.
    body_scores: Box<[&'p [f32; LENGTHS]; CODES]>,
    /// Which codes have none, and whether there are such.
    is_mixed: [bool; CODES],
    any_mixed: bool,
    /// Every row as fractions, and whether it is in the body alone.
    rows: Vec<([f32; FIELDS], bool)>,
}

impl<'p> ScoreTables<'p> {
    /// For a list of so many parts, and what scores are multiplied with.
    pub(super) fn new(parts: usize, factor: f32, fields: &'p FieldScorer) -> Self {
        Self { fields, factor, of_part: (0..parts).map(|_| None).collect() }
    }

    /// Prepares for a part.
    pub(super) fn prepare(&mut self, part: usize, postings: &'p Postings<'_>) {
        self.of_part[part].get_or_insert_with(|| ScoreTable::new(postings.tf_dictionary(part), self.fields));
    }

    /// The table of a part that it was prepared for.
    #[inline]
    fn of(&self, part: usize) -> Option<&ScoreTable<'p>> {
        self.of_part[part].as_ref()
    }

    /// The lowest code whose row may get `threshold` in a window: no posting with a lower one does.
    pub(super) fn least(&self, window: &ListWindow, postings: &Postings<'_>, threshold: f32) -> u8 {
        let Some(table) = self.of(window.part) else { return 0 };
        let mut least = table.rows.len().min((window.count / PER_ROW) as usize);
        let needed = self.fields.min_sum_for(threshold / self.factor);
        let known = postings.impacts(window, |impact| {
            if self.factor * self.fields.upper_bound(impact) >= threshold {
                let in_body = impact.other_fields.is_none();
                let norms = self.fields.length_norms(impact);
                let at_least = table.rows[..least].iter().position(|(row, row_in_body)| {
                    let highest: f32 = row.iter().zip(&norms).map(|(frequency, norm)| frequency * norm).sum();
                    highest >= needed
                        && *row_in_body == in_body
                        && self.factor * self.fields.upper_bound_of(row, impact) >= threshold
                });
                least = at_least.unwrap_or(least);
            }
        });
        known.map_or(0, |()| least as u8)
    }

    /// Scores the postings on the scratch, which are of a part that it was prepared for.
    pub(super) fn score(&self, part: usize, scratch: &mut WindowScratch<'_>) {
        let Some(table) = self.of(part) else { return };
        let WindowScratch { lengths, postings, scores, mixed, .. } = scratch;
        let (offsets, codes) = (postings.offsets(), postings.codes());
        scores.resize(offsets.len(), 0.0);
        let body = lengths.of_field(BODY);
        let body_score =
            |offset: u16, code: u8| self.factor * table.score_body(code, body[usize::from(offset) % WINDOW as usize]);
        let coded = scores.iter_mut().zip(offsets).zip(codes);
        if table.any_mixed {
            // Those without a body_scores later: nobody can guess which they are.
            mixed.resize(offsets.len(), 0);
            let mut count = 0;
            for (((score, &offset), &code), index) in coded.zip(0..) {
                *score = body_score(offset, code);
                mixed[count] = index;
                count += usize::from(table.is_mixed[usize::from(code)]);
            }
            for at in mixed[..count].iter().map(|at| usize::from(*at)) {
                scores[at] = table.score_mixed(codes[at], self.factor, self.fields, lengths, offsets[at]);
            }
        } else {
            coded.for_each(|((score, &offset), &code)| *score = body_score(offset, code));
        }
        for (at, row) in postings.exceptions() {
            let at = usize::from(*at);
            scores[at] = self.factor * self.fields.saturated(*row, lengths.at(postings.offsets()[at]));
        }
    }

    /// Adds what the postings on the scratch get to the accumulators of candidates.
    pub(super) fn add_to(&self, part: usize, scratch: &mut WindowScratch<'_>, candidates: &mut WindowCandidates) {
        let Some(table) = self.of(part) else { return };
        let WindowScratch { lengths, postings, posting_at, hits, .. } = scratch;
        let posting_at = posting_at.get_or_insert_with(by_offset);
        posting_at.fill(0);
        for (&offset, number) in postings.offsets().iter().zip(1..) {
            posting_at[usize::from(offset) % WINDOW as usize] = number;
        }
        // Without a branch, since nobody can guess which of them hold the term.
        hits.resize(candidates.len(), (0, 0));
        let mut count = 0;
        for (&(offset, _), index) in candidates.as_slice().iter().zip(0..) {
            let number = posting_at[usize::from(offset) % WINDOW as usize];
            hits[count] = (index, number.wrapping_sub(1));
            count += usize::from(number > 0);
        }
        let (offsets, codes) = (postings.offsets(), postings.codes());
        let mut rare = postings.exceptions().iter().peekable();
        for &(index, number) in &hits[..count] {
            let (offset, code) = (offsets[usize::from(number)], codes[usize::from(number)]);
            let score = if usize::from(code) < table.rows.len() {
                table.score(code, self.factor, self.fields, lengths, offset)
            } else {
                while rare.next_if(|(at, _)| *at < number).is_some() {}
                rare.peek().map_or(0.0, |(_, row)| self.factor * self.fields.saturated(*row, lengths.at(offset)))
            };
            candidates.add(index.into(), score);
        }
    }

    /// The score of one posting of a part that it was prepared for.
    #[inline]
    pub(super) fn score_of(&self, part: usize, coded: TfCode, scratch: &WindowScratch<'_>, offset: u16) -> f32 {
        match (coded, self.of(part)) {
            (TfCode::Frequent(code), Some(table)) => {
                table.score(code, self.factor, self.fields, &scratch.lengths, offset)
            }
            (TfCode::Exception(row), _) => self.factor * self.fields.saturated(row, scratch.lengths.at(offset)),
            (TfCode::Frequent(_), None) => 0.0,
        }
    }
}

impl<'p> ScoreTable<'p> {
    fn new(dictionary: &'p [TfVector], fields: &'p FieldScorer) -> Self {
        let rows: Vec<_> = dictionary.iter().map(|row| (row.map(f32::from), is_body_only(row))).collect();
        let (mut body_scores, mut is_mixed) = (Box::new([&NO_SCORES; CODES]), [true; CODES]);
        for (code, row) in dictionary.iter().enumerate().filter(|(_, row)| is_body_only(row)) {
            if let Some(scores) = fields.body_scores(row[BODY]) {
                (body_scores[code], is_mixed[code]) = (scores, false);
            }
        }
        let any_mixed = is_mixed[..dictionary.len()].contains(&true);
        Self { body_scores, is_mixed, any_mixed, rows }
    }

    /// The score of a row in the body alone.
    #[inline]
    fn score_body(&self, code: u8, length: u8) -> f32 {
        self.body_scores[usize::from(code)][usize::from(length)]
    }

    /// The score of a row without a body_scores; 0 for a code that is not in the dictionary.
    #[inline]
    fn score_mixed(
        &self,
        code: u8,
        factor: f32,
        fields: &FieldScorer,
        lengths: &LengthColumns<'_>,
        offset: u16,
    ) -> f32 {
        let Some((row, _)) = self.rows.get(usize::from(code)) else { return 0.0 };
        factor * fields.saturated_of(row, lengths.at(offset))
    }

    /// The score of a row in any fields; 0 for a code that is not in the dictionary.
    #[inline]
    fn score(&self, code: u8, factor: f32, fields: &FieldScorer, lengths: &LengthColumns<'_>, offset: u16) -> f32 {
        match self.is_mixed[usize::from(code)] {
            true => self.score_mixed(code, factor, fields, lengths, offset),
            false => factor * self.score_body(code, lengths.of_field(BODY)[usize::from(offset) % WINDOW as usize]),
        }
    }
}
