//! Descriptions of the keys below `search`: one row per key of the settings, in the same order.

use crate::config::parameters::SearchConfig;
use crate::config::settings::{self, SETTINGS};

/// One key of the search configuration in the reference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchKey {
    /// The full key, such as `search.bm25.k1`.
    pub key: &'static str,
    /// The environment variable that sets it.
    pub variable: String,
    /// The values that the key accepts.
    pub values: String,
    /// The default, in the syntax of flags.
    pub default: String,
    /// Unit of a number; empty if it has no unit.
    pub unit: &'static str,
    /// Description of the key; empty if the reference has no row for the key.
    pub meaning: &'static str,
    /// Measured effect of other values; empty if nothing was measured.
    pub effect: &'static str,
}

impl SearchConfig {
    /// Returns every key with its default, in the order of the settings.
    pub fn reference() -> Vec<SearchKey> {
        let mut defaults = Self::default();
        let row = |setting: &settings::Setting| {
            let found = ROWS.iter().find(|row| row.key == setting.key);
            SearchKey {
                key: setting.key,
                variable: settings::variable(setting.key),
                values: settings::values(setting),
                default: settings::show(setting, &mut defaults),
                unit: found.map_or("", |row| row.unit),
                meaning: found.map_or("", |row| row.meaning),
                effect: found.map_or("", |row| row.effect),
            }
        };
        SETTINGS.iter().map(row).collect()
    }
}

struct ReferenceRow {
    key: &'static str,
    meaning: &'static str,
    unit: &'static str,
    effect: &'static str,
}

const fn row(key: &'static str, meaning: &'static str) -> ReferenceRow {
    ReferenceRow { key, meaning, unit: "", effect: "" }
}

impl ReferenceRow {
    const fn unit(mut self, unit: &'static str) -> Self {
        self.unit = unit;
        self
    }

    const fn effect(mut self, effect: &'static str) -> Self {
        self.effect = effect;
        self
    }
}

