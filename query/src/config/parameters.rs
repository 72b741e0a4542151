//! The parameters of a search: one row per parameter, in the order of the reference documentation.
//!
//! A row contains the parameter's documentation, field, default and range. The settings, their checks, the reference
//! and the list of numbers for an optimiser are generated from the rows. The ranking rules are in another table,
//! `rule_table`.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use aurora_inverted::Bm25Config;
use aurora_storage::Field;

use crate::config::value::{Fusion, Kind, ModelName, Value};
use crate::query::Mode;
use crate::rule_table::ranking_rules;

/// A parameter of the configuration.
#[derive(Debug)]
pub struct Parameter {
    /// The full key, such as `search.bm25.k1`.
    pub key: &'static str,
    /// Description of the parameter.
    pub meaning: &'static str,
    /// Unit of a number; empty if it has no unit.
    pub unit: &'static str,
    /// Measured effect of other values; empty if nothing was measured. Effects are MRR@10 of documentation questions
    /// and R@10 of commit questions, first on flask, then on spring-framework. With the defaults, the results were .659
    /// and .921 on flask, and .466 and .780 on spring-framework.
    pub measured: &'static str,
    /// The valid range of a number; the upper end is infinite if there is no upper bound.
    pub range: RangeInclusive<f64>,
    pub(super) kind: Kind,
    pub(super) show: fn(&SearchConfig) -> String,
    /// Sets the value if the text is valid. Returns whether it is.
    pub(super) set: fn(&mut SearchConfig, &str, &RangeInclusive<f64>) -> bool,
}

/// A row of a table.
pub(crate) enum Row {
    Parameter(Parameter),
    /// A nested table.
    Table(&'static [Self]),
}

/// A type whose fields are parameters or nested tables.
pub(crate) trait Table {
    const ROWS: &'static [Row];

