//! The evidence that hits are relevant to a query.

use aurora_inverted::idf;
use serde::Serialize;

use crate::rank::{RankedCandidate, RankingContext};
use crate::retrieve::DirectMatch;
use crate::retrieve::bm25::MatchedTerms;
use crate::understand::{ParsedQuery, QueryTerm};

/// Number of the best candidates of each source whose evidence counts.
const MAX_CANDIDATES: usize = 10;

/// Absolute measures of the relevance of an answer.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Evidence {
    /// Difference between the scores of the first and the second candidate.
    pub lead: f32,
    /// Number of chunks in the indexes of code.
    pub chunks: u64,
    /// Evidence of the first candidate.
    pub first: HitEvidence,
    /// The maximum of each value among the first ten candidates from code.
    pub best: HitEvidence,
    /// The maximum of each value among the first ten candidates from memory; `None` without such candidates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<HitEvidence>,
}

/// Absolute measures of the relevance of one result.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct HitEvidence {
    /// Share of the query's words that the indexes of this source contain, 0..1. The sources are code and memory.
    /// Function words have a low weight, and corrected words count in part.
    pub known_words: f32,
    /// Share of the query's terms in the result, weighted by inverse document frequency, 0..1.
    pub coverage: f32,
    /// Number of the query's terms in the result. Function words have a low weight, and corrected words count in part.
    pub matched: f32,
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
    /// Whether the result is an entry of memory.
    #[serde(skip)]
    pub is_memory: bool,
}

impl HitEvidence {
    /// Returns the larger value of each measure of two results from the same source.
    fn max(self, other: Self) -> Self {
        let max = |a: Option<f32>, b: Option<f32>| match (a, b) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (a, b) => a.or(b),
        };
        Self {
            known_words: self.known_words.max(other.known_words),
            coverage: self.coverage.max(other.coverage),
            matched: self.matched.max(other.matched),
            keywords: self.keywords.max(other.keywords),
            file_keywords: max(self.file_keywords, other.file_keywords),
            cosine: max(self.cosine, other.cosine),
            words: max(self.words, other.words),
            file_cosine: max(self.file_cosine, other.file_cosine),
            name: self.name.max(other.name),
            exact: self.exact.max(other.exact),
            is_memory: other.is_memory,
        }
    }
}

/// Measures candidates of one query.
pub(crate) struct Measures<'m, 'r, 's> {
    context: &'m RankingContext<'r, 's>,
    terms: Terms,
    /// The highest possible keyword score of the query.
    most: f32,
    /// Number of chunks in the indexes of code.
    chunks: u64,
}

impl<'m, 'r, 's> Measures<'m, 'r, 's> {
    /// Prepares the measures of a query.
    pub(crate) fn new(context: &'m RankingContext<'r, 's>) -> Self {
        let most = context.roots.first().map_or(0.0, |root| root.bm25.max_file_score()).max(f32::MIN_POSITIVE);
        let code = context.roots.iter().filter(|root| root.memory.is_none());
        let chunks = code.map(|root| root.snapshot.live().len()).sum();
        Self { context, terms: Terms::new(context), most, chunks }
    }

