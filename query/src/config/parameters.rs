//! The parameters of a search with their measured defaults.

use std::collections::BTreeMap;

use aurora_inverted::Bm25Config;
use serde::Serialize;

use crate::query::Mode;

/// Method of combining the candidates of the first stage into one order.
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fusion {
    /// Weighted sum of the components, each min-max normalised within the candidates.
    Weighted,
    /// Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009) of the keyword and the semantic order.
    Rrf,
}

impl Fusion {
    /// Returns the name in a configuration.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Weighted => "weighted",
            Self::Rrf => "rrf",
        }
    }
}

/// Both stages of retrieval and their fusion.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HybridConfig {
    /// Number of candidates that BM25 passes to the second stage.
    pub stage1_top_k: usize,
    /// Number of candidates that the vector search passes to the second stage.
    pub dense_top_k: usize,
    /// Method of combining the components into one score.
    pub fusion: Fusion,
    /// Weight of the keyword score; the three weights sum to 1.
    pub bm25_weight: f32,
    /// Weight of the semantic score.
    pub semantic_weight: f32,
    /// Weight of the activation.
    pub activation_weight: f32,
    /// Share of late interaction (comparison word by word) in the semantic score; the rest is the cosine.
    pub word_share: f32,
    /// The constant k of reciprocal rank fusion.
    pub rrf_k: f32,
    /// Weight of the semantic order in reciprocal rank fusion; both weights sum to 1.
    pub rrf_dense: f32,
    /// Weight of the keyword order in reciprocal rank fusion.
    pub rrf_sparse: f32,
}

/// Weights by the kind of a query.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindsConfig {
    /// Weight of the keyword score for a query that consists of names.
    pub identifier: f32,
    /// Weight of the keyword score for a query that is a path.
    pub path: f32,
    /// Weight of the keyword score for a query that is an error message.
    pub error: f32,
    /// Factor of function words (`the`, `how`) if the query has other words.
    pub function_words: f32,
}

/// Weights of added terms, as factors of their own score; 0 turns an expansion off.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExpansionConfig {
    /// Other forms of an English word.
    pub inflections: f32,
    /// Maximum document frequency of a term whose other forms are searched for.
    pub inflected_in: usize,
    /// Abbreviations of a word, and words of an abbreviation.
    pub abbreviations: f32,
    /// Maximum document frequency of a term whose abbreviations are searched for.
    pub abbreviated_in: usize,
    /// Longer words that begin with a word of the query that hardly any chunk contains.
    pub prefixes: f32,
    /// The nearest indexed word for a word that no chunk contains.
    pub spelling: f32,
}

/// Parameters of the activation model (ACT-R).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActivationConfig {
    /// Exponent `d` of the base level, `ln Σ t^(−d)`.
    pub decay: f32,
    /// Weight of the base level.
    pub base_level: f32,
    /// Weight of the prior from version control.
    pub git_prior: f32,
    /// Factor of the decay, `log10(days since the last use)`.
    pub inactivity: f32,
    /// Rates of forgetting by chunk type.
    pub type_decay: TypeDecay,
    /// Days without use after which a memory counts as inactive.
    pub inactive_after: f32,
    /// Days in which an inactive memory loses half of its strength; 0 turns this off.
    pub inactive_half_life: f32,
    /// Share of the activation that is left after each hop.
    pub spread: f32,
    /// Maximum number of hops that activation spreads.
    pub max_hops: usize,
    /// Number of best candidates from which activation spreads.
    pub sources: usize,
    /// Maximum boost from query words in the names of a chunk.
    pub context_boost: f32,
    /// λ of `exp(−λ · age in hours)` on the score of conversation chunks; 0 turns it off.
    pub conversation_decay: f32,
    /// Values of verdicts.
    pub learning: LearningConfig,
}

