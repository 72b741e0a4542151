//! Merges layers of settings into one valid configuration.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use aurora_confined::read_regular_to_string;
use aurora_diagnostics::document::{Document, Entry, Value};
use aurora_diagnostics::{Diagnostic, Diagnostics, Place, code};
use aurora_storage::ProjectDirectory;
use aurora_suggest::did_you_mean;

use crate::config::parameters::SearchConfig;
use crate::config::settings::{self, BOOST, BOOST_RANGE, SETTINGS, Setting, SettingValue};

/// Maximum size of a configuration file in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// One `--flag value` that sets a key of the configuration.
#[derive(Debug, Clone)]
pub struct FlagValue {
    /// The flag as typed, named in errors.
    pub flag: String,
    /// The key to set, such as `search.hybrid.stage1_top_k`.
    pub key: String,
    /// The value as typed.
    pub value: String,
}

/// The sources of the configuration. Later fields override earlier ones.
#[derive(Debug, Clone, Default)]
pub struct ConfigLayers<'a> {
    /// `~/.aurora/config.toml`.
    pub user: Option<&'a Path>,
    /// The project's directory, which contains `.aurora/config.toml`.
    pub project: Option<&'a Path>,
    /// The environment. Only variables `AURORA_SEARCH_…` are read.
    pub environment: Vec<(String, String)>,
    /// Flags of the command line.
    pub flags: Vec<FlagValue>,
    /// Names of further tables that a file may contain. Any other table except `search` is an error.
    pub other_tables: &'a [&'a str],
    /// Names of further tables that only the user's file may contain.
    pub user_tables: &'a [&'a str],
}

impl SearchConfig {
    /// Merges every layer into the built-in defaults. A file that does not exist is an empty layer.
    ///
    /// # Errors
    /// All errors of all layers at once: unreadable files, TOML that does not parse, unknown keys, invalid values, and
    /// weights that do not sum to 1.
    pub fn load(layers: &ConfigLayers<'_>) -> Result<Self, Diagnostics> {
        let mut errors = Diagnostics::default();
        let mut files = Vec::new();
        let own = [layers.other_tables, layers.user_tables].concat();
        let user =
            layers.user.map(|path| (path.to_owned(), read_regular_to_string(path, MAX_FILE_BYTES), own.as_slice()));
        let project = layers.project.map(|root| {
            (ProjectDirectory::of(root).path_of(ProjectDirectory::CONFIG), read_project(root), layers.other_tables)
        });
        for (path, text, tables) in [user, project].into_iter().flatten() {
            match text {
                Ok(text) => files.push((path, text, tables)),
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => {
                    errors.push(Diagnostic::error(
                        code::UNREADABLE,
                        None,
                        format!("cannot read {}: {e}", path.display()),
                    ));
                }
            }
        }
        let mut draft = ConfigDraft { config: Self::default(), set_at: BTreeMap::new(), errors, invalid: Vec::new() };
        for (path, text, tables) in &files {
            draft.file(&path.display().to_string(), text, tables);
        }
        draft.environment(&layers.environment);
        draft.flags(&layers.flags);
        draft.finish()
    }

    /// Returns every key with its value in the syntax of flags and environment variables, in the order of the
    /// reference.
    pub fn entries(&self) -> Vec<(&'static str, String)> {
        let mut copy = self.clone();
        SETTINGS.iter().map(|setting| (setting.key, settings::show(setting, &mut copy))).collect()
    }

    /// Returns every key with its value in the syntax of TOML: strings are quoted.
    pub fn literals(&self) -> Vec<(&'static str, String)> {
        let mut copy = self.clone();
        SETTINGS.iter().map(|setting| (setting.key, settings::literal(setting, &mut copy))).collect()
    }
}

/// Reads the configuration of a project without following symbolic links.
fn read_project(root: &Path) -> io::Result<String> {
    ProjectDirectory::of(root).open()?.read_to_string(ProjectDirectory::CONFIG, MAX_FILE_BYTES)
}

/// A configuration under construction.
struct ConfigDraft {
    config: SearchConfig,
    /// The last place that sets each key, with a sequence number.
    set_at: BTreeMap<&'static str, (usize, Place)>,
    errors: Diagnostics,
    /// Keys with an invalid value.
    invalid: Vec<&'static str>,
}

impl ConfigDraft {
    fn file(&mut self, name: &str, text: &str, other_tables: &[&str]) {
        let document = match Document::from_toml(name, text) {
            Ok(document) => document,
            Err(errors) => return self.errors.extend(errors),
        };
        for entry in document.root.entries() {
            if entry.key == "search" {
                self.table("search", entry, &document);
            } else if !other_tables.contains(&entry.key.as_ref()) {
                let known = other_tables.iter().copied().chain(["search"]);
                self.unknown(&entry.key, known, place(&document, entry));
            }
        }
    }

