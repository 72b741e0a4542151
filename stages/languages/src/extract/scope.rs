//! The span of a definition or namespace.

use std::ops::Range;

use crate::symbols::SymbolKind;

/// The span of a definition or namespace, with what it gives its members.
pub(super) struct Scope<'t> {
    pub(super) bytes: Range<u32>,
    /// The qualified name of its members begins with this.
    pub(super) prefix: String,
    /// The innermost symbol at its start: its own, or for a namespace the enclosing one.
    pub(super) symbol: Option<u32>,
    /// None for a namespace.
    pub(super) kind: Option<SymbolKind>,
    /// The last access label in it so far.
    pub(super) section: Option<&'t str>,
}
