//! Late interaction (Khattab and Zaharia, "ColBERT", 2020) over static token vectors. It compares each token of a query
//! with each token of a chunk. In contrast, the vector of a chunk is only the sum of its tokens' vectors.

use aurora_kernels::dots_signed;

use super::{StaticModel, TOKEN_BUDGET};

/// The tokens of one query, prepared for comparison with the tokens of many chunks.
pub struct LateInteraction<'m> {
    model: &'m StaticModel,
    tokens: Vec<Token>,
    /// Values of the table rows of `tokens`, one row after the other.
    rows: Vec<i16>,
    /// Dot product of each token of the query with the table row that is being compared.
    products: Vec<i32>,
    /// Cosines of the rows that were already compared: `tokens.len()` values per row.
    known: Vec<f32>,
    /// For each row of the table, 0 if the row was not compared yet, otherwise `n`: the cosines of the row are the
    /// `n`-th group of `tokens.len()` values in `known`, counted from 1.
    known_positions: Vec<u32>,
    /// Best cosine of every token so far.
    best: Vec<f32>,
    /// Tokens of the current chunk.
    chunk_tokens: Vec<u16>,
}

/// A token of the query.
struct Token {
    /// Length of the token's vector before scaling.
    length: f32,
    /// Trained weight of the token, divided by the sum of all weights.
    weight: f32,
}

impl<'m> LateInteraction<'m> {
    /// Prepares the distinct tokens of `query`.
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
        let known_positions = vec![0; model.vocabulary.len()];
        let products = vec![0; tokens.len()];
        Self {
            model,
            tokens,
            rows,
            products,
            known: Vec::new(),
            known_positions,
            best: Vec::new(),
            chunk_tokens: Vec::new(),
        }
    }

    /// Computes `Σ weight(q) · max(0, max over t of cosine(q, t))` over the query's tokens q and the chunk's tokens t.
    /// The score is between 0 and 1, and 1 if `tokens` contains every token of the query. Returns `None` if the query
    /// or the chunk has no tokens, or if a token is not in the table.
    pub fn score(&mut self, tokens: impl IntoIterator<Item = u16>) -> Option<f32> {
        let mut best = std::mem::take(&mut self.best);
        best.clear();
        best.resize(self.tokens.len(), f32::NEG_INFINITY);
        let mut chunk_tokens = std::mem::take(&mut self.chunk_tokens);
        chunk_tokens.clear();
        chunk_tokens.extend(tokens);
        self.prefetch(&chunk_tokens);
        for &token in &chunk_tokens {
            let at = self.cosine_position(token)?;
            for (best, &known) in best.iter_mut().zip(&self.known[at..]) {
                *best = best.max(known);
            }
        }
        self.chunk_tokens = chunk_tokens;
        let has_tokens = best.first().is_some_and(|best| best.is_finite());
        let score =
            has_tokens.then(|| best.iter().zip(&self.tokens).map(|(best, token)| best.max(0.0) * token.weight).sum());
        self.best = best;
        score
    }

    /// Prefetches those rows of `tokens` that were not compared yet, because rows are far apart in memory.
    fn prefetch(&self, tokens: &[u16]) {
        for &token in tokens.iter().filter(|&&token| self.known_positions.get(usize::from(token)) == Some(&0)) {
            aurora_kernels::prefetch(self.model.table.values(&self.model.bytes, u32::from(token)));
        }
    }

    /// Returns the index of a row's first cosine in `known`. Computes the cosines if necessary. Returns `None` if the
    /// row is not in the table.
    fn cosine_position(&mut self, row: u16) -> Option<usize> {
        let position = self.known_positions.get_mut(usize::from(row))?;
        if *position == 0 {
            let values = self.model.table.values(&self.model.bytes, u32::from(row));
            let length = self.model.length(u32::from(row));
            dots_signed(&self.rows, values, &mut self.products);
            let cosine = |(token, &product): (&Token, &i32)| product as f32 / (token.length * length);
            self.known.extend(self.tokens.iter().zip(&self.products).map(cosine));
            *position = (self.known.len() / self.tokens.len().max(1)) as u32;
        }
        Some((*position as usize).saturating_sub(1) * self.tokens.len())
    }
}