/// Rates of forgetting by chunk type, as factors of the common rate; 0 never forgets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TypeDecay {
    /// Functions, methods, and code between definitions.
    pub code: f32,
    /// Classes, interfaces, structs, enums and type aliases.
    pub types: f32,
    /// Sections of Markdown.
    pub kb: f32,
    /// Sections of other documents.
    pub doc: f32,
    /// Reasoning patterns.
    pub reasoning: f32,
    /// Conversation logs and knowledge.
    pub knowledge: f32,
    /// Notes.
    pub note: f32,
    /// Turns of conversations.
    pub turn: f32,
}

/// Values of verdicts, as shares of the range of activation among a query's candidates.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LearningConfig {
    /// The chunk was what the user looked for.
    pub good: f32,
    /// The chunk helped in a task that succeeded in part.
    pub helpful: f32,
    /// The chunk did not help in such a task; not positive.
    pub unhelpful: f32,
    /// The chunk was misleading; not positive.
    pub bad: f32,
    /// Maximum value of all verdicts on a chunk together, up or down.
    pub most: f32,
}

/// Strengths of the ranking rules; 0 turns a rule off. The strength of a lift is the fraction of the best fused score
/// that a full match adds. The strength of a penalty is the fraction of the chunk's score that a full match subtracts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RulesConfig {
    /// The chunk defines a symbol that the query names.
    pub definition: f32,
    /// The chunk's name consists of words of the query.
    pub name_words: f32,
    /// The file's stem consists of words of the query.
    pub file_stem: f32,
    /// The query gives the path of the chunk's file, or its end.
    pub path: f32,
    /// The query asks for tests, examples or the like, and the chunk is one.
    pub asked_for: f32,
    /// Other turns of the conversation lead to the turn from words of the query.
    pub conversation: f32,
    /// The documentation has words of the query.
    pub doc_words: f32,
    /// Keyword score of the whole file, relative to the best file.
    pub file_keywords: f32,
    /// Keyword score of the whole file, relative to the highest possible score of the query.
    pub file_coverage: f32,
    /// Cosine between the query and the mean of the file's chunks, relative to the best file.
    pub file_meaning: f32,
    /// The documentation in the whole file has words of the query.
    pub file_docs: f32,
    /// The reranking model, which reads query and chunk together, finds that the chunk answers the query.
    pub rerank: f32,
    /// The file already has a better result.
    pub repeated_file: f32,
    /// A definition of the same name is a better result.
    pub repeated_name: f32,
    /// Test code.
    pub tests: f32,
    /// Generated or minified code.
    pub generated: f32,
    /// Copies of other projects' code.
    pub vendored: f32,
    /// Examples, demos, samples and benchmarks.
    pub examples: f32,
    /// Files that only re-export what others define.
    pub reexports: f32,
    /// Type declarations without code.
    pub declarations: f32,
    /// Changelogs and release notes.
    pub changelogs: f32,
    /// Data, settings and styles.
    pub data: f32,
    /// Code that is kept for compatibility.
    pub superseded: f32,
    /// Code between definitions.
    pub fragments: f32,
    /// Sections of documents.
    pub prose: f32,
    /// Interfaces, types, structs and enums without behaviour.
    pub shapes: f32,
    /// Definitions of one or two lines.
    pub short: f32,
}

/// Rules for folding results into one place of the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoldingConfig {
    /// Whether to fold texts that differ in a few tokens. Equal texts are always folded.
    pub near_copies: bool,
}

/// A valid configuration of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchConfig {
    /// Maximum duration, in milliseconds, of an update of the index before a search; 0 turns updates off. Only programs
    /// update the index; a [`Searcher`](crate::Searcher) ignores this.
    pub refresh: u64,
    /// Name of the model that reranks the best results; `None` turns reranking off.
    pub rerank: Option<String>,
    /// Number of best results that the reranker reads.
    pub rerank_results: usize,
    /// Minimum number of words of a query whose results are reranked.
    pub rerank_words: usize,
    /// Keyword scoring.
    pub bm25: Bm25Config,
    /// Candidates and fusion.
    pub hybrid: HybridConfig,
    /// Weights by the kind of query.
    pub kinds: KindsConfig,
    /// Added terms of a query.
    pub expansion: ExpansionConfig,
    /// Activation.
    pub activation: ActivationConfig,
    /// Ranking rules.
    pub rules: RulesConfig,
    /// Folding of equal and similar results.
    pub folding: FoldingConfig,
    /// Weights of custom columns by column name. They override the declared weights.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub boost: BTreeMap<String, f32>,
}

