//! What of a search can be tuned, its defaults, and how layers of settings become one valid configuration.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use aurora_storage::FIELDS;
use serde::Serialize;

use crate::expansion::ExpansionConfig;
use crate::forgetting::TypeDecay;
use crate::learning::LearningConfig;
use crate::settings::{self, SETTINGS, Setting, Slot};

/// Parameters of BM25F (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bm25Config {
    /// Saturation of the term frequency; 0 ignores frequencies.
    pub k1: f32,
    /// Length normalisation of every field: 0 none, 1 full.
    pub b: f32,
    /// Weight of each field, in the order of [`aurora_storage::Field`].
    pub fields: [f32; FIELDS],
}

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
    /// Candidates that BM25, and in hybrid mode the vectors too, hand to the second stage.
    pub stage1_top_k: usize,
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
    /// Share of the keyword score for a query that is nothing but names.
    pub identifier: f32,
    /// The same for paths.
    pub path: f32,
    /// The same for error messages.
    pub error: f32,
    /// Factor of words that only hold a sentence together, where a query has others.
    pub function_words: f32,
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
    /// What is left of an activation after one hop.
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
    /// The words of the documentation meet the query's.
    pub doc_words: f32,
    /// Several good chunks in the file.
    pub file_coherence: f32,
    /// Further chunks of a file that already has a better one.
    pub repeated_file: f32,
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
    /// Code between definitions.
    pub fragments: f32,
    /// Sections of documents.
    pub prose: f32,
    /// Interfaces, types, structs and enums: data without what is done with it.
    pub shapes: f32,
    /// Later pieces of a long definition.
    pub pieces: f32,
    /// Definitions of one or two lines.
    pub short: f32,
}

/// A valid configuration of the search.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SearchConfig {
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
}

/// Measured on questions with known answers over public repositories in five languages (names, first sentences of
/// removed documentation, commit subjects, free questions), without git history. Against the weights 0.3, 0.4 and 0.3 for
/// keywords, meaning and activation, these found documentation better (MRR@10 .496 against .459) and commits (.652 against
/// .668) and free questions (.247 against .323, 23 of them) worse. k1 and b are the usual ones, as lower ones gained less
/// than the noise.
impl Default for SearchConfig {
    fn default() -> Self {
        Self {
            bm25: Bm25Config { k1: 1.5, b: 0.75, fields: [3.0, 2.0, 2.5, 2.0, 1.0, 1.0] },
            hybrid: HybridConfig {
                stage1_top_k: 100,
                fusion: Fusion::Weighted,
                bm25_weight: 0.1,
                semantic_weight: 0.83,
                activation_weight: 0.07,
                word_share: 0.4,
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
                type_decay: TypeDecay { code: 1.0, types: 1.0, kb: 1.3, doc: 1.3, reasoning: 1.0, knowledge: 1.0 },
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
                name_words: 0.1,
                path: 0.6,
                asked_for: 0.05,
                doc_words: 0.1,
                file_stem: 0.06,
                file_coherence: 0.02,
                repeated_file: 0.03,
                tests: 0.5,
                generated: 0.3,
                vendored: 0.4,
                examples: 0.4,
                reexports: 0.1,
                declarations: 0.3,
                changelogs: 0.2,
                fragments: 0.1,
                prose: 0.4,
                shapes: 0.25,
                pieces: 0.05,
                short: 0.25,
            },
        }
    }
}

/// One `--flag value` that sets a key of the configuration.
#[derive(Debug, Clone)]
pub struct FlagValue {
    /// The flag as typed, named in errors.
    pub flag: String,
    /// The key that it sets, such as `search.hybrid.stage1_top_k`.
    pub key: String,
    /// Its value as typed.
    pub value: String,
}

/// Where the layers come from; later ones win.
#[derive(Debug, Clone, Default)]
pub struct ConfigLayers<'a> {
    /// `~/.aurora/config.toml`.
    pub user: Option<&'a Path>,
    /// `<root>/.aurora/config.toml`.
    pub project: Option<&'a Path>,
    /// The environment; only `AURORA_SEARCH_…` is read.
    pub environment: Vec<(String, String)>,
    /// What the command line says.
    pub flags: Vec<FlagValue>,
    /// Tables of the files that belong to others; any other table beside `search` is an error.
    pub other_tables: &'a [&'a str],
}

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// A line of a file, counted from 1.
    File {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
    },
    /// A variable of the environment.
    Environment(String),
    /// A flag of the command line.
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Environment(name) => write!(f, "environment variable {name}"),
            Self::Flag(flag) => write!(f, "flag {flag}"),
        }
    }
}

