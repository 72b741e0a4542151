//! The table `[logs]` in the user's configuration.
//!
//! The configuration of a project cannot set these keys, because a repository must not determine the location or the
//! retention of the user's logs.

use std::io;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use aurora_confined::read_regular_to_string;
use aurora_diagnostics::{Diagnostic, Diagnostics, Setting, code, read_settings};

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

const REFERENCE: [Setting; 4] = [
    Setting {
        key: PATH,
        values: "absolute path, or one that begins with `~/`",
        default: "\"~/.aurora/logs/conversations\"",
        meaning: "The directory of the logs.",
        variable: "AURORA_LOGS_PATH",
    },
    Setting {
        key: RETENTION,
        values: "whole number from 0 to 36500, days",
        default: "90",
        meaning: "Older logs are removed; 0 keeps them for ever.",
        variable: "AURORA_LOGS_RETENTION_DAYS",
    },
    Setting {
        key: COMPRESSION,
        values: "whole number from 0 to 36500, days",
        default: "7",
        meaning: "Older logs are compressed; 0 leaves them as they are.",
        variable: "AURORA_LOGS_COMPRESS_AFTER_DAYS",
    },
    Setting {
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
        let mut errors = Diagnostics::default();
        let text = match file.map(|file| read_regular_to_string(file, MAX_CONFIG_BYTES)).transpose() {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
            Err(error) => {
                let message = format!("cannot read {}: {error}", file.unwrap_or(Path::new("")).display());
                errors.push(Diagnostic::error(code::UNREADABLE, None, message));
                None
            }
        };
        let name = file.map(|file| file.display().to_string()).unwrap_or_default();
        let file = text.as_deref().map(|text| (name.as_str(), text));
        let mut settings = defaults;
        errors.extend(read_settings(TABLE, VARIABLE, &REFERENCE, file, environment, &mut |key, value| {
            settings.set(key, value, home)
        }));
        if errors.is_empty() { Ok(settings) } else { Err(errors) }
    }

    /// Returns the documentation of all keys for the configuration reference.
    pub fn reference() -> [Setting; 4] {
        REFERENCE
    }

    /// Sets a key. Returns the rule that an invalid value breaks.
    fn set(&mut self, key: &str, value: &str, home: Option<&Path>) -> Result<(), String> {
        let number = |range: RangeInclusive<u32>| {
            let number = value.parse::<u32>().ok().filter(|number| range.contains(number));
            number.ok_or_else(|| format!("a whole number from {} to {}", range.start(), range.end()))
        };
        match key {
            PATH => {
                let path = absolute(value, home).ok_or("an absolute path, or one that begins with `~/`")?;
                self.path = path;
            }
            RETENTION => self.policy.retention_days = number(DAYS)?,
            COMPRESSION => self.policy.compress_after_days = number(DAYS)?,
            _ => self.keyword_count = number(KEYWORD_COUNT)? as usize,
        }
        Ok(())
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