impl SearchConfig {
    /// Returns the name of the reranker for searches in this mode; `None` in mode `sparse` or if the weight of the
    /// reranker is 0.
    pub fn reranker_for(&self, mode: Mode) -> Option<&str> {
        self.rerank.as_deref().filter(|_| mode != Mode::Sparse && self.rules.rerank > 0.0)
    }
}

/// Defaults that were measured on questions with known answers over public repositories: names, first sentences of
/// removed documentation, commit subjects, and free questions. `docs/internals/ranking-measurements.md` lists the effect of each
/// value. k1 and b have their usual values, because the gain from other values was within the noise.
impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            refresh: 300,
            rerank: None,
            rerank_results: 12,
            rerank_words: 5,
            bm25: Bm25Config { k1: 1.5, b: 0.75, fields: [3.0, 2.0, 2.5, 2.0, 1.0, 1.0, 1.0] },
            hybrid: HybridConfig {
                stage1_top_k: 200,
                dense_top_k: 100,
                fusion: Fusion::Weighted,
                bm25_weight: 0.08,
                semantic_weight: 0.86,
                activation_weight: 0.06,
                word_share: 0.3,
                rrf_k: 60.0,
                rrf_dense: 0.7,
                rrf_sparse: 0.3,
            },
            kinds: KindsConfig { identifier: 0.4, path: 0.5, error: 0.4, function_words: 0.15 },
            // Expansion finds names with one typo (MRR@10 .85 against .47), truncated names (.81 against .71) and
            // abbreviated names (.66 against .63) more often, and other questions no less often. Expanding frequent
            // terms cost more than it gained.
            expansion: ExpansionConfig {
                inflections: 0.5,
                inflected_in: 10,
                abbreviations: 0.3,
                abbreviated_in: 100,
                prefixes: 0.5,
                spelling: 0.8,
            },
            activation: ActivationConfig {
                decay: 0.5,
                base_level: 1.0,
                git_prior: 1.0,
                inactivity: 0.5,
                // Prose about code becomes outdated sooner than the code. Measured against the same rate for all types.
                type_decay: TypeDecay {
                    code: 1.0,
                    types: 1.0,
                    kb: 1.3,
                    doc: 1.3,
                    reasoning: 1.0,
                    knowledge: 1.0,
                    note: 1.0,
                    turn: 1.0,
                },
                inactive_after: 90.0,
                inactive_half_life: 180.0,
                spread: 0.7,
                max_hops: 3,
                sources: 10,
                context_boost: 0.5,
                conversation_decay: 0.0,
                learning: LearningConfig { good: 0.2, helpful: 0.05, unhelpful: -0.05, bad: -0.1, most: 1.0 },
            },
            rules: RulesConfig {
                definition: 0.1,
                name_words: 0.12,
                path: 0.6,
                asked_for: 0.05,
                doc_words: 0.1,
                file_stem: 0.06,
                file_keywords: 0.2,
                file_coverage: 0.16,
                file_meaning: 0.16,
                file_docs: 0.16,
                rerank: 0.15,
                repeated_file: 0.06,
                repeated_name: 0.06,
                tests: 0.5,
                generated: 0.3,
                vendored: 0.4,
                examples: 0.4,
                reexports: 0.1,
                declarations: 0.3,
                changelogs: 0.2,
                data: 0.4,
                superseded: 0.1,
                fragments: 0.1,
                prose: 0.4,
                shapes: 0.2,
                short: 0.25,
                conversation: 0.0,
            },
            folding: FoldingConfig { near_copies: true },
            boost: BTreeMap::new(),
        }
    }
}
