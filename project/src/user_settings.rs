//! The tables `[log]`, `[usage]` and `[redact]` of the user's configuration.
//!
//! The configuration of a project cannot set these keys, because a repository must not determine what is written to the
//! user's directory.

use std::io;

use aurora_confined::read_regular_to_string;
use aurora_diagnostics::{Diagnostic, Diagnostics, Setting, code, read_settings};
use aurora_pipeline::parse_bytes;

use crate::rotating_file::RotatingFile;
use crate::user;

/// Maximum size of the configuration file in bytes.
const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// Valid sizes of a log or usage file in bytes.
const FILE_BYTES: std::ops::RangeInclusive<u64> = 64 << 10..=1 << 30;
/// The rule for sizes, for messages and the reference.
const SIZE_RULE: &str = "a size from \"64KiB\" to \"1GiB\"";
const SWITCH_RULE: &str = "`true` or `false`";
const LEVEL_RULE: &str = "`\"error\"`, `\"warn\"`, `\"info\"` or `\"debug\"`";
const FILE_RULE: &str = "`\"servers\"`, `\"on\"` or `\"off\"`";

/// A table of settings that only the user's configuration may contain.
pub trait SettingsTable: Sized {
    /// Name of the table.
    const NAME: &'static str;
    /// Prefix of the environment variables that override the table.
    const PREFIX: &'static str;
    /// The keys of the table.
    const KEYS: &'static [Setting];

    /// Returns the built-in settings.
    fn built_in() -> Self;

    /// Sets a key of [`Self::KEYS`].
    ///
    /// # Errors
    /// Returns the rule that an invalid value breaks.
    fn set(&mut self, key: &str, value: &str) -> Result<(), String>;

    /// Loads the table from the user's configuration and the environment.
    ///
    /// # Errors
    /// Returns all errors at once: an unreadable file, invalid TOML, unknown keys, and invalid values.
    fn load() -> Result<Self, Diagnostics> {
        let (mut settings, mut errors) = (Self::built_in(), Diagnostics::default());
        let path = user::config();
        let name = path.as_ref().map(|path| path.display().to_string()).unwrap_or_default();
        let text = match path.map(|path| read_regular_to_string(&path, MAX_CONFIG_BYTES)).transpose() {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => None,
            Err(error) => {
                errors.push(Diagnostic::error(code::UNREADABLE, None, format!("cannot read {name}: {error}")));
                None
            }
        };
        let file = text.as_deref().map(|text| (name.as_str(), text));
        let mut set = |key: &str, value: &str| settings.set(key, value);
        errors.extend(read_settings(Self::NAME, Self::PREFIX, Self::KEYS, file, &user::environment(), &mut set));
        if errors.is_empty() { Ok(settings) } else { Err(errors) }
    }
}

/// The programs that write the log to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFileUse {
    /// `aur serve` and `aur mcp`.
    Servers,
    /// All commands.
    On,
    /// None.
    Off,
}

/// The table `[log]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogSettings {
    /// The least severe level that is logged; `None` if each command uses its default.
    pub level: Option<String>,
    /// The programs that write the log to a file.
    pub file: LogFileUse,
    /// Maximum size of the log file in bytes.
    pub max_bytes: u64,
    /// Number of old log files.
    pub old_files: usize,
    /// Whether the log contains the texts of queries.
    pub queries: bool,
}

impl LogSettings {
    /// Returns the log file in the user's directory; `None` if the path of the directory is not absolute.
    pub fn open_file(&self) -> Option<RotatingFile> {
        let user = user::absolute_directory()?;
        Some(RotatingFile::new(user.path().join("logs"), "aurora.log", self.max_bytes, self.old_files))
    }
}

