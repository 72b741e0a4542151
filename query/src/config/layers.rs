//! Merges layers of settings into one valid configuration.

use std::io;
use std::ops::RangeInclusive;
use std::path::Path;

use aurora_confined::read_regular_to_string;
use aurora_diagnostics::document::{Document, Entry, Value};
use aurora_diagnostics::{Diagnostic, Diagnostics, Place, code};
use aurora_storage::ProjectDirectory;
use aurora_suggest::did_you_mean;

use crate::config::parameter::SHARES;
use crate::config::parameters::{Parameter, SearchConfig};
use crate::config::value::{Fusion, Kind};

/// Key of the table that gives each custom column a weight. The keys of the table are names of columns in an index.
const BOOST: &str = "search.boost";
/// Valid weights of a column.
const BOOST_RANGE: RangeInclusive<f32> = -1.0..=1.0;

/// Maximum size of a configuration file in bytes.
const MAX_FILE_BYTES: u64 = 1 << 20;

/// One `--flag value` that sets a key of the configuration.
#[derive(Debug, Clone)]
pub struct FlagValue {
    /// The flag as typed, for error messages.
    pub flag: String,
    /// The key to set, such as `search.hybrid.stage1_top_k`.
    pub key: String,
    /// The value as typed.
    pub value: String,
}

/// The sources of the configuration. Each source overrides the sources in the fields before it.
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
    /// Names of tables, in addition to `search`, that a file may contain. Any other table is an error.
    pub other_tables: &'a [&'a str],
    /// Names of additional tables that only the user's file may contain.
    pub user_tables: &'a [&'a str],
}