/// The effects are MRR@10 of documentation questions and R@10 of commit questions, first on flask, then on
/// spring-framework. The results with the defaults were .659, .921; .466, .780.
static ROWS: &[ReferenceRow] = &[
    row(
        "search.refresh",
        "A search on the command line updates the index first if that takes less than this time; 0 turns it off.",
    )
    .unit("ms"),
    row(
        "search.rerank",
        "The model that reads the best results once more: a cross-encoder in the user's directory of models, or `off`.",
    ),
    row("search.rerank_results", "Number of best results that the reranker reads. Each result makes a search slower.")
        .unit("chunks"),
    row("search.rerank_words", "Queries with fewer words are not reranked; the option `--rerank` reranks every query.")
        .unit("words"),
    row("search.bm25.k1", "Saturation of the term frequency; 0 ignores frequencies."),
    row("search.bm25.b", "Length normalisation of every field: 0 turns it off, 1 normalises fully."),
    row("search.bm25.fields.name", "Weight of the name of the definition.").effect(
        "keywords alone: .251, .725; .293, .697 with fields; .238, .723; .310, .696 with all text in one field",
    ),
    row("search.bm25.fields.qualified_name", "Weight of the name with the names of the enclosing definitions."),
    row("search.bm25.fields.signature", "Weight of the signature."),
    row("search.bm25.fields.path", "Weight of the path."),
    row("search.bm25.fields.doc", "Weight of the documentation."),
    row("search.bm25.fields.custom", "Weight of custom columns with the use `terms`."),
    row("search.bm25.fields.body", "Weight of the code."),
    row("search.hybrid.stage1_top_k", "Candidates from the keyword search.")
        .unit("chunks")
        .effect("100: R@10 of commit questions .916 and .760 instead of .921 and .772"),
    row("search.hybrid.dense_top_k", "Candidates from the vector search.")
        .unit("chunks")
        .effect("200: nothing more is found"),
    row(
        "search.hybrid.fusion",
        "How the components become one score: a weighted sum of min-max normalised scores, or reciprocal rank fusion.",
    )
    .effect("`rrf`: .615, .852; .388, .727"),
    row("search.hybrid.weights.bm25", "Weight of the keyword score; the three weights sum to 1.")
        .effect("0: .661, .917; .484, .774"),
    row("search.hybrid.weights.semantic", "Weight of the semantic score.").effect("0: .469, .905; .395, .772"),
    row("search.hybrid.weights.activation", "Weight of the activation.")
        .effect("0: .656, .921; .465, .760. 0.2: .653, .933; .434, .789"),
    row(
        "search.hybrid.word_share",
        "Share of late interaction in the semantic score; the rest is the cosine of the vectors.",
    )
    .effect("0: .635, .881; .424, .753"),
    row("search.hybrid.rrf_k", "The constant k of reciprocal rank fusion, `1 / (k + rank)`."),
    row(
        "search.hybrid.rrf_weights.dense",
        "Weight of the semantic order in reciprocal rank fusion; the two weights sum to 1.",
    ),
    row("search.hybrid.rrf_weights.sparse", "Weight of the keyword order in reciprocal rank fusion."),
    row("search.expansion.inflections", "Weight of other forms of an English word; 0 turns them off.")
        .effect("0: .653, .921; .466, .780"),
    row(
        "search.expansion.inflected_in",
        "Maximum number of chunks that contain a term whose other forms are searched for.",
    )
    .unit("chunks"),
    row(
        "search.expansion.abbreviations",
        "Weight of abbreviations of a word and of words of an abbreviation; 0 turns them off.",
    )
    .effect("0, `prefixes` too: .659, .921; .466, .780. Abbreviated names: MRR@10 .66 with, .63 without"),
    row(
        "search.expansion.abbreviated_in",
        "Maximum number of chunks that contain a term whose abbreviations are searched for.",
    )
    .unit("chunks"),
    row(
        "search.expansion.prefixes",
        "Weight of longer words that begin with a word that hardly any chunk contains; 0 turns them off.",
    )
    .effect("truncated names: MRR@10 .81 with, .71 without"),
    row(
        "search.expansion.spelling",
        "Weight of the nearest indexed word for a word that no chunk contains; 0 turns it off.",
    )
    .effect("misspelt names: MRR@10 .85 with, .47 without"),
    row("search.kinds.identifier", "Weight of the keyword score for a query that consists of names.")
        .effect("all three kinds off: .659, .916; .467, .772"),
    row("search.kinds.path", "Weight of the keyword score for a query that is a path."),
    row("search.kinds.error", "Weight of the keyword score for a query that is an error message."),
    row("search.kinds.function_words", "Factor of function words (`the`, `how`) where a query has other words.")
        .effect("1: .659, .921; .466, .778"),
    row("search.activation.decay", "Exponent d of the base level, `ln Σ t^(−d)`."),
    row("search.activation.base_level", "Factor of the base level."),
    row("search.activation.git_prior", "Factor of the prior from git: `0.5^(years since the newest commit)`."),
    row("search.activation.inactivity", "Factor of the decay, `log10(days since the last use)`."),
    row(
        "search.activation.type_decay.code",
        "Rate of forgetting of functions, methods and code between definitions; 0 never forgets.",
    ),
    row(
        "search.activation.type_decay.types",
        "Rate of forgetting of classes, interfaces, structs, enums and type aliases.",
    ),
    row("search.activation.type_decay.kb", "Rate of forgetting of sections of Markdown."),
    row("search.activation.type_decay.doc", "Rate of forgetting of sections of other documents."),
    row("search.activation.type_decay.reasoning", "Rate of forgetting of reasoning patterns."),
    row("search.activation.type_decay.knowledge", "Rate of forgetting of conversation logs and knowledge."),
    row("search.activation.type_decay.note", "Rate of forgetting of notes."),
    row("search.activation.type_decay.turn", "Rate of forgetting of turns of conversations."),
    row("search.activation.inactive_after", "Time without use after which a memory counts as inactive.").unit("days"),
    row(
        "search.activation.inactive_half_life",
        "Time in which an inactive memory loses half of its strength; 0 turns this off.",
    )
    .unit("days"),
    row("search.activation.spread", "Share of the activation that is left after one hop."),
    row("search.activation.max_hops", "Hops that activation spreads.").unit("hops").effect("0: .663, .921; .468, .775"),
    row("search.activation.sources", "Best candidates from which activation spreads.").unit("chunks"),
    row("search.activation.context_boost", "Largest boost for query words in the names of a chunk."),
    row("search.activation.conversation_decay", "λ of `exp(−λ · age)` on the score of conversations; 0 turns it off.")
        .unit("per hour"),
    row(
        "search.activation.learning.good",
        "Value of a `good` verdict, as a share of the candidates' range of activation.",
    ),
    row("search.activation.learning.helpful", "Value of `good --partial`."),
    row("search.activation.learning.unhelpful", "Value of `bad --partial`."),
    row("search.activation.learning.bad", "Value of a `bad` verdict."),
    row("search.activation.learning.most", "Largest value of all verdicts on a chunk together, up or down."),
    row("search.rules.definition", "Lift: the chunk defines a symbol that the query names.")
        .effect("0: .659, .921; .474, .775"),
    row("search.rules.name_words", "Lift: the chunk's name consists of words of the query.")
        .effect("0: .642, .920; .466, .776"),
    row("search.rules.file_stem", "Lift: the file's stem consists of words of the query.")
        .effect("0: within ±.006 on flask and ±.005 on spring-framework"),
    row("search.rules.path", "Lift: the query gives the path of the chunk's file, or its end.")
        .effect("0: within ±.007 on flask and 0 on spring-framework; few of these questions name a path"),
    row("search.rules.asked_for", "Lift: the query asks for tests, examples or the like, and the chunk is one.")
        .effect("0: within ±.006 on flask and ±.005 on spring-framework"),
    row("search.rules.doc_words", "Lift: the documentation has words of the query.")
        .effect("0: .664, .919; .465, .780"),
    row("search.rules.file_keywords", "Lift: the whole file has words of the query, compared with the other files."),
    row("search.rules.file_coverage", "Lift: the whole file has all words of the query, and often."),
    row("search.rules.file_meaning", "Lift: the whole file is close in meaning to the query."),
    row("search.rules.file_docs", "Lift: the documentation in the whole file has words of the query."),
    row(
        "search.rules.rerank",
        "Lift: the model of `search.rerank` finds that the chunk answers the query, compared with the others that it reads.",
    ),
    row("search.rules.repeated_file", "Penalty: the file already has a better result.")
        .effect("0: .658, .896; .468, .755"),
    row("search.rules.repeated_name", "Penalty: a definition of the same name is a better result.")
        .effect("0: other questions, .0015 MRR@10 less"),
    row("search.rules.tests", "Penalty: test code, unless the query asks for tests.")
        .effect("0: .633, .863; .436, .743"),
    row("search.rules.generated", "Penalty: generated or minified code, by its path or its header.")
        .effect("0: within ±.007 on flask, 0 on spring-framework"),
    row("search.rules.vendored", "Penalty: copies of other projects' code.").effect("0: .659, .921; .466, .780"),
    row("search.rules.examples", "Penalty: examples, demos, samples and benchmarks, unless the query asks for them.")
        .effect("0: .657, .916; .466, .780"),
    row("search.rules.reexports", "Penalty: files that only re-export what others define.")
        .effect("0: within ±.007 on flask, 0 on spring-framework"),
    row("search.rules.declarations", "Penalty: type declarations without code.")
        .effect("0: within ±.007 on flask, 0 on spring-framework"),
    row("search.rules.changelogs", "Penalty: changelogs and release notes.")
        .effect("0: within ±.007 on flask, 0 on spring-framework"),
    row(
        "search.rules.data",
        "Penalty: data, settings and styles (JSON, YAML, XML, CSS, …), unless the query asks for them.",
    )
    .effect("not measured: the repositories have hardly any"),
    row(
        "search.rules.superseded",
        "Penalty: code kept for compatibility (directories and files called `legacy`, `compat`, `v1`, …), unless the query \
         asks for it.",
    )
    .effect("0: other questions, commits .0009 MRR@10 less"),
    row("search.rules.fragments", "Penalty: code between definitions.").effect("0: .659, .921; .466, .775"),
    row("search.rules.prose", "Penalty: sections of documents, unless the query asks for documentation.")
        .effect("0: .573, .805; .466, .774"),
    row(
        "search.rules.shapes",
        "Penalty: interfaces, types, structs and enums without behaviour, unless the query asks for them.",
    )
    .effect("0: .659, .921; .482, .789"),
    row("search.rules.short", "Penalty: definitions of one or two lines.").effect("0: .656, .916; .468, .780"),
    row(
        "search.rules.conversation",
        "Lift: turns of a conversation that other turns lead to from words of the query: a PageRank over the candidates.",
    ),
    row(
        "search.folding.near_copies",
        "Fold code that differs from a better result in a few tokens; equal texts are always folded.",
    )
    .effect("`true`: .657, .921; .472, .772. `false`: .657, .921; .471, .780"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_its_row_in_the_same_order() {
        let described: Vec<&str> = ROWS.iter().map(|row| row.key).collect();
        let keys: Vec<&str> = settings::names().collect();
        assert_eq!(described, keys);
    }
}
