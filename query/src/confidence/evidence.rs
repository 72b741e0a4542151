//! The evidence that hits are relevant to a query.

use aurora_inverted::idf;
use serde::Serialize;

use crate::rank::{RankedCandidate, RankingContext};
use crate::retrieve::DirectMatch;
use crate::understand::{ParsedQuery, QueryTerm};

/// Number of the best candidates whose evidence counts.
const MAX_CANDIDATES: usize = 10;

/// Absolute measures of the relevance of an answer.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Evidence {
    /// Share of the query's words that the index contains, 0..1. Function words have a low weight, and corrected words
    /// count in part.
    pub known_words: f32,
    /// Difference between the scores of the first and the second candidate.
    pub lead: f32,
    /// Evidence of the first candidate.
    pub first: HitEvidence,
    /// The maximum of each value among the first ten candidates.
    pub best: HitEvidence,
}

/// Absolute measures of the relevance of one result.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct HitEvidence {
    /// Share of the query's terms in the result, weighted by inverse document frequency, 0..1.
    pub coverage: f32,
    /// Keyword score, as a share of the highest possible score of the query, 0..1.
    pub keywords: f32,
    /// Keyword score of the file, as a share of the highest possible score of the query; `None` in mode `dense`.
    pub file_keywords: Option<f32>,
    /// Cosine of the embeddings.
    pub cosine: Option<f32>,
    /// Late interaction of the query with the words of the code, 0..1.
    pub words: Option<f32>,
    /// Cosine of the query with the mean of the embeddings in the file.
    pub file_cosine: Option<f32>,
    /// Overlap of the query and the name, 0..1.
    pub name: f32,
    /// Whether the result has the location, the name or the text that the query gives: 1 or 0.
    pub exact: f32,
}

impl HitEvidence {
    /// Returns the larger value of each measure.
    fn max(self, other: Self) -> Self {
        let max = |a: Option<f32>, b: Option<f32>| match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        Self {
            coverage: self.coverage.max(other.coverage),
            keywords: self.keywords.max(other.keywords),
            file_keywords: max(self.file_keywords, other.file_keywords),
            cosine: max(self.cosine, other.cosine),
            words: max(self.words, other.words),
            file_cosine: max(self.file_cosine, other.file_cosine),
            name: self.name.max(other.name),
            exact: self.exact.max(other.exact),
        }
    }
}

/// Measures the evidence of ranked candidates, best first.
pub(crate) fn measure(context: &RankingContext<'_, '_>, ranked: &[RankedCandidate<'_>]) -> Evidence {
    let terms = Terms::new(context);
    let most = context.roots.first().map_or(0.0, |root| root.bm25.max_file_score()).max(f32::MIN_POSITIVE);
    let mut evidence = Evidence { known_words: terms.known, ..Evidence::default() };
    for (at, candidate) in ranked.iter().take(MAX_CANDIDATES).enumerate() {
        let found = &candidate.retrieved;
        let matched = context.root(found).bm25.matched(found.id);
        let hit = HitEvidence {
            coverage: terms.coverage(context.parsed, &matched.positions),
            keywords: found.bm25 / most,
            file_keywords: found.file.bm25_share,
            cosine: found.cosine,
            words: found.words,
            file_cosine: found.file.cosine,
            name: candidate.features.name_overlap(),
            exact: f32::from(u8::from(found.direct.as_ref().is_some_and(DirectMatch::is_exact))),
        };
        if at == 0 {
            evidence.first = hit;
        }
        evidence.best = evidence.best.max(hit);
    }
    let score = |at: usize| ranked.get(at).map_or(0.0, |candidate| candidate.score);
    evidence.lead = score(0) - score(1);
    evidence
}

/// Factor of a corrected word. Unrelated words are often similar to a word of the index.
const CORRECTED: f32 = 0.5;

/// The weights of the query's own terms.
struct Terms {
    /// Weight of each term times its inverse document frequency. A term that no chunk contains weighs as much as a term
    /// in one chunk.
    weights: Vec<f32>,
    total: f32,
    /// Share of the terms that the index contains.
    known: f32,
}

impl Terms {
    fn new(context: &RankingContext<'_, '_>) -> Self {
        let chunks: u64 = context.roots.iter().map(|root| root.snapshot.live().len()).sum();
        let rarest = idf(chunks, 1);
        let (mut weights, mut known, mut all) = (Vec::new(), 0.0, f32::MIN_POSITIVE);
        for (term, idf) in context.parsed.terms.iter().zip(context.term_idfs()) {
            weights.push(term.weight * idf.unwrap_or(rarest));
            all += term.weight;
            known += if idf.is_some() { term.weight * certainty(term) } else { 0.0 };
        }
        Self { total: weights.iter().sum::<f32>().max(f32::MIN_POSITIVE), weights, known: known / all }
    }

    /// Returns the share of the terms at the positions `matched`. A related term counts with its own weight.
    fn coverage(&self, parsed: &ParsedQuery, matched: &[usize]) -> f32 {
        let mut shares = vec![0.0f32; self.weights.len()];
        for &position in matched {
            let (at, share) = match (parsed.terms.get(position), parsed.extra(position)) {
                (Some(term), _) => (position, certainty(term)),
                (None, Some(extra)) => (extra.of, extra.weight * certainty(&parsed.terms[extra.of])),
                (None, None) => continue,
            };
            shares[at] = shares[at].max(share);
        }
        shares.iter().zip(&self.weights).map(|(share, weight)| share * weight).sum::<f32>() / self.total
    }
}

fn certainty(term: &QueryTerm) -> f32 {
    if term.corrected { CORRECTED } else { 1.0 }
}
