//! The Python module that turns a function into a stage.

use std::io::{self, Write as _};
use std::path::Path;

use aurora_confined::Directory;

/// File name of the module.
const MODULE: &str = "aurora_stage.py";
/// Source text of the module.
pub const SOURCE: &str = include_str!("../python/aurora_stage.py");

/// Writes the module to a directory of the user outside of any repository, unless the file already has the same
/// content.
///
/// # Errors
/// Returns an error if the directory cannot be created or the file cannot be written.
pub fn write_helper(directory: &Path) -> io::Result<()> {
    #[allow(clippy::disallowed_methods, reason = "the user's own directory")]
    std::fs::create_dir_all(directory)?;
    let opened = Directory::open_root(directory)?;
    if opened.read(MODULE, SOURCE.len() as u64).is_ok_and(|known| known == SOURCE.as_bytes()) {
        return Ok(());
    }
    opened.replace(MODULE, |file| file.write_all(SOURCE.as_bytes()))
}
