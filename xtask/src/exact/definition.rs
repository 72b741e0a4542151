//! Where names are defined.

use std::path::Path;

/// A definition, as another program than the product finds it.
pub(super) struct Definition<'a> {
    pub(super) language: &'static str,
    pub(super) root: &'a Path,
    pub(super) name: String,
    pub(super) path: String,
    pub(super) line: u64,
    /// Whether it is a function or a type, and not a variable or a member, which only make a name one of several.
    pub(super) is_asked: bool,
}