    /// The context of the ranking.
    pub(crate) fn context(&self) -> &'m RankingContext<'r, 's> {
        self.context
    }

    /// Measures an answer. `ranked` contains all candidates, best first.
    pub(crate) fn answer(&self, ranked: &[RankedCandidate<'_>]) -> Evidence {
        let measure = |candidate: &RankedCandidate<'_>| {
            let found = &candidate.retrieved;
            self.candidate(candidate, &self.context.root(found).bm25.matched(found.id))
        };
        let of_source = |is_memory: bool| {
            let of_source = move |candidate: &&RankedCandidate<'_>| self.is_memory(candidate) == is_memory;
            ranked.iter().filter(of_source).take(MAX_CANDIDATES).map(measure).reduce(HitEvidence::max)
        };
        let score = |at: usize| ranked.get(at).map_or(0.0, |candidate| candidate.score);
        Evidence {
            lead: score(0) - score(1),
            chunks: self.chunks,
            first: ranked.first().map(measure).unwrap_or_default(),
            best: of_source(false).unwrap_or_default(),
            memory: of_source(true),
        }
    }

    /// Whether a candidate comes from the index of a memory.
    fn is_memory(&self, candidate: &RankedCandidate<'_>) -> bool {
        self.context.root(&candidate.retrieved).memory.is_some()
    }

    /// Measures one candidate, which contains the terms `matched`.
    pub(crate) fn candidate(&self, candidate: &RankedCandidate<'_>, matched: &MatchedTerms) -> HitEvidence {
        let (found, parsed) = (&candidate.retrieved, self.context.parsed);
        let shares = self.terms.shares(parsed, &matched.positions);
        let is_memory = self.is_memory(candidate);
        HitEvidence {
            known_words: self.terms.known[usize::from(is_memory)],
            coverage: self.terms.coverage(&shares),
            matched: shares.iter().zip(&parsed.terms).map(|(share, term)| share * term.weight).sum(),
            keywords: found.bm25 / self.most,
            file_keywords: found.file.bm25_share,
            cosine: found.cosine,
            words: found.words,
            file_cosine: found.file.cosine,
            name: candidate.features.name_overlap(),
            exact: f32::from(u8::from(found.direct.as_ref().is_some_and(DirectMatch::is_exact))),
            is_memory,
        }
    }
}

/// Factor of a corrected word. Unrelated words are often similar to a word of the index.
const CORRECTED: f32 = 0.5;

/// The weights of the query's own terms.
struct Terms {
    /// Weight of each term times its inverse document frequency. A term that no chunk contains weighs as much as a term
    /// in one chunk.
    weights: Vec<f32>,
    total: f32,
    /// Shares of the terms that indexes of projects and indexes of memories contain.
    known: [f32; 2],
}

impl Terms {
    fn new(context: &RankingContext<'_, '_>) -> Self {
        let chunks: u64 = context.roots.iter().map(|root| root.snapshot.live().len()).sum();
        let rarest = idf(chunks, 1);
        let (mut weights, mut known, mut all) = (Vec::new(), [0.0; 2], f32::MIN_POSITIVE);
        for (at, (term, idf)) in context.parsed.terms.iter().zip(context.term_idfs()).enumerate() {
            weights.push(term.weight * idf.unwrap_or(rarest));
            all += term.weight;
            for (is_memory, known) in [false, true].into_iter().zip(&mut known) {
                let mut roots = context.roots.iter().filter(|root| root.memory.is_some() == is_memory);
                *known += if roots.any(|root| root.bm25.contains(at)) { term.weight * certainty(term) } else { 0.0 };
            }
        }
        Self {
            total: weights.iter().sum::<f32>().max(f32::MIN_POSITIVE),
            weights,
            known: known.map(|known| known / all),
        }
    }

    /// Returns for each term how certainly a chunk with the terms at the positions `matched` contains it, 0..1. A
    /// related term counts with its own weight.
    fn shares(&self, parsed: &ParsedQuery, matched: &[usize]) -> Vec<f32> {
        let mut shares = vec![0.0f32; self.weights.len()];
        for &position in matched {
            let (at, share) = match (parsed.terms.get(position), parsed.extra(position)) {
                (Some(term), _) => (position, certainty(term)),
                (None, Some(extra)) => (extra.of, extra.weight * certainty(&parsed.terms[extra.of])),
                (None, None) => continue,
            };
            shares[at] = shares[at].max(share);
        }
        shares
    }

    fn coverage(&self, shares: &[f32]) -> f32 {
        shares.iter().zip(&self.weights).map(|(share, weight)| share * weight).sum::<f32>() / self.total
    }
}

fn certainty(term: &QueryTerm) -> f32 {
    if term.corrected { CORRECTED } else { 1.0 }
}