impl SettingsTable for LogSettings {
    const NAME: &'static str = "log";
    const PREFIX: &'static str = "AURORA_LOG_";
    const KEYS: &'static [Setting] = &[
        Setting {
            key: "level",
            values: LEVEL_RULE,
            default: "\"warn\"",
            meaning: "The least severe messages that are logged. `-v`, `-vv` and RUST_LOG override it. The default of `aur serve` is `\"info\"`.",
            variable: "AURORA_LOG_LEVEL",
        },
        Setting {
            key: "file",
            values: FILE_RULE,
            default: "\"servers\"",
            meaning: "The commands that also write the log to `~/.aurora/logs/aurora.log`: `aur serve` and `aur mcp`, all, or none.",
            variable: "AURORA_LOG_FILE",
        },
        Setting {
            key: "size",
            values: SIZE_RULE,
            default: "\"10MiB\"",
            meaning: "Maximum size of the log file. A full file is renamed to `aurora.log.1`, and a new one is started.",
            variable: "AURORA_LOG_SIZE",
        },
        Setting {
            key: "old_files",
            values: "whole number from 0 to 100",
            default: "3",
            meaning: "Number of full log files that are kept.",
            variable: "AURORA_LOG_OLD_FILES",
        },
        Setting {
            key: "queries",
            values: SWITCH_RULE,
            default: "false",
            meaning: "Whether the log contains the texts of queries. Secrets in them are masked.",
            variable: "AURORA_LOG_QUERIES",
        },
    ];

    fn built_in() -> Self {
        Self { level: None, file: LogFileUse::Servers, max_bytes: 10 << 20, old_files: 3, queries: false }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "level" => match value {
                "error" | "warn" | "info" | "debug" => self.level = Some(value.to_owned()),
                _ => return Err(LEVEL_RULE.to_owned()),
            },
            "file" => {
                self.file = match value {
                    "servers" => LogFileUse::Servers,
                    "on" => LogFileUse::On,
                    "off" => LogFileUse::Off,
                    _ => return Err(FILE_RULE.to_owned()),
                }
            }
            "size" => self.max_bytes = size(value)?,
            "old_files" => {
                let number = value.parse().ok().filter(|number| *number <= 100);
                self.old_files = number.ok_or("a whole number from 0 to 100")?;
            }
            _ => self.queries = switch(value)?,
        }
        Ok(())
    }
}

/// The table `[usage]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageSettings {
    /// Whether searches are recorded.
    pub enabled: bool,
    /// Whether the records contain the texts of queries.
    pub queries: bool,
    /// Maximum size of a file of records, in bytes.
    pub max_bytes: u64,
}

impl SettingsTable for UsageSettings {
    const NAME: &'static str = "usage";
    const PREFIX: &'static str = "AURORA_USAGE_";
    const KEYS: &'static [Setting] = &[
        Setting {
            key: "enabled",
            values: SWITCH_RULE,
            default: "true",
            meaning: "Whether searches are recorded for `aur report`, in `~/.aurora/usage`.",
            variable: "AURORA_USAGE_ENABLED",
        },
        Setting {
            key: "queries",
            values: SWITCH_RULE,
            default: "false",
            meaning: "Whether the records contain the texts of queries. Secrets in them are masked.",
            variable: "AURORA_USAGE_QUERIES",
        },
        Setting {
            key: "size",
            values: SIZE_RULE,
            default: "\"4MiB\"",
            meaning: "Maximum size of a file of records. Three full files are kept; a record has about 150 bytes.",
            variable: "AURORA_USAGE_SIZE",
        },
    ];

    fn built_in() -> Self {
        Self { enabled: true, queries: false, max_bytes: 4 << 20 }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        match key {
            "enabled" => self.enabled = switch(value)?,
            "queries" => self.queries = switch(value)?,
            _ => self.max_bytes = size(value)?,
        }
        Ok(())
    }
}

/// The table `[redact]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactSettings {
    /// Whether personal data in memories is masked.
    pub personal: bool,
}

impl RedactSettings {
    /// Whether personal data in memories is masked. If the setting is invalid, personal data is masked.
    pub fn masks_personal_data() -> bool {
        Self::load().map_or(true, |settings| settings.personal)
    }
}

impl SettingsTable for RedactSettings {
    const NAME: &'static str = "redact";
    const PREFIX: &'static str = "AURORA_REDACT_";
    const KEYS: &'static [Setting] = &[Setting {
        key: "personal",
        values: SWITCH_RULE,
        default: "true",
        meaning: "Whether [personal data](../guides/security.md#personal-data) in memories is masked.",
        variable: "AURORA_REDACT_PERSONAL",
    }];

    fn built_in() -> Self {
        Self { personal: true }
    }

    fn set(&mut self, _: &str, value: &str) -> Result<(), String> {
        self.personal = switch(value)?;
        Ok(())
    }
}

fn switch(value: &str) -> Result<bool, String> {
    value.parse().map_err(|_| SWITCH_RULE.to_owned())
}

fn size(value: &str) -> Result<u64, String> {
    parse_bytes(value).filter(|bytes| FILE_BYTES.contains(bytes)).ok_or_else(|| SIZE_RULE.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: SettingsTable + PartialEq + std::fmt::Debug>() {
        for Setting { key, default, variable, .. } in T::KEYS {
            assert_eq!(format!("{}{}", T::PREFIX, key.to_uppercase()), *variable);
            let mut settings = T::built_in();
            settings.set(key, default.trim_matches('"')).unwrap();
            if (T::NAME, *key) != ("log", "level") {
                assert_eq!(settings, T::built_in(), "{key}");
            }
            assert!(settings.set(key, "no value").is_err(), "{key}");
        }
    }

    #[test]
    fn documented_defaults_are_the_built_in_settings() {
        check::<LogSettings>();
        check::<UsageSettings>();
        check::<RedactSettings>();
    }
}
