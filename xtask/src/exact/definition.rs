//! Definitions of names.

use std::path::Path;

/// A definition, found without the product's parser.
pub(super) struct Definition<'a> {
    pub(super) language: &'static str,
    pub(super) root: &'a Path,
    pub(super) name: String,
    pub(super) path: String,
    pub(super) line: u64,
}