    /// Sets the keys of the tables below `search` in the order of the file.
    fn table(&mut self, key: &str, entry: &Entry<'_>, document: &Document<'_>) {
        let is_table_name =
            SETTINGS.iter().any(|setting| setting.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.')));
        match (settings::find(key), &entry.node.value) {
            (Some(setting), _) => self.set(setting, &text_of(document, entry), place(document, entry)),
            (None, Value::Table(entries)) if key == BOOST => {
                entries.iter().for_each(|entry| self.boost(entry, document));
            }
            (None, Value::Table(entries)) if is_table_name => {
                for inner in entries {
                    self.table(&format!("{key}.{}", inner.key), inner, document);
                }
            }
            (None, _) if is_table_name || key == BOOST => {
                self.invalid(format!("`{key}` must be a table, not {}", text_of(document, entry)), document, entry);
            }
            (None, _) => self.unknown(key, settings::names().chain([BOOST]), place(document, entry)),
        }
    }

    /// Sets the weight of a custom column. Its name is not checked, because the columns depend on the index.
    fn boost(&mut self, entry: &Entry<'_>, document: &Document<'_>) {
        match entry.node.number::<f32>() {
            Some(weight) if BOOST_RANGE.contains(&weight) => {
                self.config.boost.insert(entry.key.to_string(), weight);
            }
            _ => {
                let (least, most) = (BOOST_RANGE.start(), BOOST_RANGE.end());
                let (key, text) = (&entry.key, text_of(document, entry));
                let message = format!("`{BOOST}.{key}` must be a number between {least:.1} and {most:.1}, not {text}");
                self.invalid(message, document, entry);
            }
        }
    }

    fn invalid(&mut self, message: String, document: &Document<'_>, entry: &Entry<'_>) {
        self.errors.push(Diagnostic::error(code::INVALID_VALUE, None, message).at(place(document, entry)));
    }

    fn environment(&mut self, variables: &[(String, String)]) {
        let mut ours: Vec<_> = variables.iter().filter(|(name, _)| name.starts_with("AURORA_SEARCH_")).collect();
        ours.sort();
        for (name, value) in ours {
            let place = Place::Environment(name.clone());
            match SETTINGS.iter().find(|setting| settings::variable(setting.key) == *name) {
                Some(setting) => self.set(setting, value, place),
                None => {
                    let known: Vec<String> = SETTINGS.iter().map(|setting| settings::variable(setting.key)).collect();
                    self.unknown(name, known.iter().map(String::as_str), place);
                }
            }
        }
    }

    fn flags(&mut self, flags: &[FlagValue]) {
        for FlagValue { flag, key, value } in flags {
            let place = Place::Flag(flag.clone());
            match settings::find(key) {
                Some(setting) => self.set(setting, value, place),
                None => self.unknown(key, settings::names(), place),
            }
        }
    }

    fn set(&mut self, setting: &'static Setting, text: &str, place: Place) {
        match settings::assign(setting, &mut self.config, text) {
            Ok(()) => {
                let before = self.set_at.values().map(|(order, _)| order + 1).max().unwrap_or(0);
                self.set_at.insert(setting.key, (before, place));
            }
            Err(rule) => {
                let help = match setting.value {
                    SettingValue::Fusion(_) => did_you_mean(text.trim_matches('"'), ["weighted", "rrf"]),
                    _ => None,
                };
                let message = format!("`{}` {rule}, not {text}", setting.key);
                self.errors.push(Diagnostic::error(code::INVALID_VALUE, None, message).at(place).with_help(help));
                self.invalid.push(setting.key);
            }
        }
    }

    fn unknown<'k>(&mut self, key: &str, known: impl Iterator<Item = &'k str>, place: Place) {
        let message = format!("unknown key `{key}`");
        let help = did_you_mean(key, known);
        self.errors.push(Diagnostic::error(code::UNKNOWN_KEY, None, message).at(place).with_help(help));
    }

    /// Checks the sums of weights after all layers are merged, because a layer may set only some of the weights.
    fn finish(mut self) -> Result<SearchConfig, Diagnostics> {
        let h = &self.config.hybrid;
        let sums = [
            ("search.hybrid.weights", h.bm25_weight + h.semantic_weight + h.activation_weight),
            ("search.hybrid.rrf_weights", h.rrf_dense + h.rrf_sparse),
        ];
        for (group, sum) in sums {
            let member = |key: &str| key.strip_prefix(group).is_some_and(|rest| rest.starts_with('.'));
            let is_invalid = self.invalid.iter().any(|key| member(key));
            if (sum - 1.0).abs() > 1e-4 && !is_invalid {
                let message = format!("`{group}` must sum to 1.0, not {}", (sum * 1e4).round() / 1e4);
                let members = SETTINGS.iter().map(|setting| setting.key).filter(|key| member(key));
                let help = format!("set all of {}", members.collect::<Vec<_>>().join(", "));
                let set_last =
                    self.set_at.iter().filter(|(key, _)| member(key)).map(|(_, at)| at).max_by_key(|at| at.0);
                let mut found = Diagnostic::error(code::WEIGHTS, None, message).with_help(Some(help));
                found.location = set_last.map(|(_, place)| place.clone());
                self.errors.push(found);
            }
        }
        if self.errors.is_empty() { Ok(self.config) } else { Err(self.errors) }
    }
}

/// Returns the place of a key.
fn place(document: &Document<'_>, entry: &Entry<'_>) -> Place {
    Place::File(document.location(entry.key_span.clone()))
}

/// Converts a value to the text that [`settings::assign`] reads and errors show. Strings keep their quotes, so that a string
/// is never read as a number.
fn text_of(document: &Document<'_>, entry: &Entry<'_>) -> String {
    match &entry.node.value {
        Value::Number(number) => number.to_string(),
        Value::Text(text) => format!("\"{text}\""),
        _ => document.display_value(&entry.node),
    }
}
