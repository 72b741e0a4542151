//! The user's ignore file, as configured by git's `core.excludesFile`.

use std::path::{Path, PathBuf};

use crate::inspection;
use crate::open::discover;

/// The key of the ignore file in the git configuration.
const KEY: &str = "core.excludesFile";

/// Returns the ignore file that git applies in addition to the ignore files in a work tree.
///
/// The path is the value of `core.excludesFile` in the configuration of the system, of the user, or of the repository
/// at or above `directory`. Git also looks for the key in files that these configurations include. If the key is
/// missing, git uses the user's `git/ignore`. Returns `None` if there is no path, or if the path is not safe to read.
/// The file need not exist.
///
/// The configuration of a repository may contain any path. Callers must limit the number of bytes that they read, use
/// the content only as ignore patterns, and never display it.
pub fn excludes_file(directory: &Path) -> Option<PathBuf> {
    let path = match discover(directory) {
        Ok(Some((repository, _))) => {
            let local = repository.to_thread_local();
            let config = local.config_snapshot();
            let is_set = config.string(KEY).is_some();
            // A key without a value or with an invalid path disables the file.
            let named = config.trusted_path(KEY).ok().flatten();
            let top = local.workdir().unwrap_or(directory);
            named.map(|path| top.join(path)).or_else(|| if is_set { None } else { default() })
        }
        Ok(None) | Err(_) => user_file(directory),
    }?;
    inspection::is_readable(&path).then_some(path)
}

/// Returns the ignore file according to the system and user configuration, for a directory outside any repository.
fn user_file(directory: &Path) -> Option<PathBuf> {
    let Ok(config) = gix::config::File::from_globals() else { return default() };
    let Some(named) = config.path(KEY) else { return default() };
    let home = gix::path::env::home_dir();
    let context = gix::config::path::interpolate::Context { home_dir: home.as_deref(), ..Default::default() };
    Some(directory.join(named.interpolate(context).ok()?))
}

/// Returns the file that git uses by default.
fn default() -> Option<PathBuf> {
    gix::path::env::xdg_config("ignore", &mut |name| std::env::var_os(name).filter(|value| !value.is_empty()))
}
