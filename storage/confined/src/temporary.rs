//! Names for files that nobody else has.

use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher as _, RandomState};

/// A name that nobody can foresee, for what becomes `name` later.
pub(crate) fn name_for(name: &OsStr) -> OsString {
    // The keys of the hasher are random, and differ from one to the next.
    let number = RandomState::new().hash_one(std::process::id());
    let mut temporary = OsString::from(".");
    temporary.push(name);
    temporary.push(format!(".{number:016x}.tmp"));
    temporary
}
