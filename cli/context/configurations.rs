//! Warnings about configuration files that are not read.

use std::path::Path;

use aurora_project::ignored_configurations;

use crate::context::Terminal;

/// Warns of files whose names show that they are meant to be configurations, but that are not read.
pub(crate) fn warn_ignored(root: Option<&Path>, terminal: &Terminal) {
    for path in ignored_configurations(root) {
        terminal.warn(&format!("{} is not read; settings are read from config.toml", path.display()));
    }
}
