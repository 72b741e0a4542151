//! Limits on the pipeline of a project, which only the user can raise.
//!
//! A repository contains its own pipeline, and the values in that pipeline must not exceed these limits. The limits
//! come from `[limits]` in the user's own `config.toml` or from `AURORA_LIMITS_…` in the environment. The limits do not
//! apply to command-line flags, or to pipeline files that the user selects.

use std::path::{Path, PathBuf};
use std::thread::available_parallelism;

use aurora_confined::read_regular_to_string;
use aurora_pipeline::{Ceiling, Key, MAX_WORKERS, StageConfig, ValueType, parse_bytes};
use toml::de::{DeTable, DeValue};

use crate::chunk::ChunkOptions;
use crate::discover::Discover;
use crate::parse::Parse;

/// Maximum size of the user's configuration, in bytes.
const MAX_CONFIG_BYTES: u64 = 1 << 20;
/// Name of the table in the user's configuration.
pub const TABLE: &str = "limits";

/// Prefix of the environment variables that set limits.
const VARIABLE_PREFIX: &str = "AURORA_LIMITS_";

/// A limit on one or more keys of a pipeline.
struct Limit {
    /// Name, type and description of the limit, as printed in the configuration reference.
    key: Key,
    default: fn() -> u64,
    /// The pipeline keys that are limited, each with the stage type, or `None` for a key that does not depend on the
    /// type.
    keys: &'static [(Option<&'static str>, &'static str)],
}

impl Limit {
    /// Whether the limit is a size, whose value may have a unit.
    fn is_size(&self) -> bool {
        self.key.value == ValueType::Size
    }
}

const KNOWN_LIMITS: [Limit; 10] = [
    Limit {
        key: Key::size("memory", "Maximum value of `memory` in `[run]`."),
        default: || 8 << 30,
        keys: &[(None, "memory")],
    },
    Limit {
        key: Key::count_up("workers", "threads", "Maximum value of `jobs` in `[run]` and of `workers` in a stage.")
            .computed("4 per core, at least 64 and at most 256"),
        default: workers,
        keys: &[(None, "workers"), (None, "jobs")],
    },
    Limit {
        key: Key::size("max_file_size", "Maximum value of `max_file_size` in `discover` and of `max_size` in `parse`."),
        default: || 64 << 20,
        keys: &[(Some(Discover::TYPE), "max_file_size"), (Some(Parse::TYPE), "max_size")],
    },
    Limit {
        key: Key::size("batch_size", "Maximum value of `batch_bytes` in `discover`."),
        default: || 64 << 20,
        keys: &[(Some(Discover::TYPE), "batch_bytes")],
    },
    Limit {
        key: Key::count_up("batch_files", "files", "Maximum value of `batch_files` in `[run]` and `discover`."),
        default: || 4_096,
        keys: &[(None, "batch_files"), (Some(Discover::TYPE), "batch_files")],
    },
    Limit {
        key: Key::count_up("queue_batches", "batches", "Maximum value of `queue_batches` in `[run]`."),
        default: || 64,
        keys: &[(None, "queue_batches")],
    },
    Limit {
        key: Key::count_up("chunks_per_file", "chunks", "Maximum value of `max_chunks` in `chunk`."),
        default: || 100_000,
        keys: &[(Some(ChunkOptions::TYPE), "max_chunks")],
    },
    Limit {
        key: Key::count_up("symbols_per_file", "symbols", "Maximum value of `max_symbols` in `parse`."),
        default: || 250_000,
        keys: &[(Some(Parse::TYPE), "max_symbols")],
    },
    Limit {
        key: Key::size("chunk_size", "Maximum value of `max_size` and `min_size` in `chunk`."),
        default: || 64 << 10,
        keys: &[(Some(ChunkOptions::TYPE), "max_size"), (Some(ChunkOptions::TYPE), "min_size")],
    },
    Limit {
        key: Key::count_up("parse_seconds", "seconds", "Maximum value of `max_seconds` in `parse`."),
        default: || 120,
        keys: &[(Some(Parse::TYPE), "max_seconds")],
    },
];

fn variable(name: &str) -> String {
    format!("{VARIABLE_PREFIX}{}", name.to_uppercase())
}

/// Returns the default limit on the number of workers. The limit is well above the number of cores, because a pipeline
/// may be written for a larger machine.
fn workers() -> u64 {
    let cores = available_parallelism().map_or(1, usize::from);
    (4 * cores).clamp(64, MAX_WORKERS) as u64
}

/// The limits of one user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The values, in the order of [`KNOWN_LIMITS`].
    values: [u64; KNOWN_LIMITS.len()],
    /// Path of the configuration file in which the user can raise the limits.
    config_path: Option<PathBuf>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { values: KNOWN_LIMITS.map(|known| (known.default)()), config_path: None }
    }
}

/// All errors in the user's limits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("invalid limits: {}", .0.join("; "))]
pub struct LimitErrors(Vec<String>);

