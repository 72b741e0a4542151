//! What belongs to the user and not to a project: configuration, models, limits, and records of what is trusted.

use std::ffi::OsString;
use std::path::PathBuf;

use aurora_analysis::{ModelDirectory, ModelError};
use aurora_logs::Settings;
use aurora_plugins::trust::Consents;
use aurora_stages::git_signal::is_tracked;
use aurora_stages::index::Trust;
use aurora_stages::limits::{LimitErrors, Limits};
use aurora_storage::{KnownIndexes, UserDirectory};

use crate::error::ProjectError;

/// The user's own configuration; `None` without a home directory.
pub fn config() -> Option<PathBuf> {
    Some(UserDirectory::from_environment()?.config())
}

/// Which indexes this user trusts: those with a record in the user's directory, or all if `AURORA_TRUST_INDEX` is set to
/// anything but `0`.
pub fn trust() -> Trust {
    let known = absolute_directory().map(|user| KnownIndexes::at(user.index_records()));
    let wish = std::env::var_os("AURORA_TRUST_INDEX").filter(|wish| !wish.is_empty() && wish != "0");
    let accepts_unknown = wish.is_some();
    let known = known.unwrap_or_else(KnownIndexes::none).accepting_unknown(accepts_unknown).asking_git(is_tracked);
    Trust { known, accepts_unknown }
}

/// The user's models.
///
/// # Errors
/// [`ModelError::NoHome`] where no home directory is known.
pub fn models() -> Result<ModelDirectory, ModelError> {
    Ok(ModelDirectory::at(UserDirectory::from_environment().ok_or(ModelError::NoHome)?.models()))
}

/// The limits on what a project may ask for, as its user has set them.
///
/// # Errors
/// Every limit that is no number, or out of its range.
pub fn limits() -> Result<Limits, LimitErrors> {
    Limits::load(config().as_deref(), &environment())
}

/// Where the user's conversation logs lie, and how long they are kept; `None` without a home directory.
///
/// # Errors
/// [`ProjectError::Logs`] with everything that is wrong with `[logs]`.
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

/// The directory of the user's sessions of articles.
pub fn knowledge() -> Option<PathBuf> {
    Some(absolute_directory()?.knowledge())
}

/// The directory of the copies of repositories that mined questions are asked of.
pub fn mined_trees() -> Option<PathBuf> {
    Some(absolute_directory()?.mined_trees())
}

/// The directory of the user's memory.
pub fn memory() -> Option<PathBuf> {
    Some(absolute_directory()?.memory())
}

/// The environment, as far as it is text.
pub fn environment() -> Vec<(String, String)> {
    let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
    std::env::vars_os().filter_map(text).collect()
}

/// The user's directory, if its path is absolute: a relative one would depend on the current directory, which may be a repository.
pub(crate) fn absolute_directory() -> Option<UserDirectory> {
    UserDirectory::from_environment().filter(|user| user.path().is_absolute())
}
