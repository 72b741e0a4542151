//! Where names are defined.

use std::path::Path;

/// A definition, as another program than the product finds it.
pub(super) struct Definition<'a> {
    pub(super) language: &'static str,
    pub(super) root: &'a Path,
    pub(super) name: String,
    pub(super) path: String,
    pub(super) line: u64,
}
