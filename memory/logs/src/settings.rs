//! The table `[logs]` in the user's configuration.
//!
//! The configuration of a project cannot set these keys, because a repository must not determine the location or the
//! retention of the user's logs.

use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use aurora_confined::read_regular_to_string;
use aurora_diagnostics::document::{Document, Reader, Value};
use aurora_diagnostics::{Diagnostic, Diagnostics, Place, code};
use aurora_suggest::did_you_mean;

use crate::maintenance::Policy;

/// Name of the table in the user's configuration.
pub const TABLE: &str = "logs";

/// Prefix of the environment variables that override keys of the table.
const VARIABLE: &str = "AURORA_LOGS_";
/// Maximum size of the configuration file in bytes.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

const PATH: &str = "path";
const RETENTION: &str = "retention_days";
const COMPRESSION: &str = "compress_after_days";
const KEYWORDS: &str = "keyword_count";
const NAMES: [&str; 4] = [PATH, RETENTION, COMPRESSION, KEYWORDS];
/// Valid values for a number of days, up to a hundred years.
const DAYS: RangeInclusive<u32> = 0..=36_500;
/// Valid values for the maximum number of keywords.
const KEYWORD_COUNT: RangeInclusive<u32> = 1..=4;

/// The settings of logs. [`Self::load`] returns only valid and complete settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// The absolute path of the log directory.
    pub path: PathBuf,
    /// The ages at which logs are compressed and removed.
    pub policy: Policy,
    /// Maximum number of keywords in the name of a log.
    pub keyword_count: usize,
}

/// The documentation of a key for the configuration reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SettingReference {
    /// The name of the key in `[logs]`.
    pub key: &'static str,
    /// A description of the valid values.
    pub values: &'static str,
    /// The default value in TOML syntax.
    pub default: &'static str,
    /// The meaning of the key.
    pub meaning: &'static str,
    /// The environment variable that sets the key.
    pub variable: &'static str,
}

const REFERENCE: [SettingReference; 4] = [
    SettingReference {
        key: PATH,
        values: "absolute path, or one that begins with `~/`",
        default: "\"~/.aurora/logs/conversations\"",
        meaning: "The directory of the logs.",
        variable: "AURORA_LOGS_PATH",
    },
    SettingReference {
        key: RETENTION,
        values: "whole number from 0 to 36500, days",
        default: "90",
        meaning: "Older logs are removed; 0 keeps them for ever.",
        variable: "AURORA_LOGS_RETENTION_DAYS",
    },
    SettingReference {
        key: COMPRESSION,
        values: "whole number from 0 to 36500, days",
        default: "7",
        meaning: "Older logs are compressed; 0 leaves them as they are.",
        variable: "AURORA_LOGS_COMPRESS_AFTER_DAYS",
    },
    SettingReference {
        key: KEYWORDS,
        values: "whole number from 1 to 4",
        default: "2",
        meaning: "Maximum number of keywords of the query in the name of a log.",
        variable: "AURORA_LOGS_KEYWORD_COUNT",
    },
];

