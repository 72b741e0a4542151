//! Late interaction (Khattab and Zaharia, "ColBERT", 2020) over static token vectors: how well the words of a query are
//! met by the words of a chunk, one by one, where a chunk's vector only knows their sum.

use aurora_kernels::dots_signed;

use super::{StaticModel, TOKEN_BUDGET};

/// The tokens of one query, ready to be compared with the tokens of many chunks.
pub struct LateInteraction<'m> {
    model: &'m StaticModel,
    tokens: Vec<Token>,
    /// The bytes of their rows, one after the other.
    rows: Vec<i16>,
    /// Products with the row at hand, one for each token.
    products: Vec<i32>,
    /// Cosines of the table's rows that were met before, `tokens.len()` values a row.
    known: Vec<f32>,
    /// Place of a row in `known`, plus one; 0 where it was not met.
    places: Vec<u32>,
    /// The best cosine of every token so far.
    best: Vec<f32>,
    /// The tokens at hand.
    met: Vec<u16>,
}

/// A token of the query.
struct Token {
    /// Length of its vector before it is scaled.
    length: f32,
    /// How much the word tells, as trained, over the sum of all.
    weight: f32,
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
        let values = |row: u32| model.table.values(&model.bytes, row);
        let token =
            |&row: &u32| Token { length: model.length(row), weight: model.table.weight(&model.bytes, row).max(0.0) };
        let mut tokens: Vec<Token> = distinct.iter().map(token).collect();
        let rows = distinct.iter().flat_map(|&row| values(row)).map(|&value| i16::from(value as i8)).collect();
        let total = tokens.iter().map(|token| token.weight).sum::<f32>().max(f32::MIN_POSITIVE);
        tokens.iter_mut().for_each(|token| token.weight /= total);
        let places = vec![0; model.vocabulary.len()];
        let products = vec![0; tokens.len()];
        Self { model, tokens, rows, products, known: Vec::new(), places, best: Vec::new(), met: Vec::new() }
    }

    /// `Σ weight(q) · max(0, max over t of cosine(q, t))` over the query's tokens q and the chunk's tokens t: 0..1, and 1
    /// where every token of the query is among `tokens`. `None` where either side has no token.
    pub fn score(&mut self, tokens: impl IntoIterator<Item = u16>) -> Option<f32> {
        let mut best = std::mem::take(&mut self.best);
        best.clear();
        best.resize(self.tokens.len(), f32::NEG_INFINITY);
        let mut met = std::mem::take(&mut self.met);
        met.clear();
        met.extend(tokens);
        self.prefetch(&met);
        for &token in &met {
            let at = self.place(token)?;
            for (best, &known) in best.iter_mut().zip(&self.known[at..]) {
                *best = best.max(known);
            }
        }
        self.met = met;
        let is_met = best.first().is_some_and(|best| best.is_finite());
        let score =
            is_met.then(|| best.iter().zip(&self.tokens).map(|(best, token)| best.max(0.0) * token.weight).sum());
        self.best = best;
        score
    }

    /// Has the processor fetch the rows that were not met before: they lie far apart.
    fn prefetch(&self, tokens: &[u16]) {
        for &token in tokens.iter().filter(|&&token| self.places.get(usize::from(token)) == Some(&0)) {
            aurora_kernels::prefetch(self.model.table.values(&self.model.bytes, u32::from(token)));
        }
    }

    /// Where the cosines of a row stand in `known`; `None` for a row that the table does not have.
    fn place(&mut self, row: u16) -> Option<usize> {
        let place = self.places.get_mut(usize::from(row))?;
        if *place == 0 {
            let values = self.model.table.values(&self.model.bytes, u32::from(row));
            let length = self.model.length(u32::from(row));
            dots_signed(&self.rows, values, &mut self.products);
            let cosine = |(token, &product): (&Token, &i32)| product as f32 / (token.length * length);
            self.known.extend(self.tokens.iter().zip(&self.products).map(cosine));
            *place = (self.known.len() / self.tokens.len().max(1)) as u32;
        }
        Some((*place as usize).saturating_sub(1) * self.tokens.len())
    }
}