impl SearchConfig {
    /// Merges every layer into the built-in defaults. A file that does not exist is an empty layer.
    ///
    /// # Errors
    /// Returns all errors of all layers at once: unreadable files, TOML that does not parse, unknown keys, invalid
    /// values, and weights that do not sum to 1.
    pub fn load(layers: &ConfigLayers<'_>) -> Result<Self, Diagnostics> {
        let mut errors = Diagnostics::default();
        let mut files = Vec::new();
        let user_tables = [layers.other_tables, layers.user_tables].concat();
        let user = layers
            .user
            .map(|path| (path.to_owned(), read_regular_to_string(path, MAX_FILE_BYTES), user_tables.as_slice()));
        let project = layers.project.map(|root| {
            (ProjectDirectory::in_root(root).path_of(ProjectDirectory::CONFIG), read_project(root), layers.other_tables)
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
        let mut draft = ConfigDraft { config: Self::default(), set_at: Vec::new(), errors, invalid: Vec::new() };
        for (path, text, tables) in &files {
            draft.add_file(&path.display().to_string(), text, tables);
        }
        draft.add_environment(&layers.environment);
        draft.add_flags(&layers.flags);
        draft.finish()
    }
}

/// Reads the configuration of a project without following symbolic links.
fn read_project(root: &Path) -> io::Result<String> {
    ProjectDirectory::in_root(root).open()?.read_to_string(ProjectDirectory::CONFIG, MAX_FILE_BYTES)
}

/// A configuration under construction.
struct ConfigDraft {
    config: SearchConfig,
    /// The parameters that were set, each with the location of its value, in the order of the layers.
    set_at: Vec<(&'static Parameter, Place)>,
    errors: Diagnostics,
    /// Parameters with an invalid value.
    invalid: Vec<&'static Parameter>,
}

impl ConfigDraft {
    fn add_file(&mut self, name: &str, text: &str, other_tables: &[&str]) {
        let document = match Document::from_toml(name, text) {
            Ok(document) => document,
            Err(errors) => return self.errors.extend(errors),
        };
        for entry in document.root.entries() {
            if entry.key == "search" {
                self.add_table("search", entry, &document);
            } else if !other_tables.contains(&entry.key.as_ref()) {
                let known = other_tables.iter().copied().chain(["search"]);
                self.report_unknown(&entry.key, known, place(&document, entry));
            }
        }
    }

    /// Sets the parameter `key`. If `key` is a table, sets all parameters in the table, in the order of the file.
    fn add_table(&mut self, key: &str, entry: &Entry<'_>, document: &Document<'_>) {
        let is_table_name = Parameter::all().any(|parameter| parameter.is_in(key));
        match (Parameter::find(key), &entry.node.value) {
            (Some(parameter), _) => self.set(parameter, &text_of(document, entry), place(document, entry)),
            (None, Value::Table(entries)) if key == BOOST => {
                entries.iter().for_each(|entry| self.set_boost(entry, document));
            }
            (None, Value::Table(entries)) if is_table_name => {
                for inner in entries {
                    self.add_table(&format!("{key}.{}", inner.key), inner, document);
                }
            }
            (None, _) if is_table_name || key == BOOST => {
                self.report_invalid(
                    format!("`{key}` must be a table, not {}", text_of(document, entry)),
                    document,
                    entry,
                );
            }
            (None, _) => self.report_unknown(key, keys().chain([BOOST]), place(document, entry)),
        }
    }

    /// Sets the weight of a custom column. The name of the column is not checked, because the columns depend on the
    /// index.
    fn set_boost(&mut self, entry: &Entry<'_>, document: &Document<'_>) {
        match entry.node.number::<f32>() {
            Some(weight) if BOOST_RANGE.contains(&weight) => {
                self.config.boost.insert(entry.key.to_string(), weight);
            }
            _ => {
                let (least, most) = (BOOST_RANGE.start(), BOOST_RANGE.end());
                let (key, text) = (&entry.key, text_of(document, entry));
                let message = format!("`{BOOST}.{key}` must be a number between {least:.1} and {most:.1}, not {text}");
                self.report_invalid(message, document, entry);
            }
        }
    }

    fn report_invalid(&mut self, message: String, document: &Document<'_>, entry: &Entry<'_>) {
        self.errors.push(Diagnostic::error(code::INVALID_VALUE, None, message).at(place(document, entry)));
    }

    fn add_environment(&mut self, variables: &[(String, String)]) {
        let mut ours: Vec<_> = variables.iter().filter(|(name, _)| name.starts_with("AURORA_SEARCH_")).collect();
        ours.sort();
        for (name, value) in ours {
            let place = Place::Environment(name.clone());
            match Parameter::all().find(|parameter| parameter.variable() == *name) {
                Some(parameter) => self.set(parameter, value, place),
                None => {
                    let known: Vec<String> = Parameter::all().map(Parameter::variable).collect();
                    self.report_unknown(name, known.iter().map(String::as_str), place);
                }
            }
        }
    }

    fn add_flags(&mut self, flags: &[FlagValue]) {
        for FlagValue { flag, key, value } in flags {
            let place = Place::Flag(flag.clone());
            match Parameter::find(key) {
                Some(parameter) => self.set(parameter, value, place),
                None => self.report_unknown(key, keys(), place),
            }
        }
    }

    fn set(&mut self, parameter: &'static Parameter, text: &str, place: Place) {
        match parameter.set(&mut self.config, text) {
            Ok(()) => self.set_at.push((parameter, place)),
            Err(rule) => {
                let names: &[&str] = if parameter.kind == Kind::Fusion { &Fusion::NAMES } else { &[] };
                let help = did_you_mean(text.trim_matches('"'), names.iter().copied());
                let message = format!("`{}` {rule}, not {text}", parameter.key);
                self.errors.push(Diagnostic::error(code::INVALID_VALUE, None, message).at(place).with_help(help));
                self.invalid.push(parameter);
            }
        }
    }

    fn report_unknown<'k>(&mut self, key: &str, known: impl Iterator<Item = &'k str>, place: Place) {
        let message = format!("unknown key `{key}`");
        let help = did_you_mean(key, known);
        self.errors.push(Diagnostic::error(code::UNKNOWN_KEY, None, message).at(place).with_help(help));
    }

    /// Checks the sums of weights after all layers are merged, because a layer may set only some of the weights.
    fn finish(mut self) -> Result<SearchConfig, Diagnostics> {
        for table in SHARES {
            let members = || Parameter::all().filter(|parameter| parameter.is_in(table));
            let sum: f32 = members().map(|parameter| parameter.number(&self.config) as f32).sum();
            let is_invalid = self.invalid.iter().any(|parameter| parameter.is_in(table));
            if (sum - 1.0).abs() > 1e-4 && !is_invalid {
                let message = format!("`{table}` must sum to 1.0, not {}", (sum * 1e4).round() / 1e4);
                let help = format!("set all of {}", members().map(|member| member.key).collect::<Vec<_>>().join(", "));
                let set_last = self.set_at.iter().rfind(|(parameter, _)| parameter.is_in(table));
                let mut found = Diagnostic::error(code::WEIGHTS, None, message).with_help(Some(help));
                found.location = set_last.map(|(_, place)| place.clone());
                self.errors.push(found);
            }
        }
        if self.errors.is_empty() { Ok(self.config) } else { Err(self.errors) }
    }
}

fn keys() -> impl Iterator<Item = &'static str> {
    Parameter::all().map(|parameter| parameter.key)
}

/// Returns the location of a key.
fn place(document: &Document<'_>, entry: &Entry<'_>) -> Place {
    Place::File(document.location(entry.key_span.clone()))
}

/// Converts a value to text, which [`Parameter::set`] parses and error messages show. Strings keep their quotes, so
/// that a string is never read as a number.
fn text_of(document: &Document<'_>, entry: &Entry<'_>) -> String {
    match &entry.node.value {
        Value::Number(number) => number.to_string(),
        Value::Text(text) => format!("\"{text}\""),
        _ => document.display_value(&entry.node),
    }
}
