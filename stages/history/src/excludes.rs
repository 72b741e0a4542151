//! The file of ignore patterns that git's configuration names: `core.excludesFile`.

use std::path::{Path, PathBuf};

use crate::inspection;
use crate::open::discover;

/// The key in git's configuration.
const KEY: &str = "core.excludesFile";

/// The file of ignore patterns that git uses beside those in a work tree: the one that `core.excludesFile` names in the
/// configuration of the system, of the user or of the repository at or above `directory`, or in a file that one of them includes;
/// without that key the user's `git/ignore`. `None` for a file that is not safe to read, and without one. It need not exist.
///
/// A repository may name any path here, so the file must be read for its patterns only, up to a size, and not be shown.
pub fn excludes_file(directory: &Path) -> Option<PathBuf> {
    let path = match discover(directory) {
        Ok(Some((repository, _))) => {
            let local = repository.to_thread_local();
            let config = local.config_snapshot();
            let is_set = config.string(KEY).is_some();
            // A key without a value, or one that names no path, means that there is no file.
            let named = config.trusted_path(KEY).ok().flatten();
            let top = local.workdir().unwrap_or(directory);
            named.map(|path| top.join(path)).or_else(|| if is_set { None } else { default() })
        }
        Ok(None) | Err(_) => of_user(directory),
    }?;
    inspection::is_readable(&path).then_some(path)
}

/// The file that the configuration of the system and of the user names, for a directory in no repository.
fn of_user(directory: &Path) -> Option<PathBuf> {
    let Ok(config) = gix::config::File::from_globals() else { return default() };
    let Some(named) = config.path(KEY) else { return default() };
    let home = gix::path::env::home_dir();
    let context = gix::config::path::interpolate::Context { home_dir: home.as_deref(), ..Default::default() };
    Some(directory.join(named.interpolate(context).ok()?))
}

/// The file that git uses if the configuration names none.
fn default() -> Option<PathBuf> {
    gix::path::env::xdg_config("ignore", &mut |name| std::env::var_os(name).filter(|value| !value.is_empty()))
}
