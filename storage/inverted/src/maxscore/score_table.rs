//! Score tables for the tf vectors in a part's dictionary, so that most postings are scored by a table lookup.

use super::accumulators::by_offset;
use super::{WindowCandidates, WindowScratch};
use crate::bm25f::{FieldScorer, LENGTHS};
use crate::chunk_id::WINDOW;
use crate::field::{FIELDS, Field};
use crate::lengths::LengthColumns;
use crate::postings::{ListWindow, Postings, TfCode, TfVector, is_body_only};

const BODY: usize = Field::Body.index();
/// Number of codes of tf vectors.
const CODES: usize = 1 << 8;
/// Placeholder for vectors without a table of scores.
static NO_SCORES: [f32; LENGTHS] = [0.0; LENGTHS];
/// [`ScoreTables::min_code`] compares at most one vector with the threshold per this many postings of the window.
const MIN_POSTINGS_PER_VECTOR: u32 = 8;

/// The tables of all parts of a list. Each table is created when its part is first read.
pub(super) struct ScoreTables<'p> {
    fields: &'p FieldScorer,
    factor: f32,
    by_part: Vec<Option<ScoreTable<'p>>>,
}

/// The table of one part.
struct ScoreTable<'p> {
    /// Scores by length of the body, for each code whose vector has frequencies only in the body.
    body_scores: Box<[&'p [f32; LENGTHS]; CODES]>,
    /// For each code, whether it has no table of scores.
    is_mixed: [bool; CODES],
    /// Whether the dictionary contains a code without a table of scores.
    any_mixed: bool,
    /// The vector of each code as floats, and whether it has frequencies only in the body.
    vectors: Vec<([f32; FIELDS], bool)>,
}

impl<'p> ScoreTables<'p> {
    /// Creates the tables of a list with `parts` parts, whose scores are multiplied by `factor`.
    pub(super) fn new(parts: usize, factor: f32, fields: &'p FieldScorer) -> Self {
        Self { fields, factor, by_part: (0..parts).map(|_| None).collect() }
    }

    /// Creates the table of a part if it does not exist.
    pub(super) fn prepare(&mut self, part: usize, postings: &'p Postings<'_>) {
        self.by_part[part].get_or_insert_with(|| ScoreTable::new(postings.tf_dictionary(part), self.fields));
    }