impl Limits {
    /// Loads the limits. `[limits]` in the user's configuration overrides the defaults, and the environment overrides
    /// both. A file that is missing or is not TOML is ignored, because loading the search configuration reports invalid
    /// TOML.
    ///
    /// # Errors
    /// Fails if a name is unknown or a value is out of range. Reports all such names and values together.
    pub fn load(user: Option<&Path>, environment: &[(String, String)]) -> Result<Self, LimitErrors> {
        let mut limits = Self { config_path: user.map(Path::to_owned), ..Self::default() };
        let mut errors = Vec::new();
        let text = user.and_then(|path| read_regular_to_string(path, MAX_CONFIG_BYTES).ok()).unwrap_or_default();
        let root = DeTable::parse(&text).map(|root| root.into_inner()).unwrap_or_default();
        let table = root.iter().find(|(name, _)| name.get_ref() == TABLE);
        for (name, value) in table.and_then(|(_, table)| table.get_ref().as_table()).into_iter().flatten() {
            let line = text[..name.span().start].matches('\n').count() + 1;
            let source = || format!("{}:{line}", user.unwrap_or(Path::new("")).display());
            let value = match value.get_ref() {
                DeValue::Integer(number) => number.as_str().to_owned(),
                DeValue::String(text) => text.to_string(),
                _ => String::new(),
            };
            limits.set(name.get_ref(), &value, source, &mut errors);
        }
        let mut variables: Vec<_> = environment.iter().filter(|(name, _)| name.starts_with(VARIABLE_PREFIX)).collect();
        variables.sort();
        for (name, value) in variables {
            let source = || format!("environment variable {name}");
            limits.set(&name[VARIABLE_PREFIX.len()..].to_ascii_lowercase(), value, source, &mut errors);
        }
        if errors.is_empty() { Ok(limits) } else { Err(LimitErrors(errors)) }
    }

    /// Returns every limit with its default and the environment variable that sets it, for the reference.
    pub fn reference() -> impl Iterator<Item = (Key, u64, String)> {
        KNOWN_LIMITS.into_iter().map(|known| (known.key, (known.default)(), variable(known.key.name)))
    }

    fn set(&mut self, name: &str, value: &str, source: impl Fn() -> String, errors: &mut Vec<String>) {
        let Some(at) = KNOWN_LIMITS.iter().position(|known| known.key.name == name) else {
            let names: Vec<_> = KNOWN_LIMITS.iter().map(|known| known.key.name).collect();
            return errors.push(format!(
                "no limit is named `{name}` ({}); the known limits are {}",
                source(),
                names.join(", ")
            ));
        };
        let number = if KNOWN_LIMITS[at].is_size() { parse_bytes(value) } else { value.parse().ok() };
        match number.filter(|number| *number > 0) {
            Some(number) => self.values[at] = number,
            None => {
                let expected =
                    if KNOWN_LIMITS[at].is_size() { "a size such as \"64MiB\"" } else { "a whole number from 1" };
                errors.push(format!("`{name}` must be {expected}, not `{value}` ({})", source()));
            }
        }
    }

    /// Returns the limits as ceilings for the check of a pipeline.
    pub(crate) fn ceilings(&self) -> Vec<Ceiling> {
        let file =
            self.config_path.as_ref().map_or_else(|| "config.toml".to_owned(), |path| path.display().to_string());
        let ceilings_for = |(known, most): (&Limit, u64)| -> Vec<Ceiling> {
            let help = format!(
                "a project cannot exceed this limit; raise `{}` in [{TABLE}] of {file}, or pass the pipeline file with --pipeline",
                known.key.name
            );
            let ceiling = |(stage, key): &(Option<&'static str>, &'static str)| Ceiling {
                stage: *stage,
                key,
                most,
                help: help.clone(),
            };
            known.keys.iter().map(ceiling).collect()
        };
        KNOWN_LIMITS.iter().zip(self.values).flat_map(ceilings_for).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_come_from_the_file_and_the_environment() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config.toml");
        std::fs::write(&file, "[search]\n[limits]\nmax_file_size = \"1GiB\"\nworkers = 3\n").unwrap();
        let environment =
            [("AURORA_LIMITS_WORKERS".to_owned(), "5".to_owned()), ("AURORA_LIMIT".to_owned(), "x".to_owned())];
        let limits = Limits::load(Some(&file), &environment).unwrap();
        let most = |stage, key| limits.ceilings().iter().find(|c| c.stage == stage && c.key == key).map(|c| c.most);
        assert_eq!(most(Some("discover"), "max_file_size"), Some(1 << 30));
        assert_eq!(
            (most(None, "workers"), most(None, "jobs"), most(None, "memory")),
            (Some(5), Some(5), Some(8 << 30))
        );
        assert_eq!(Limits::load(Some(&directory.path().join("none")), &[]).unwrap().values, Limits::default().values);
    }

    #[test]
    fn all_invalid_limits_are_reported_together() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config.toml");
        std::fs::write(&file, "[limits]\nworker = 3\nmemory = \"much\"\nworkers = 0\n").unwrap();
        let error = Limits::load(Some(&file), &[]).unwrap_err().to_string();
        for part in
            ["`worker` (", "config.toml:2)", "`memory` must be a size", "`workers` must be a whole number from 1"]
        {
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
