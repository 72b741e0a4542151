//! The keys below `search`: one row per key with its rule and the field that it sets.

use std::ops::RangeInclusive;

use aurora_analysis::is_model_name;
use aurora_storage::Field;

use crate::config::parameters::{Fusion, SearchConfig};

/// One key of the configuration.
pub(crate) struct Setting {
    /// The full key.
    pub(crate) key: &'static str,
    /// The kind of value and the field that stores it.
    pub(crate) value: SettingValue,
}

/// The kinds of values, each with an accessor of its field.
pub(crate) enum SettingValue {
    /// A number within bounds.
    Number(RangeInclusive<f32>, fn(&mut SearchConfig) -> &mut f32),
    /// A whole number within bounds.
    Count(RangeInclusive<usize>, fn(&mut SearchConfig) -> &mut usize),
    /// A duration in milliseconds within bounds. Such keys limit a program and do not affect ranking.
    Milliseconds(RangeInclusive<u64>, fn(&mut SearchConfig) -> &mut u64),
    /// `true` or `false`.
    Switch(fn(&mut SearchConfig) -> &mut bool),
    /// The name of a fusion.
    Fusion(fn(&mut SearchConfig) -> &mut Fusion),
    /// The name of a model in the user's directory, or [`OFF`].
    Model(fn(&mut SearchConfig) -> &mut Option<String>),
}

/// The value that means "no model".
const OFF: &str = "off";
/// Not accepted as model names, because somebody who writes them means a switch.
const SWITCHES: [&str; 2] = ["true", "false"];

const SHARE: RangeInclusive<f32> = 0.0..=1.0;
const RATE: RangeInclusive<f32> = 0.0..=2.0;
const LOSS: RangeInclusive<f32> = -1.0..=0.0;
const POSITIVE: RangeInclusive<f32> = 0.0..=f32::INFINITY;

const fn number(key: &'static str, range: RangeInclusive<f32>, field: fn(&mut SearchConfig) -> &mut f32) -> Setting {
    Setting { key, value: SettingValue::Number(range, field) }
}

const fn count(key: &'static str, range: RangeInclusive<usize>, field: fn(&mut SearchConfig) -> &mut usize) -> Setting {
    Setting { key, value: SettingValue::Count(range, field) }
}

/// The table of weights by custom column. Its keys are the columns of an index.
pub(crate) const BOOST: &str = "search.boost";
/// The weights that a column may have.
pub(crate) const BOOST_RANGE: RangeInclusive<f32> = -1.0..=1.0;

