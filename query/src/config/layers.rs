//! How layers of settings become one valid configuration.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use aurora_confined::read_regular_to_string;
use aurora_storage::ProjectDirectory;
use aurora_suggest::did_you_mean;

use crate::config::parameters::SearchConfig;
use crate::config::settings::{self, SETTINGS, Setting, SettingValue};

/// Most bytes of a configuration file.
const MOST_BYTES: u64 = 1 << 20;

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
    /// The project, whose `.aurora/config.toml` is read.
    pub project: Option<&'a Path>,
    /// The environment; only `AURORA_SEARCH_…` is read.
    pub environment: Vec<(String, String)>,
    /// What the command line says.
    pub flags: Vec<FlagValue>,
    /// Other tables that a file may have; any other table than these and `search` is an error.
    pub other_tables: &'a [&'a str],
    /// The same, of tables that only the user's file may have.
    pub user_tables: &'a [&'a str],
}

/// The source of a value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum SettingOrigin {
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

impl fmt::Display for SettingOrigin {
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
    /// The source of the value; `None` for a file that could not be read.
    pub origin: Option<SettingOrigin>,
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
        let own = [layers.other_tables, layers.user_tables].concat();
        let user = layers.user.map(|path| (path.to_owned(), read_regular_to_string(path, MOST_BYTES), own.as_slice()));
        let project = layers.project.map(|root| {
            (ProjectDirectory::of(root).path_of(ProjectDirectory::CONFIG), read_project(root), layers.other_tables)
        });
        for (path, text, tables) in [user, project].into_iter().flatten() {
            match text {
                Ok(text) => files.push((path, text, tables)),
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => errors.push(ConfigError {
                    key: String::new(),
                    value: None,
                    rule: format!("cannot read {}: {e}", path.display()),
                    origin: None,
                    help: None,
                }),
            }
        }
        let mut draft = ConfigDraft { config: Self::default(), set_at: BTreeMap::new(), errors };
        for (path, text, tables) in &files {
            draft.file(path, text, tables);
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

/// The configuration of a project; no link in it is followed.
fn read_project(root: &Path) -> io::Result<String> {
    ProjectDirectory::of(root).open()?.read_to_string(ProjectDirectory::CONFIG, MOST_BYTES)
}

/// A configuration that is being put together.
struct ConfigDraft {
    config: SearchConfig,
    set_at: BTreeMap<&'static str, SettingOrigin>,
    errors: Vec<ConfigError>,
}

impl ConfigDraft {
    fn file(&mut self, path: &Path, text: &str, other_tables: &[&str]) {
        let at = |offset: usize| SettingOrigin::File {
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

    /// Walks the tables below `search`; `offset` is the position of the key of `value`.
    fn table(&mut self, key: &str, value: &toml::de::DeValue<'_>, offset: usize, at: &dyn Fn(usize) -> SettingOrigin) {
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
            let origin = SettingOrigin::Environment(name.clone());
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
            let origin = SettingOrigin::Flag(flag.clone());
            match settings::find(key) {
                Some(setting) => self.set(setting, value, origin),
                None => self.unknown(key, settings::names(), origin),
            }
        }
    }

    fn set(&mut self, setting: &'static Setting, text: &str, origin: SettingOrigin) {
        match settings::assign(setting, &mut self.config, text) {
            Ok(()) => {
                self.set_at.insert(setting.key, origin);
            }
            Err(rule) => {
                let help = match setting.value {
                    SettingValue::Fusion(_) => did_you_mean(text.trim_matches('"'), ["weighted", "rrf"]),
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

    fn unknown<'k>(&mut self, key: &str, known: impl Iterator<Item = &'k str>, origin: SettingOrigin) {
        self.errors.push(ConfigError {
            key: key.to_owned(),
            value: None,
            rule: "unknown key".to_owned(),
            origin: Some(origin),
            help: did_you_mean(key, known),
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