    /// Returns the table of a part, if it was prepared.
    #[inline]
    fn table(&self, part: usize) -> Option<&ScoreTable<'p>> {
        self.by_part[part].as_ref()
    }

    /// Returns the lowest code whose vector may reach `threshold` in a window. No posting with a lower code reaches the
    /// threshold.
    pub(super) fn min_code(&self, window: &ListWindow, postings: &Postings<'_>, threshold: f32) -> u8 {
        let Some(table) = self.table(window.part) else { return 0 };
        let mut min_code = table.vectors.len().min((window.count / MIN_POSTINGS_PER_VECTOR) as usize);
        let min_sum = self.fields.min_sum_for(threshold / self.factor);
        let known = postings.impacts(window, |impact| {
            if self.factor * self.fields.upper_bound(impact) >= threshold {
                let body_only = impact.other_fields.is_none();
                let norms = self.fields.length_norms(impact);
                let first = table.vectors[..min_code].iter().position(|(vector, is_body_only)| {
                    let weighted = |field: usize| vector[field] * norms[field];
                    let highest = self.fields.sum_other_fields(weighted) + weighted(BODY);
                    highest >= min_sum
                        && *is_body_only == body_only
                        && self.factor * self.fields.upper_bound_for(vector, impact) >= threshold
                });
                min_code = first.unwrap_or(min_code);
            }
        });
        known.map_or(0, |()| min_code as u8)
    }

    /// Scores the postings in `scratch`, which belong to a prepared part.
    pub(super) fn score(&self, part: usize, scratch: &mut WindowScratch<'_>) {
        let Some(table) = self.table(part) else { return };
        let WindowScratch { lengths, postings, scores, mixed, .. } = scratch;
        let (offsets, codes) = (postings.offsets(), postings.codes());
        scores.resize(offsets.len(), 0.0);
        let body = lengths.column(BODY);
        let body_score =
            |offset: u16, code: u8| self.factor * table.score_body(code, body[usize::from(offset) % WINDOW as usize]);
        let coded = scores.iter_mut().zip(offsets).zip(codes);
        if table.any_mixed {
            // Collects the postings without a table, which are scored afterwards. The loop has no branch, because the
            // processor could not predict it.
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
        for (at, vector) in postings.exceptions() {
            let at = usize::from(*at);
            scores[at] = self.factor * self.fields.saturated(*vector, lengths.at(postings.offsets()[at]));
        }
    }

    /// Adds the scores of the postings in `scratch` to the scores of the candidates. The postings belong to a prepared
    /// part.
    pub(super) fn add_to(&self, part: usize, scratch: &mut WindowScratch<'_>, candidates: &mut WindowCandidates) {
        let Some(table) = self.table(part) else { return };
        let WindowScratch { lengths, postings, posting_at, hits, .. } = scratch;
        let posting_at = posting_at.get_or_insert_with(by_offset);
        posting_at.fill(0);
        for (&offset, number) in postings.offsets().iter().zip(1..) {
            posting_at[usize::from(offset) % WINDOW as usize] = number;
        }
        // No branch, because the processor could not predict it.
        hits.resize(candidates.len(), (0, 0));
        let mut count = 0;
        for (&(offset, _), index) in candidates.iter().zip(0..) {
            let number = posting_at[usize::from(offset) % WINDOW as usize];
            hits[count] = (index, number.wrapping_sub(1));
            count += usize::from(number > 0);
        }
        let (offsets, codes) = (postings.offsets(), postings.codes());
        let mut exceptions = postings.exceptions().iter().peekable();
        for &(index, number) in &hits[..count] {
            let (offset, code) = (offsets[usize::from(number)], codes[usize::from(number)]);
            let score = if usize::from(code) < table.vectors.len() {
                table.score(code, self.factor, self.fields, lengths, offset)
            } else {
                while exceptions.next_if(|(at, _)| *at < number).is_some() {}
                let vector = exceptions.peek().map(|(_, vector)| *vector);
                vector.map_or(0.0, |vector| self.factor * self.fields.saturated(vector, lengths.at(offset)))
            };
            candidates[usize::from(index)].1 += score;
        }
    }

    /// Returns the score of one posting of a prepared part.
    #[inline]
    pub(super) fn score_posting(&self, part: usize, code: TfCode, scratch: &WindowScratch<'_>, offset: u16) -> f32 {
        match (code, self.table(part)) {
            (TfCode::Frequent(code), Some(table)) => {
                table.score(code, self.factor, self.fields, &scratch.lengths, offset)
            }
            (TfCode::Exception(vector), _) => self.factor * self.fields.saturated(vector, scratch.lengths.at(offset)),
            (TfCode::Frequent(_), None) => 0.0,
        }
    }
}

impl<'p> ScoreTable<'p> {
    fn new(dictionary: &'p [TfVector], fields: &'p FieldScorer) -> Self {
        let vectors = dictionary.iter().map(|vector| (vector.map(f32::from), is_body_only(vector))).collect();
        let (mut body_scores, mut is_mixed) = (Box::new([&NO_SCORES; CODES]), [true; CODES]);
        for (code, vector) in dictionary.iter().enumerate().filter(|(_, vector)| is_body_only(vector)) {
            if let Some(scores) = fields.body_scores(vector[BODY]) {
                (body_scores[code], is_mixed[code]) = (scores, false);
            }
        }
        let any_mixed = is_mixed[..dictionary.len()].contains(&true);
        Self { body_scores, is_mixed, any_mixed, vectors }
    }

    /// Returns the score of a vector with frequencies only in the body, not multiplied by the factor.
    #[inline]
    fn score_body(&self, code: u8, length: u8) -> f32 {
        self.body_scores[usize::from(code)][usize::from(length)]
    }

    /// Returns the score of a vector without a table of scores; 0 for a code that is not in the dictionary.
    #[inline]
    fn score_mixed(
        &self,
        code: u8,
        factor: f32,
        fields: &FieldScorer,
        lengths: &LengthColumns<'_>,
        offset: u16,
    ) -> f32 {
        let Some((vector, _)) = self.vectors.get(usize::from(code)) else { return 0.0 };
        let offset = usize::from(offset) % WINDOW as usize;
        factor * fields.saturated_by_field(|field| vector[field], |field| lengths.column(field)[offset])
    }

    /// Returns the score of a vector in any fields; 0 for a code that is not in the dictionary.
    #[inline]
    fn score(&self, code: u8, factor: f32, fields: &FieldScorer, lengths: &LengthColumns<'_>, offset: u16) -> f32 {
        if self.is_mixed[usize::from(code)] {
            self.score_mixed(code, factor, fields, lengths, offset)
        } else {
            factor * self.score_body(code, lengths.column(BODY)[usize::from(offset) % WINDOW as usize])
        }
    }
}