/// Every key, in the order of the documentation.
pub(crate) static SETTINGS: &[Setting] = &[
    Setting { key: "search.refresh", value: SettingValue::Milliseconds(0..=60_000, |c| &mut c.refresh) },
    Setting { key: "search.rerank", value: SettingValue::Model(|c| &mut c.rerank) },
    count("search.rerank_results", 1..=100, |c| &mut c.rerank_results),
    count("search.rerank_words", 1..=100, |c| &mut c.rerank_words),
    number("search.bm25.k1", POSITIVE, |c| &mut c.bm25.k1),
    number("search.bm25.b", SHARE, |c| &mut c.bm25.b),
    number("search.bm25.fields.name", POSITIVE, |c| &mut c.bm25.fields[Field::Name as usize]),
    number("search.bm25.fields.qualified_name", POSITIVE, |c| &mut c.bm25.fields[Field::QualifiedName as usize]),
    number("search.bm25.fields.signature", POSITIVE, |c| &mut c.bm25.fields[Field::Signature as usize]),
    number("search.bm25.fields.path", POSITIVE, |c| &mut c.bm25.fields[Field::Path as usize]),
    number("search.bm25.fields.doc", POSITIVE, |c| &mut c.bm25.fields[Field::Doc as usize]),
    number("search.bm25.fields.custom", POSITIVE, |c| &mut c.bm25.fields[Field::Custom as usize]),
    number("search.bm25.fields.body", POSITIVE, |c| &mut c.bm25.fields[Field::Body as usize]),
    count("search.hybrid.stage1_top_k", 10..=100_000, |c| &mut c.hybrid.stage1_top_k),
    count("search.hybrid.dense_top_k", 10..=100_000, |c| &mut c.hybrid.dense_top_k),
    Setting { key: "search.hybrid.fusion", value: SettingValue::Fusion(|c| &mut c.hybrid.fusion) },
    number("search.hybrid.weights.bm25", SHARE, |c| &mut c.hybrid.bm25_weight),
    number("search.hybrid.weights.semantic", SHARE, |c| &mut c.hybrid.semantic_weight),
    number("search.hybrid.weights.activation", SHARE, |c| &mut c.hybrid.activation_weight),
    number("search.hybrid.word_share", SHARE, |c| &mut c.hybrid.word_share),
    number("search.hybrid.rrf_k", POSITIVE, |c| &mut c.hybrid.rrf_k),
    number("search.hybrid.rrf_weights.dense", SHARE, |c| &mut c.hybrid.rrf_dense),
    number("search.hybrid.rrf_weights.sparse", SHARE, |c| &mut c.hybrid.rrf_sparse),
    number("search.expansion.inflections", SHARE, |c| &mut c.expansion.inflections),
    count("search.expansion.inflected_in", 0..=1_000_000, |c| &mut c.expansion.inflected_in),
    number("search.expansion.abbreviations", SHARE, |c| &mut c.expansion.abbreviations),
    count("search.expansion.abbreviated_in", 0..=1_000_000, |c| &mut c.expansion.abbreviated_in),
    number("search.expansion.prefixes", SHARE, |c| &mut c.expansion.prefixes),
    number("search.expansion.spelling", SHARE, |c| &mut c.expansion.spelling),
    number("search.kinds.identifier", SHARE, |c| &mut c.kinds.identifier),
    number("search.kinds.path", SHARE, |c| &mut c.kinds.path),
    number("search.kinds.error", SHARE, |c| &mut c.kinds.error),
    number("search.kinds.function_words", SHARE, |c| &mut c.kinds.function_words),
    number("search.activation.decay", SHARE, |c| &mut c.activation.decay),
    number("search.activation.base_level", POSITIVE, |c| &mut c.activation.base_level),
    number("search.activation.git_prior", POSITIVE, |c| &mut c.activation.git_prior),
    number("search.activation.inactivity", POSITIVE, |c| &mut c.activation.inactivity),
    number("search.activation.type_decay.code", RATE, |c| &mut c.activation.type_decay.code),
    number("search.activation.type_decay.types", RATE, |c| &mut c.activation.type_decay.types),
    number("search.activation.type_decay.kb", RATE, |c| &mut c.activation.type_decay.kb),
    number("search.activation.type_decay.doc", RATE, |c| &mut c.activation.type_decay.doc),
    number("search.activation.type_decay.reasoning", RATE, |c| &mut c.activation.type_decay.reasoning),
    number("search.activation.type_decay.knowledge", RATE, |c| &mut c.activation.type_decay.knowledge),
    number("search.activation.type_decay.note", RATE, |c| &mut c.activation.type_decay.note),
    number("search.activation.type_decay.turn", RATE, |c| &mut c.activation.type_decay.turn),
    number("search.activation.inactive_after", POSITIVE, |c| &mut c.activation.inactive_after),
    number("search.activation.inactive_half_life", POSITIVE, |c| &mut c.activation.inactive_half_life),
    number("search.activation.spread", SHARE, |c| &mut c.activation.spread),
    count("search.activation.max_hops", 0..=3, |c| &mut c.activation.max_hops),
    count("search.activation.sources", 0..=20, |c| &mut c.activation.sources),
    number("search.activation.context_boost", 0.0..=0.5, |c| &mut c.activation.context_boost),
    number("search.activation.conversation_decay", POSITIVE, |c| &mut c.activation.conversation_decay),
    number("search.activation.learning.good", SHARE, |c| &mut c.activation.learning.good),
    number("search.activation.learning.helpful", SHARE, |c| &mut c.activation.learning.helpful),
    number("search.activation.learning.unhelpful", LOSS, |c| &mut c.activation.learning.unhelpful),
    number("search.activation.learning.bad", LOSS, |c| &mut c.activation.learning.bad),
    number("search.activation.learning.most", SHARE, |c| &mut c.activation.learning.most),
    number("search.rules.definition", POSITIVE, |c| &mut c.rules.definition),
    number("search.rules.name_words", POSITIVE, |c| &mut c.rules.name_words),
    number("search.rules.file_stem", POSITIVE, |c| &mut c.rules.file_stem),
    number("search.rules.path", POSITIVE, |c| &mut c.rules.path),
    number("search.rules.asked_for", POSITIVE, |c| &mut c.rules.asked_for),
    number("search.rules.doc_words", POSITIVE, |c| &mut c.rules.doc_words),
    number("search.rules.file_keywords", POSITIVE, |c| &mut c.rules.file_keywords),
    number("search.rules.file_coverage", POSITIVE, |c| &mut c.rules.file_coverage),
    number("search.rules.file_meaning", POSITIVE, |c| &mut c.rules.file_meaning),
    number("search.rules.file_docs", POSITIVE, |c| &mut c.rules.file_docs),
    number("search.rules.rerank", POSITIVE, |c| &mut c.rules.rerank),
    number("search.rules.repeated_file", SHARE, |c| &mut c.rules.repeated_file),
    number("search.rules.repeated_name", SHARE, |c| &mut c.rules.repeated_name),
    number("search.rules.tests", SHARE, |c| &mut c.rules.tests),
    number("search.rules.generated", SHARE, |c| &mut c.rules.generated),
    number("search.rules.vendored", SHARE, |c| &mut c.rules.vendored),
    number("search.rules.examples", SHARE, |c| &mut c.rules.examples),
    number("search.rules.reexports", SHARE, |c| &mut c.rules.reexports),
    number("search.rules.declarations", SHARE, |c| &mut c.rules.declarations),
    number("search.rules.changelogs", SHARE, |c| &mut c.rules.changelogs),
    number("search.rules.data", SHARE, |c| &mut c.rules.data),
    number("search.rules.superseded", SHARE, |c| &mut c.rules.superseded),
    number("search.rules.fragments", SHARE, |c| &mut c.rules.fragments),
    number("search.rules.prose", SHARE, |c| &mut c.rules.prose),
    number("search.rules.shapes", SHARE, |c| &mut c.rules.shapes),
    number("search.rules.short", SHARE, |c| &mut c.rules.short),
    number("search.rules.conversation", SHARE, |c| &mut c.rules.conversation),
    Setting { key: "search.folding.near_copies", value: SettingValue::Switch(|c| &mut c.folding.near_copies) },
];

