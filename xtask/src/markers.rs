//! Finds conflict markers that a merge has left in tracked files.

use std::process::Command;

use crate::cargo::project;

/// Lines that git writes around both versions of a conflict. The line between the versions, `=======`, is not searched,
/// because it also underlines headings.
const MARKERS: &str = "^(<{7}|>{7}|[|]{7})( |$)";

/// Fails if there are conflict markers. Without git, as in an unpacked archive, nothing is checked.
pub(crate) fn check() -> Result<(), String> {
    let mut git = Command::new("git");
    git.arg("-C").arg(project()).args(["grep", "--line-number", "-I", "--extended-regexp", MARKERS]);
    let Ok(found) = git.output() else { return Ok(()) };
    let lines = String::from_utf8_lossy(&found.stdout);
    if lines.is_empty() { Ok(()) } else { Err(format!("conflict markers:\n{lines}")) }
}
