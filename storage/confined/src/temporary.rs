//! Unique names for temporary files.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, RandomState};

/// Returns an unpredictable name for a file that will be renamed to `name`.
pub(crate) fn name_for(name: &OsStr) -> OsString {
    // Every `RandomState` has different random keys.
    let number = RandomState::new().hash_one(std::process::id());
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{number:016x}.tmp"));
    temporary
}
