//! The data that belongs to the user rather than a project: configuration, models, limits, and records of trust.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use aurora_analysis::{ModelDirectory, ModelError};
use aurora_logs::Settings;
use aurora_plugins::trust::Consents;
use aurora_stages::git_signal::is_tracked;
use aurora_stages::index::Trust;
use aurora_stages::limits::{LimitErrors, Limits};
use aurora_storage::{KnownIndexes, ProjectDirectory, UserDirectory};

use crate::error::ProjectError;

/// Path of the user's own configuration; `None` without a home directory.
pub fn config() -> Option<PathBuf> {
    Some(UserDirectory::from_environment()?.config())
}

/// Names of files that users of other programs write for a configuration, and that no command reads.
const IGNORED_CONFIGURATIONS: [&str; 3] = ["config.yml", "config.yaml", "config.json"];

/// Returns the files in the user's directory, and in the directory of the project at `root`, whose names show that they
/// are meant to be configurations, but that no command reads.
pub fn ignored_configurations(root: Option<&Path>) -> Vec<PathBuf> {
    let user = UserDirectory::from_environment().map(|user| user.path().to_owned());
    let mut directories = Vec::from_iter(user);
    directories.extend(root.map(|root| ProjectDirectory::in_root(root).path().to_owned()));
    directories.dedup();
    let files = directories.iter().flat_map(|directory| IGNORED_CONFIGURATIONS.map(|name| directory.join(name)));
    files.filter(|path| path.symlink_metadata().is_ok_and(|found| !found.is_dir())).collect()
}

/// Returns which indexes this user trusts: indexes with a record in the user's directory, or all indexes if
/// `AURORA_TRUST_INDEX` is set and is neither empty nor `0`.
pub fn trust() -> Trust {
    let known = absolute_directory().map(|user| KnownIndexes::at(user.index_records()));
    let setting = std::env::var_os("AURORA_TRUST_INDEX").filter(|value| !value.is_empty() && value != "0");
    let accepts_unknown = setting.is_some();
    let known = known.unwrap_or_else(KnownIndexes::none).accepting_unknown(accepts_unknown).asking_git(is_tracked);
    Trust { known, accepts_unknown }
}

/// Opens the directory of the user's models.
///
/// # Errors
/// Returns [`ModelError::NoHome`] if no home directory is known.
pub fn models() -> Result<ModelDirectory, ModelError> {
    Ok(ModelDirectory::at(UserDirectory::from_environment().ok_or(ModelError::NoHome)?.models()))
}

/// The user's limits on the values that a project may request.
///
/// # Errors
/// Returns all limits that are not numbers or are out of range.
pub fn limits() -> Result<Limits, LimitErrors> {
    Limits::load(config().as_deref(), &environment())
}

/// Location and retention of the user's conversation logs; `None` without a home directory.
///
/// # Errors
/// Returns [`ProjectError::Logs`] with all errors in `[logs]`.
pub fn logs() -> Result<Option<Settings>, ProjectError> {
    let Some(user) = UserDirectory::from_environment() else { return Ok(None) };
    let (defaults, home) = (Settings::at(user.conversations()), std::env::home_dir());
    let loaded = Settings::load(defaults, Some(&user.config()), &environment(), home.as_deref());
    loaded.map(Some).map_err(ProjectError::Logs)
}

/// The user's records of allowed programs.
pub fn consents() -> Consents {
    absolute_directory().map_or_else(Consents::none, |user| Consents::at(user.program_records()))
}

/// The environment variables that are valid Unicode.
pub fn environment() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}

/// The user's directory, if its path is absolute. A relative path would depend on the current directory, which may be a
/// repository.
pub fn absolute_directory() -> Option<UserDirectory> {
    UserDirectory::from_environment().filter(|user| user.path().is_absolute())
}