/// One thing that is wrong with a configuration.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigError {
    /// The key, such as `search.bm25.k1`; empty when a file cannot be read as TOML.
    pub key: String,
    /// The value as written, where there is one.
    pub value: Option<String>,
    /// What holds for the key: `must be at least 0`.
    pub rule: String,
    /// Where the value stands; `None` for a file that could not be read at all.
    pub origin: Option<Origin>,
    /// What was probably meant.
    pub help: Option<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        write!(f, "{}", self.rule)?;
        if let Some(value) = &self.value {
            write!(f, " (got {value})")?;
        }
        if let Some(origin) = &self.origin {
            write!(f, "\n      at {origin}")?;
        }
        if let Some(help) = &self.help {
            write!(f, "\n      help: {help}")?;
        }
        Ok(())
    }
}

/// Everything that is wrong with a configuration, in the order of the layers.
#[derive(Debug, Clone, PartialEq)]
pub struct ConfigErrors(pub Vec<ConfigError>);

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Invalid search configuration:")?;
        for error in &self.0 {
            write!(f, "\n  - {error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ConfigErrors {}

impl SearchConfig {
    /// The built-in defaults with every layer laid over them. A file that does not exist is an empty layer.
    ///
    /// # Errors
    /// All errors of all layers at once: unreadable files, TOML that does not parse, unknown keys, values that break
    /// their rule, weights that do not sum to 1.
    pub fn load(layers: &ConfigLayers<'_>) -> Result<Self, ConfigErrors> {
        let mut errors = Vec::new();
        let mut files = Vec::new();
        for path in [layers.user, layers.project].into_iter().flatten() {
            match std::fs::read_to_string(path) {
                Ok(text) => files.push((path, text)),
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
                Err(e) => errors.push(ConfigError {
                    key: String::new(),
                    value: None,
                    rule: format!("cannot read {}: {e}", path.display()),
                    origin: None,
                    help: None,
                }),
            }
        }
        let mut draft = Draft { config: Self::default(), set_at: BTreeMap::new(), errors };
        for (path, text) in &files {
            draft.file(path, text, layers.other_tables);
        }
        draft.environment(&layers.environment);
        draft.flags(&layers.flags);
        draft.finish()
    }

    /// Every key with its value, in the order of the reference: what `aur` shows as the effective configuration.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let mut copy = self.clone();
        SETTINGS.iter().map(|setting| (setting.key, settings::show(setting, &mut copy))).collect()
    }
}

/// A configuration that is being put together.
struct Draft {
    config: SearchConfig,
    set_at: BTreeMap<&'static str, Origin>,
    errors: Vec<ConfigError>,
}

impl Draft {
    fn file(&mut self, path: &Path, text: &str, other_tables: &[&str]) {
        let at = |offset: usize| Origin::File {
            path: path.to_owned(),
            line: text[..offset.min(text.len())].matches('\n').count() + 1,
        };
        let table = match toml::de::DeTable::parse(text) {
            Ok(table) => table.into_inner(),
            Err(e) => {
                let origin = at(e.span().map_or(0, |span| span.start));
                self.errors.push(ConfigError {
                    key: String::new(),
                    value: None,
                    rule: format!("not valid TOML: {}", e.message()),
                    origin: Some(origin),
                    help: None,
                });
                return;
            }
        };
        let before = self.errors.len();
        for (name, value) in &table {
            let key = name.get_ref().as_ref();
            if key == "search" {
                self.table(key, value.get_ref(), name.span().start, &at);
            } else if !other_tables.contains(&key) {
                let known = other_tables.iter().copied().chain(["search"]);
                self.unknown(key, known, at(name.span().start));
            }
        }
        self.errors[before..].sort_by(|a, b| a.origin.cmp(&b.origin)); // by line: tables come sorted by key
    }

    /// Walks the tables below `search`; `offset` is where the key of `value` stands.
    fn table(&mut self, key: &str, value: &toml::de::DeValue<'_>, offset: usize, at: &dyn Fn(usize) -> Origin) {
        let is_table_name =
            SETTINGS.iter().any(|setting| setting.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')));
        match (settings::find(key), value.as_table()) {
            (Some(setting), _) => self.set(setting, &settings::text_of(value), at(offset)),
            (None, Some(table)) if is_table_name => {
                for (name, inner) in table {
                    self.table(&format!("{key}.{}", name.get_ref()), inner.get_ref(), name.span().start, at);
                }
            }
            (None, None) if is_table_name => self.errors.push(ConfigError {
                key: key.to_owned(),
                value: Some(settings::text_of(value)),
                rule: "must be a table".to_owned(),
                origin: Some(at(offset)),
                help: None,
            }),
            (None, _) => self.unknown(key, settings::names(), at(offset)),
        }
    }

    fn environment(&mut self, variables: &[(String, String)]) {
        let mut ours: Vec<_> = variables.iter().filter(|(name, _)| name.starts_with("AURORA_SEARCH_")).collect();
        ours.sort();
        for (name, value) in ours {
            let origin = Origin::Environment(name.clone());
            match SETTINGS.iter().find(|setting| settings::variable(setting.key) == *name) {
                Some(setting) => self.set(setting, value, origin),
                None => {
                    let known: Vec<String> = SETTINGS.iter().map(|setting| settings::variable(setting.key)).collect();
                    self.unknown(name, known.iter().map(String::as_str), origin);
                }
            }
        }
    }

    fn flags(&mut self, flags: &[FlagValue]) {
        for FlagValue { flag, key, value } in flags {
            let origin = Origin::Flag(flag.clone());
            match settings::find(key) {
                Some(setting) => self.set(setting, value, origin),
                None => self.unknown(key, settings::names(), origin),
            }
        }
    }

    fn set(&mut self, setting: &'static Setting, text: &str, origin: Origin) {
        match settings::assign(setting, &mut self.config, text) {
            Ok(()) => {
                self.set_at.insert(setting.key, origin);
            }
            Err(rule) => {
                let help = match setting.slot {
                    Slot::Fusion(_) => suggestion(text.trim_matches('"'), ["weighted", "rrf"].into_iter()),
                    _ => None,
                };
                self.errors.push(ConfigError {
                    key: setting.key.to_owned(),
                    value: Some(text.to_owned()),
                    rule,
                    origin: Some(origin),
                    help,
                });
            }
        }
    }

    fn unknown<'k>(&mut self, key: &str, known: impl Iterator<Item = &'k str>, origin: Origin) {
        self.errors.push(ConfigError {
            key: key.to_owned(),
            value: None,
            rule: "unknown key".to_owned(),
            origin: Some(origin),
            help: suggestion(key, known),
        });
    }

    /// Weights are checked over all layers, since one layer may set a part of them.
    fn finish(mut self) -> Result<SearchConfig, ConfigErrors> {
        let h = &self.config.hybrid;
        let sums = [
            ("search.hybrid.weights", h.bm25_weight + h.semantic_weight + h.activation_weight),
            ("search.hybrid.rrf_weights", h.rrf_dense + h.rrf_sparse),
        ];
        for (group, sum) in sums {
            let member = |key: &str| key.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'));
            let broken_member = self.errors.iter().any(|error| member(&error.key));
            if (sum - 1.0).abs() > 1e-4 && !broken_member {
                let origin = self.set_at.iter().filter(|(key, _)| member(key)).map(|(_, origin)| origin).max().cloned();
                self.errors.push(ConfigError {
                    key: group.to_owned(),
                    value: Some(((sum * 1e4).round() / 1e4).to_string()),
                    rule: "must sum to 1.0".to_owned(),
                    origin,
                    help: Some(format!(
                        "set all of {}",
                        SETTINGS.iter().map(|s| s.key).filter(|key| member(key)).collect::<Vec<_>>().join(", ")
                    )),
                });
            }
        }
        if self.errors.is_empty() { Ok(self.config) } else { Err(ConfigErrors(self.errors)) }
    }
}

/// `did you mean "…"?` for the nearest of `known`, if one is near enough to be a slip of the fingers.
pub(crate) fn suggestion<'k>(given: &str, known: impl Iterator<Item = &'k str>) -> Option<String> {
    let given = given.to_lowercase();
    known
        .map(|name| (strsim::damerau_levenshtein(&given, &name.to_lowercase()), name))
        .min()
        .filter(|&(distance, name)| distance <= (name.chars().count() / 3).max(1))
        .map(|(_, name)| format!("did you mean `{name}`?"))
}