impl Settings {
    /// Returns the default settings for logs in a directory.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), policy: Policy { retention_days: 90, compress_after_days: 7 }, keyword_count: 2 }
    }

    /// Loads the settings. The table `[logs]` in the user's configuration overrides the defaults, and environment
    /// variables override the table. A `~` at the beginning of a path is replaced with `home`. A configuration file
    /// that does not exist is not an error.
    ///
    /// # Errors
    /// Returns all errors at once: an unreadable file, invalid TOML, unknown keys, and invalid values. After an error,
    /// the caller must not use the defaults, because the default retention could remove logs that the user wants to
    /// keep.
    pub fn load(
        defaults: Self,
        file: Option<&Path>,
        environment: &[(String, String)],
        home: Option<&Path>,
    ) -> Result<Self, Diagnostics> {
        let mut draft = Draft { settings: defaults, home, errors: Diagnostics::default() };
        if let Some(file) = file {
            match read_regular_to_string(file, MAX_CONFIG_BYTES) {
                Ok(text) => draft.file(&file.display().to_string(), &text),
                Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {}
                Err(error) => {
                    let message = format!("cannot read {}: {error}", file.display());
                    draft.errors.push(Diagnostic::error(code::UNREADABLE, None, message));
                }
            }
        }
        let mut variables: Vec<_> = environment.iter().filter(|(name, _)| name.starts_with(VARIABLE)).collect();
        variables.sort();
        for (name, value) in variables {
            let key = name[VARIABLE.len()..].to_ascii_lowercase();
            let names = REFERENCE.map(|setting| setting.variable);
            draft.set(&key, value, name, &names, Place::Environment(name.clone()));
        }
        if draft.errors.is_empty() { Ok(draft.settings) } else { Err(draft.errors) }
    }

    /// Returns the documentation of all keys for the configuration reference.
    pub fn reference() -> [SettingReference; 4] {
        REFERENCE
    }
}

struct Draft<'h> {
    settings: Settings,
    home: Option<&'h Path>,
    errors: Diagnostics,
}

impl Draft<'_> {
    fn file(&mut self, name: &str, text: &str) {
        let document = match Document::from_toml(name, text) {
            Ok(document) => document,
            Err(errors) => return self.errors.extend(errors),
        };
        let mut values = Reader::new(&document);
        let table = values.entry(document.root.entries(), TABLE).and_then(|table| values.table(table, TABLE));
        self.errors.extend(values.mistakes);
        for entry in table.unwrap_or_default() {
            let value = match &entry.node.value {
                Value::Number(value) | Value::Text(value) => value.to_string(),
                _ => document.display_value(&entry.node),
            };
            let place = Place::File(document.location(entry.key_span.clone()));
            self.set(&entry.key, &value, &format!("{TABLE}.{}", entry.key), &NAMES, place);
        }
    }

    /// Sets a key. Messages contain `name` as the name of the key, and unknown keys are compared with `valid_names` for
    /// a suggestion.
    fn set(&mut self, key: &str, value: &str, name: &str, valid_names: &[&str], place: Place) {
        let number = |range: RangeInclusive<u32>| {
            let number = value.parse::<u32>().ok().filter(|number| range.contains(number));
            number.ok_or_else(|| format!("a whole number from {} to {}", range.start(), range.end()))
        };
        let settings = &mut self.settings;
        let set = match key {
            PATH => {
                let path = absolute(value, self.home).map(|path| settings.path = path);
                path.ok_or_else(|| "an absolute path, or one that begins with `~/`".to_owned())
            }
            RETENTION => number(DAYS).map(|days| settings.policy.retention_days = days),
            COMPRESSION => number(DAYS).map(|days| settings.policy.compress_after_days = days),
            KEYWORDS => number(KEYWORD_COUNT).map(|count| settings.keyword_count = count as usize),
            _ => return self.unknown(name, valid_names, place),
        };
        if let Err(rule) = set {
            let message = format!("`{name}` must be {rule}, not {value}");
            self.errors.push(Diagnostic::error(code::INVALID_VALUE, None, message).at(place));
        }
    }

    fn unknown(&mut self, name: &str, valid_names: &[&str], place: Place) {
        let key = name.rsplit('.').next().unwrap_or(name);
        let help = did_you_mean(key, valid_names.iter().copied());
        let message = format!("unknown key `{name}`");
        self.errors.push(Diagnostic::error(code::UNKNOWN_KEY, None, message).at(place).with_help(help));
    }
}

/// Expands a path. Returns `None` for a relative path, because it would depend on the current directory, which may be a
/// repository.
fn absolute(value: &str, home: Option<&Path>) -> Option<PathBuf> {
    let path = match value.strip_prefix("~/") {
        Some(below) => home?.join(below),
        None => PathBuf::from(value),
    };
    path.is_absolute().then_some(path)
}
