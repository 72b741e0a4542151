//! Late interaction (Khattab and Zaharia, "ColBERT", 2020) over static token vectors: how well the words of a query are
//! met by the words of a chunk, one by one, where a chunk's vector only knows their sum.

use super::table::norm;
use super::{StaticModel, TOKEN_BUDGET};

/// The tokens of one query, ready to be compared with the tokens of many chunks.
pub struct LateInteraction<'m> {
    model: &'m StaticModel,
    /// Unit vectors of the query's tokens.
    tokens: Vec<Vec<f32>>,
    /// Length of each token's vector over the sum of all: trained lengths say how much a word tells.
    weights: Vec<f32>,
    /// Similarities of table rows that were met before, `tokens.len()` values a row.
    known: Vec<f32>,
    /// Place of a row in `known`, plus one; 0 where it was not met.
    places: Vec<u32>,
}

impl<'m> LateInteraction<'m> {
    /// Prepares `query`, each of its tokens once.
    pub fn new(model: &'m StaticModel, query: &str) -> Self {
        let mut rows = Vec::new();
        model.rows(query, TOKEN_BUDGET, &mut rows);
        let mut distinct: Vec<u32> = Vec::new();
        rows.into_iter().for_each(|row| {
            if !distinct.contains(&row) {
                distinct.push(row);
            }
        });
        let mut tokens: Vec<Vec<f32>> = distinct.iter().map(|&row| model.table.row(&model.bytes, row)).collect();
        let mut weights: Vec<f32> = tokens.iter().map(|token| norm(token)).collect();
        let total: f32 = weights.iter().sum();
        for (token, weight) in tokens.iter_mut().zip(&mut weights) {
            token.iter_mut().for_each(|value| *value /= weight.max(f32::MIN_POSITIVE));
            *weight /= total.max(f32::MIN_POSITIVE);
        }
        let places = vec![0; model.vocabulary.len()];
        Self { model, tokens, weights, known: Vec::new(), places }
    }

    /// `Σ weight(q) · max(0, max over t of cosine(q, t))` over the query's tokens q and the chunk's tokens t: 0..1, and 1
    /// where every token of the query is among `tokens`. `None` where either side has no token.
    pub fn score(&mut self, tokens: impl IntoIterator<Item = u16>) -> Option<f32> {
        let mut best = vec![f32::NEG_INFINITY; self.tokens.len()];
        for token in tokens {
            let at = self.place(token)?;
            for (best, &known) in best.iter_mut().zip(&self.known[at..]) {
                *best = best.max(known);
            }
        }
        let met = best.first().is_some_and(|best| best.is_finite());
        met.then(|| best.iter().zip(&self.weights).map(|(best, weight)| best.max(0.0) * weight).sum())
    }

    /// Where the similarities of a row stand in `known`; `None` for a row that the table does not have.
    fn place(&mut self, row: u16) -> Option<usize> {
        let place = self.places.get_mut(usize::from(row))?;
        if *place == 0 {
            let vector = self.model.table.row(&self.model.bytes, u32::from(row));
            let length = norm(&vector).max(f32::MIN_POSITIVE);
            self.known.extend(self.tokens.iter().map(|token| dot(token, &vector) / length));
            *place = (self.known.len() / self.tokens.len().max(1)) as u32;
        }
        Some((*place as usize).saturating_sub(1) * self.tokens.len())
    }
}

/// Dot product, summed in eight interleaved parts like every sum of this model.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut parts = [0f32; 8];
    let (a, b) = (a.chunks_exact(8), b.chunks_exact(8));
    let rest: f32 = a.remainder().iter().zip(b.remainder()).map(|(a, b)| a * b).sum();
    for (a, b) in a.zip(b) {
        for (part, (a, b)) in parts.iter_mut().zip(a.iter().zip(b)) {
            *part += a * b;
        }
    }
    parts.iter().sum::<f32>() + rest
}
