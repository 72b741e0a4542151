//! The parameters of a search with their measured defaults.

use std::collections::BTreeMap;

use aurora_inverted::Bm25Config;
use serde::Serialize;

use crate::query::Mode;

/// How the first stage's candidates are put in one order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fusion {
    /// Weighted sum of the components, each min-max normalised within the candidates.
    Weighted,
    /// Reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009) of the keyword and the semantic order.
    Rrf,
}

/// Both stages of retrieval and how they are fused.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct HybridConfig {
    /// Candidates that BM25 hands to the second stage.
    pub stage1_top_k: usize,
    /// Candidates that the vectors hand to the second stage.
    pub dense_top_k: usize,
    /// How components become one score.
    pub fusion: Fusion,
    /// Share of the keyword score; the three shares sum to 1.
    pub bm25_weight: f32,
    /// Share of the cosine.
    pub semantic_weight: f32,
    /// Share of the activation.
    pub activation_weight: f32,
    /// Share of the comparison word by word in the semantic score; the rest is the cosine's.
    pub word_share: f32,
    /// The constant of reciprocal rank fusion.
    pub rrf_k: f32,
    /// Share of the semantic order in reciprocal rank fusion; both shares sum to 1.
    pub rrf_dense: f32,
    /// Share of the keyword order in reciprocal rank fusion.
    pub rrf_sparse: f32,
}

/// How a query's kind moves the weights.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KindsConfig {
    /// Share of the keyword score for a query that consists of names.
    pub identifier: f32,
    /// The same for paths.
    pub path: f32,
    /// The same for error messages.
    pub error: f32,
    /// Factor of words that only hold a sentence together, where a query has others.
    pub function_words: f32,
}

/// How strongly further terms count, as factors of their own score; 0 turns a kind off.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExpansionConfig {
    /// Other forms of an English word.
    pub inflections: f32,
    /// Most chunks that may hold a term whose other forms are searched for.
    pub inflected_in: usize,
    /// Abbreviations of a word, and words of an abbreviation.
    pub abbreviations: f32,
    /// Most chunks that may hold a term whose abbreviations are searched for.
    pub abbreviated_in: usize,
    /// Longer words that a word begins which hardly any chunk holds.
    pub prefixes: f32,
    /// The nearest word in place of one that no chunk holds.
    pub spelling: f32,
}

/// Parameters of the activation model (ACT-R).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ActivationConfig {
    /// Exponent `d` of the base level.
    pub decay: f32,
    /// Weight of the base level.
    pub base_level: f32,
    /// Weight of the prior from version control.
    pub git_prior: f32,
    /// Factor of the decay's logarithm.
    pub inactivity: f32,
    /// Rates of forgetting by type.
    pub type_decay: TypeDecay,
    /// Days without use after which a memory counts as inactive.
    pub inactive_after: f32,
    /// Days in which an inactive memory loses half of its strength; 0 turns this off.
    pub inactive_half_life: f32,
    /// Factor of an activation for each hop.
    pub spread: f32,
    /// Hops that activation spreads.
    pub max_hops: usize,
    /// Best candidates from which activation spreads.
    pub sources: usize,
    /// Greatest boost from the query's words.
    pub context_boost: f32,
    /// λ of `exp(−λ · age in hours)` on conversation chunks; 0 leaves them alone.
    pub conversation_decay: f32,
    /// What judgements are worth.
    pub learning: LearningConfig,
}

/// Rates of forgetting by type, as factors of the common rate: 0 never forgets.
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

/// What verdicts are worth, in shares of the range that the activations of a query's candidates span.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LearningConfig {
    /// It was what was looked for.
    pub good: f32,
    /// It helped, in a task that succeeded in part.
    pub helpful: f32,
    /// It did not help there; not positive.
    pub unhelpful: f32,
    /// It led astray; not positive.
    pub bad: f32,
    /// Most that all verdicts on a chunk may make together, either way.
    pub most: f32,
}

