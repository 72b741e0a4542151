//! The data that belongs to the user rather than a project: configuration, models, limits, and records of trust.

use std::ffi::OsString;
use std::path::PathBuf;

use aurora_analysis::{ModelDirectory, ModelError};
use aurora_confined::read_regular_to_string;
use aurora_logs::Settings;
use aurora_plugins::trust::Consents;
use aurora_stages::git_signal::is_tracked;
use aurora_stages::index::Trust;
use aurora_stages::limits::{LimitErrors, Limits};
use aurora_storage::{KnownIndexes, UserDirectory};

use crate::error::ProjectError;

/// Name of the table in the user's configuration that controls masking.
pub(crate) const REDACT_TABLE: &str = "redact";

/// Maximum size of the configuration file, in bytes.
const MAX_CONFIG_BYTES: u64 = 1 << 20;

/// Path of the user's own configuration; `None` without a home directory.
pub fn config() -> Option<PathBuf> {
    Some(UserDirectory::from_environment()?.config())
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

/// Whether personal data in memories is masked: always, unless the user's configuration has `personal = false` in
/// `[redact]`, or `AURORA_REDACT_PERSONAL` is `0` or `false`.
pub fn masks_personal_data() -> bool {
    if let Some(value) = std::env::var_os("AURORA_REDACT_PERSONAL").filter(|value| !value.is_empty()) {
        return value != "0" && value != "false";
    }
    let text = config().and_then(|path| read_regular_to_string(&path, MAX_CONFIG_BYTES).ok()).unwrap_or_default();
    let personal =
        text.parse::<toml::Table>().ok().and_then(|table| table.get(REDACT_TABLE)?.get("personal")?.as_bool());
    personal.unwrap_or(true)
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
