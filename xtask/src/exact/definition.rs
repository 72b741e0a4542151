//! A definition in a source file.

use std::path::Path;

/// A definition found with a regular expression, without `aur`'s parser.
pub(super) struct Definition<'a> {
    pub(super) language: &'static str,
    pub(super) root: &'a Path,
    pub(super) name: String,
    pub(super) path: String,
    pub(super) line: u64,
}