    fn defaults() -> Self;
}

const SHARE: RangeInclusive<f32> = 0.0..=1.0;
const RATE: RangeInclusive<f32> = 0.0..=2.0;
const LOSS: RangeInclusive<f32> = -1.0..=0.0;
const POSITIVE: RangeInclusive<f32> = 0.0..=f32::INFINITY;

/// Declares a table: `field: Type = default, range;` is a parameter, `field: Type;` is a nested table. The path after
/// `at` leads to the table, both as a path of fields in [`SearchConfig`] and as a path of keys below `search`.
macro_rules! parameters {
    (
        $(#[doc = $about:literal])+
        $table:ident at $at:tt {$(
            $(#[doc = $doc:literal])+
            $(#[unit = $unit:literal])?
            $(#[measured = $measured:literal])?
            $field:ident: $type:ident $(= $default:expr $(, $range:expr)?)?;
        )+}
    ) => {
        $(#[doc = $about])+
        #[derive(Debug, Clone, PartialEq)]
        pub struct $table {$(
            $(#[doc = $doc])+
            pub $field: $type,
        )+}

        impl Table for $table {
            const ROWS: &'static [Row] = &[$(
                parameters!(
                    @row $at $field $type $(= $default $(, $range)?)?;
                    concat!($($doc),+), concat!($($unit)?), concat!($($measured)?)
                )
            ),+];

            fn defaults() -> Self {
                Self {$( $field: parameters!(@default $type $($default)?) ),+}
            }
        }

        impl Default for $table {
            fn default() -> Self {
                Self::defaults()
            }
        }
    };
    (@default $type:ident) => { <$type as Table>::defaults() };
    (@default $type:ident $default:expr) => { $default };
    (@row $at:tt $field:ident $type:ident; $($about:expr),+) => { Row::Table(<$type as Table>::ROWS) };
    (@row ($($at:ident).*) $field:ident $type:ident = $default:expr $(, $range:expr)?; $($about:expr),+) => {
        parameters!(
            @at concat!($(stringify!($at), ".",)* stringify!($field)),
            [$($at.)* $field], $type, [$($range)?], $($about),+
        )
    };
    (
        @at $key:expr, [$($place:tt)+], $type:ident, $range:tt, $meaning:expr, $unit:expr, $measured:expr
    ) => {
        Row::Parameter(Parameter {
            key: concat!("search.", $key),
            meaning: $meaning.trim_ascii_start(),
            unit: $unit,
            measured: $measured,
            range: parameters!(@range $type $range),
            kind: <$type as Value>::KIND,
            show: |config| config.$($place)+.show(),
            set: |config, text, range| Value::parse(text, range).map(|new| config.$($place)+ = new).is_some(),
        })
    };
    (@range $type:ident []) => { 0.0..=f64::INFINITY };
    (@range $type:ident [$range:expr]) => {{
        let range: RangeInclusive<$type> = $range;
        *range.start() as f64..=*range.end() as f64
    }};
}

// Defaults were measured on questions with known answers over public repositories: names, first sentences of removed
// documentation, commit subjects, and free questions. `docs/internals/ranking-measurements.md` describes the questions
// and the results. k1 and b have their usual values, because the gain from other values was within the noise.
parameters! {
    /// A valid configuration of a search.
    SearchConfig at () {
        /// A search on the command line updates the index first if that takes less than this time; 0 turns it off.
        #[unit = "ms"]
        refresh: u64 = 300, 0..=60_000;
        /// The model that reranks the best results: a cross-encoder in the user's directory of models, or `off`.
        rerank: ModelName = None;
        /// Number of best results that the reranker reads. Each result makes a search slower.
        #[unit = "chunks"]
        rerank_results: usize = 12, 1..=100;
        /// Queries with fewer words are not reranked; the option `--rerank` reranks every query.
        #[unit = "words"]
        rerank_words: usize = 5, 1..=100;
        /// Keyword scoring.
        bm25: Bm25Config;
        /// Candidates and fusion.
        hybrid: HybridConfig;
        /// Terms that are added to a query.
        expansion: ExpansionConfig;
        /// Weights by the kind of query.
        kinds: KindsConfig;
        /// Activation.
        activation: ActivationConfig;
        /// Ranking rules.
        rules: RulesConfig;
        /// Folding of equal and similar results.
        folding: FoldingConfig;
        /// Weights of custom columns by column name. They override the declared weights.
        boost: ColumnWeights;
    }
}

/// Declares the parameters of [`Bm25Config`], which another crate defines.
macro_rules! scoring {
    ($(
        $(#[doc = $doc:literal])+
        $(#[measured = $measured:literal])?
        $key:literal at [$($place:tt)+], $range:ident;
    )+) => {
        &[$(
            parameters!(
                @at concat!("bm25.", $key), [bm25.$($place)+], f32, [$range],
                concat!($($doc),+), "", concat!($($measured)?)
            )
        ),+]
    };
}

impl Table for Bm25Config {
    const ROWS: &'static [Row] = scoring! {
        /// Saturation of the term frequency; 0 ignores frequencies.
        "k1" at [k1], POSITIVE;
        /// Length normalisation of every field: 0 turns it off, 1 normalises fully.
        "b" at [b], SHARE;
        /// Weight of the name of the definition.
        #[measured = "keywords alone: .251, .725; .293, .697 with fields; .238, .723; .310, .696 with all text in one \
            field"]
        "fields.name" at [fields[Field::Name.index()]], POSITIVE;
        /// Weight of the name with the names of the enclosing definitions.
        "fields.qualified_name" at [fields[Field::QualifiedName.index()]], POSITIVE;
        /// Weight of the signature.
        "fields.signature" at [fields[Field::Signature.index()]], POSITIVE;
        /// Weight of the path.
        "fields.path" at [fields[Field::Path.index()]], POSITIVE;
        /// Weight of the documentation.
        "fields.doc" at [fields[Field::Doc.index()]], POSITIVE;
        /// Weight of custom columns with the use `terms`.
        "fields.custom" at [fields[Field::Custom.index()]], POSITIVE;
        /// Weight of the code.
        "fields.body" at [fields[Field::Body.index()]], POSITIVE;
    };

    fn defaults() -> Self {
        Self { k1: 1.5, b: 0.75, fields: [3.0, 2.0, 2.5, 2.0, 1.0, 1.0, 1.0] }
    }
}

parameters! {
    /// Both stages of retrieval and their fusion.
    HybridConfig at (hybrid) {
        /// Maximum number of candidates from the keyword search.
        #[unit = "chunks"]
        #[measured = "100: R@10 of commit questions .916 and .760 instead of .921 and .772"]
        stage1_top_k: usize = 200, 10..=100_000;
        /// Maximum number of candidates from the vector search.
        #[unit = "chunks"]
        #[measured = "200: nothing more is found"]
        dense_top_k: usize = 100, 10..=100_000;
        /// Method of combining the components: a weighted sum of min-max normalised scores, or reciprocal rank fusion.
        #[measured = "`rrf`: .615, .852; .388, .727"]
        fusion: Fusion = Fusion::Weighted;
        /// Weights of the components.
        weights: Weights;
        /// Share of late interaction in the semantic score; the rest is the cosine of the vectors.
        #[measured = "0: .635, .881; .424, .753"]
        word_share: f32 = 0.3, SHARE;
        /// The constant k of reciprocal rank fusion, `1 / (k + rank)`.
        rrf_k: f32 = 60.0, POSITIVE;
        /// Weights of the orders in reciprocal rank fusion.
        rrf_weights: RrfWeights;
    }
}

parameters! {
    /// Weights of the components in a weighted sum.
    Weights at (hybrid.weights) {
        /// Weight of the keyword score; the three weights sum to 1.
        #[measured = "0: .661, .917; .484, .774"]
        bm25: f32 = 0.08, SHARE;
        /// Weight of the semantic score.
        #[measured = "0: .469, .905; .395, .772"]
        semantic: f32 = 0.86, SHARE;
        /// Weight of the activation.
        #[measured = "0: .656, .921; .465, .760. 0.2: .653, .933; .434, .789"]
        activation: f32 = 0.06, SHARE;
    }
}

parameters! {
    /// Weights of the orders in reciprocal rank fusion.
    RrfWeights at (hybrid.rrf_weights) {
        /// Weight of the semantic order in reciprocal rank fusion; the two weights sum to 1.
        dense: f32 = 0.7, SHARE;
        /// Weight of the keyword order in reciprocal rank fusion.
        sparse: f32 = 0.3, SHARE;
    }
}

// Expansion raises MRR@10 from .47 to .85 for names with one typo, from .71 to .81 for truncated names, and from .63 to
// .66 for abbreviated names. Searches find the answers to other questions no less often. Expanding frequent terms as
// well cost more than it gained.
parameters! {
    /// Weights of added terms, as factors of the terms' scores; 0 turns an expansion off.
    ExpansionConfig at (expansion) {
        /// Weight of other forms of an English word; 0 turns them off.
        #[measured = "0: .653, .921; .466, .780"]
        inflections: f32 = 0.5, SHARE;
        /// Maximum number of chunks that contain a term whose other forms are searched for.
        #[unit = "chunks"]
        inflected_in: usize = 10, 0..=1_000_000;
        /// Weight of abbreviations of a word and of words of an abbreviation; 0 turns them off.
        #[measured = "0, `prefixes` too: .659, .921; .466, .780. Abbreviated names: MRR@10 .66 with, .63 without"]
        abbreviations: f32 = 0.3, SHARE;
        /// Maximum number of chunks that contain a term whose abbreviations are searched for.
        #[unit = "chunks"]
        abbreviated_in: usize = 100, 0..=1_000_000;
        /// Weight of longer words that begin with a word that hardly any chunk contains; 0 turns them off.
        #[measured = "truncated names: MRR@10 .81 with, .71 without"]
        prefixes: f32 = 0.5, SHARE;
        /// Weight of the nearest indexed word for a word that no chunk contains; 0 turns it off.
        #[measured = "misspelt names: MRR@10 .85 with, .47 without"]
        spelling: f32 = 0.8, SHARE;
    }
}

parameters! {
    /// Weights by the kind of a query.
    KindsConfig at (kinds) {
        /// Weight of the keyword score for a query that consists of names.
        #[measured = "all three kinds off: .659, .916; .467, .772"]
        identifier: f32 = 0.4, SHARE;
        /// Weight of the keyword score for a query that is a path.
        path: f32 = 0.5, SHARE;
        /// Weight of the keyword score for a query that is an error message.
        error: f32 = 0.4, SHARE;
        /// Factor of function words (`the`, `how`) in a query that also has other words.
        #[measured = "1: .659, .921; .466, .778"]
        function_words: f32 = 0.15, SHARE;
    }
}

parameters! {
    /// Parameters of the activation model (ACT-R).
    ActivationConfig at (activation) {
        /// Exponent d of the base level, `ln Σ t^(−d)`.
        decay: f32 = 0.5, SHARE;
        /// Factor of the base level.
        base_level: f32 = 1.0, POSITIVE;
        /// Factor of the prior from git: `0.5^(years since the newest commit)`.
        git_prior: f32 = 1.0, POSITIVE;
        /// Factor of the decay, `log10(days since the last use)`.
        inactivity: f32 = 0.5, POSITIVE;
        /// Rates of forgetting by chunk type.
        type_decay: TypeDecay;
        /// Time without use after which a memory counts as inactive.
        #[unit = "days"]
        inactive_after: f32 = 90.0, POSITIVE;
        /// Time in which an inactive memory loses half of its strength; 0 turns this off.
        #[unit = "days"]
        inactive_half_life: f32 = 180.0, POSITIVE;
        /// Share of the activation that is left after one hop.
        spread: f32 = 0.7, SHARE;
        /// Maximum number of hops over which activation spreads.
        #[unit = "hops"]
        #[measured = "0: .663, .921; .468, .775"]
        max_hops: usize = 3, 0..=3;
        /// Number of best candidates from which activation spreads.
        #[unit = "chunks"]
        sources: usize = 10, 0..=20;
        /// Largest boost for query words in the names of a chunk.
        context_boost: f32 = 0.5, 0.0..=0.5;
        /// λ of `exp(−λ · age)` on the score of conversations; 0 turns it off.
        #[unit = "per hour"]
        conversation_decay: f32 = 0.0, POSITIVE;
        /// Values of verdicts.
        learning: LearningConfig;
    }
}

// Prose decays faster, because prose about code becomes outdated sooner than the code. Measurements compared these
// rates with one rate for all types.
parameters! {
    /// Rates of forgetting by chunk type, as factors of the common rate; 0 never forgets.
    TypeDecay at (activation.type_decay) {
        /// Rate of forgetting of functions, methods and code between definitions; 0 never forgets.
        code: f32 = 1.0, RATE;
        /// Rate of forgetting of classes, interfaces, structs, enums and type aliases.
        types: f32 = 1.0, RATE;
        /// Rate of forgetting of sections of Markdown and similar documents.
        kb: f32 = 1.3, RATE;
        /// Rate of forgetting of sections of other documents.
        doc: f32 = 1.3, RATE;
        /// Rate of forgetting of reasoning patterns.
        reasoning: f32 = 1.0, RATE;
        /// Rate of forgetting of conversation logs and knowledge.
        knowledge: f32 = 1.0, RATE;
        /// Rate of forgetting of notes.
        note: f32 = 1.0, RATE;
        /// Rate of forgetting of turns of conversations.
        turn: f32 = 1.0, RATE;
    }
}

parameters! {
    /// Values of verdicts, as shares of the range of activation among a query's candidates.
    LearningConfig at (activation.learning) {
        /// Value of a `good` verdict, as a share of the candidates' range of activation.
        good: f32 = 0.2, SHARE;
        /// Value of `good --partial`.
        helpful: f32 = 0.05, SHARE;
        /// Value of `bad --partial`.
        unhelpful: f32 = -0.05, LOSS;
        /// Value of a `bad` verdict.
        bad: f32 = -0.1, LOSS;
        /// Largest value of all verdicts on a chunk together, up or down.
        most: f32 = 1.0, SHARE;
    }
}

/// Declares the strengths of the ranking rules.
macro_rules! strengths {
    ($(
        $(#[doc = $doc:literal])+
        $(#[measured = $measured:literal])?
        $rule:ident = $strength:literal, $range:ident, $effect:ident $(($condition:expr))?, $reason:literal
            $(, $reason_of_turn:literal)?;
    )+) => {
        parameters! {
            /// Strengths of the ranking rules; 0 turns a rule off. The strength of a lift is the fraction of the best
            /// fused score that a full match adds. The strength of a penalty is the fraction of the chunk's score that
            /// a full match subtracts.
            RulesConfig at (rules) {$(
                $(#[doc = $doc])+
                $(#[measured = $measured])?
                $rule: f32 = $strength, $range;
            )+}
        }
    };
}
ranking_rules!(strengths);

parameters! {
    /// Rules for folding equal and similar results into one entry of the list.
    FoldingConfig at (folding) {
        /// Fold code that differs from a better result in a few tokens; equal texts are always folded.
        #[measured = "`true`: .657, .921; .472, .772. `false`: .657, .921; .471, .780"]
        near_copies: bool = true;
    }
}

/// Weights of custom columns by column name. They have no rows, because the columns depend on the index.
pub type ColumnWeights = BTreeMap<String, f32>;

impl Table for ColumnWeights {
    const ROWS: &'static [Row] = &[];

    fn defaults() -> Self {
        Self::new()
    }
}

impl SearchConfig {
    /// Returns the name of the reranker for searches in this mode; `None` in mode `sparse` or if the weight of the
    /// reranker is 0.
    pub fn reranker_for(&self, mode: Mode) -> Option<&str> {
        self.rerank.as_deref().filter(|_| mode != Mode::Sparse && self.rules.rerank > 0.0)
    }
}