/// Strengths of the ranking rules; 0 turns a rule off. Lifts are fractions of the best fused score that a full match
/// adds, penalties the fraction of its own score that a chunk loses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RulesConfig {
    /// The chunk defines a symbol that the query names.
    pub definition: f32,
    /// The chunk's name is made of the query's words.
    pub name_words: f32,
    /// The file's stem is made of the query's words.
    pub file_stem: f32,
    /// The query gives the path of the chunk's file, or the end of it.
    pub path: f32,
    /// The query asks for tests, examples or the like, and the chunk is one.
    pub asked_for: f32,
    /// Other turns of the conversation lead from words of the query to the turn.
    pub conversation: f32,
    /// The words of the documentation meet the query's.
    pub doc_words: f32,
    /// Keyword score of the whole file, as a share of the best file's.
    pub file_keywords: f32,
    /// The same as a share of the highest score that the query allows.
    pub file_coverage: f32,
    /// Cosine of the query with the mean of the file's chunks, as a share of the best file's.
    pub file_meaning: f32,
    /// The words of all documentation in the file meet the query's.
    pub file_docs: f32,
    /// A model that reads query and chunk together finds that the chunk answers the query.
    pub rerank: f32,
    /// Further chunks of a file that already has a better one.
    pub repeated_file: f32,
    /// Further chunks of a name that a better one has.
    pub repeated_name: f32,
    /// Code of tests.
    pub tests: f32,
    /// Generated or minified code.
    pub generated: f32,
    /// Copies of other projects' code.
    pub vendored: f32,
    /// Examples, demos, samples and benchmarks.
    pub examples: f32,
    /// Files that only pass on what others define.
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
    /// Interfaces, types, structs and enums: data without behaviour.
    pub shapes: f32,
    /// Definitions of one or two lines.
    pub short: f32,
}

/// Which results share one place in the list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FoldingConfig {
    /// Whether texts that differ in a few tokens do; equal texts always do.
    pub near_copies: bool,
}

/// A valid configuration of the search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchConfig {
    /// Longest time in milliseconds that a program takes to update an index before it searches; 0 for never. A
    /// [`Retriever`](crate::Retriever) never updates one.
    pub refresh: u64,
    /// The model that reads the best results; `None` for none.
    pub rerank: Option<String>,
    /// How many of the best results it reads.
    pub rerank_results: usize,
    /// It reads only the results of queries that have so many words at least.
    pub rerank_words: usize,
    /// Keyword scoring.
    pub bm25: Bm25Config,
    /// Candidates and fusion.
    pub hybrid: HybridConfig,
    /// What the form of a query changes.
    pub kinds: KindsConfig,
    /// Further terms of a query.
    pub expansion: ExpansionConfig,
    /// Activation.
    pub activation: ActivationConfig,
    /// Ranking rules.
    pub rules: RulesConfig,
    /// One answer once.
    pub folding: FoldingConfig,
    /// Weights of custom columns in place of the declared ones, by name of the column.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub boost: BTreeMap<String, f32>,
}

impl SearchConfig {
    /// The reranker that a search in this mode uses: none in mode `sparse`, and none if its weight is 0.
    pub fn reranker_for(&self, mode: Mode) -> Option<&str> {
        self.rerank.as_deref().filter(|_| mode != Mode::Sparse && self.rules.rerank > 0.0)
    }
}

/// Measured on questions with known answers over public repositories: names, first sentences of removed documentation,
/// commit subjects, free questions. `docs/internals/ranking-measurements.md` says what each value is worth. k1 and b are the usual ones, as
/// others gained less than the noise.
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
            // Names with one slip (MRR@10 .85 against .47), cut short (.81 against .71) and abbreviated (.66 against .63) are
            // found more often, other questions no worse; expanding frequent terms cost more than it brought.
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
                // What prose says of code goes out of date sooner than the code: measured against the same rate for all.
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