/// Returns the row of `key`.
pub(crate) fn find(key: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.key == key)
}

/// Returns every key that does not depend on an index.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    SETTINGS.iter().map(|setting| setting.key)
}

/// Returns the environment variable that sets `key`: `search.bm25.k1` is `AURORA_SEARCH_BM25_K1`.
pub(crate) fn variable(key: &str) -> String {
    format!("AURORA_{}", key.replace('.', "_").to_uppercase())
}

/// Sets the field of `setting` from text. The error is the rule that `text` breaks.
pub(crate) fn assign(setting: &Setting, config: &mut SearchConfig, text: &str) -> Result<(), String> {
    match &setting.value {
        SettingValue::Number(range, field) => match text.trim().parse::<f32>() {
            Ok(value) if value.is_finite() && range.contains(&value) => *field(config) = value,
            _ if range.end().is_infinite() => return Err(format!("must be a number ≥ {:.1}", range.start())),
            _ => return Err(format!("must be a number between {:.1} and {:.1}", range.start(), range.end())),
        },
        SettingValue::Count(range, field) => match text.trim().parse::<usize>() {
            Ok(value) if range.contains(&value) => *field(config) = value,
            _ => return Err(format!("must be a whole number between {} and {}", range.start(), range.end())),
        },
        SettingValue::Milliseconds(range, field) => match text.trim().parse::<u64>() {
            Ok(value) if range.contains(&value) => *field(config) = value,
            _ => return Err(format!("must be a whole number between {} and {}", range.start(), range.end())),
        },
        SettingValue::Switch(field) => match text.trim().parse() {
            Ok(value) => *field(config) = value,
            Err(_) => return Err("must be `true` or `false`".to_owned()),
        },
        SettingValue::Fusion(field) => match text.trim().trim_matches('"') {
            "weighted" => *field(config) = Fusion::Weighted,
            "rrf" => *field(config) = Fusion::Rrf,
            _ => return Err("must be `weighted` or `rrf`".to_owned()),
        },
        SettingValue::Model(field) => match text.trim().trim_matches('"') {
            OFF => *field(config) = None,
            name if is_model_name(name) && !SWITCHES.contains(&name) => *field(config) = Some(name.to_owned()),
            _ => return Err("must be `off` or the name of a model".to_owned()),
        },
    }
    Ok(())
}

/// Describes the values that `setting` accepts.
pub(crate) fn values(setting: &Setting) -> String {
    match &setting.value {
        SettingValue::Number(range, _) if range.end().is_infinite() => format!("number ≥ {}", range.start()),
        SettingValue::Number(range, _) => format!("number from {} to {}", range.start(), range.end()),
        SettingValue::Count(range, _) => format!("whole number from {} to {}", range.start(), range.end()),
        SettingValue::Milliseconds(range, _) => format!("whole number from {} to {}", range.start(), range.end()),
        SettingValue::Switch(_) => "`true` or `false`".to_owned(),
        SettingValue::Fusion(_) => "`weighted` or `rrf`".to_owned(),
        SettingValue::Model(_) => "`off` or the name of a model".to_owned(),
    }
}

/// Returns the value of `setting` in the syntax of flags.
pub(crate) fn show(setting: &Setting, config: &mut SearchConfig) -> String {
    match &setting.value {
        SettingValue::Number(_, field) => field(config).to_string(),
        SettingValue::Count(_, field) => field(config).to_string(),
        SettingValue::Milliseconds(_, field) => field(config).to_string(),
        SettingValue::Switch(field) => field(config).to_string(),
        SettingValue::Fusion(field) => match field(config) {
            Fusion::Weighted => "weighted".to_owned(),
            Fusion::Rrf => "rrf".to_owned(),
        },
        SettingValue::Model(field) => field(config).clone().unwrap_or_else(|| OFF.to_owned()),
    }
}

/// Returns the value of `setting` in the syntax of TOML.
pub(crate) fn literal(setting: &Setting, config: &mut SearchConfig) -> String {
    let shown = show(setting, config);
    match &setting.value {
        SettingValue::Fusion(_) | SettingValue::Model(_) => format!("\"{shown}\""),
        _ => shown,
    }
}
