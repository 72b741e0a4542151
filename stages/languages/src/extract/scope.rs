//! The span of a definition or namespace.

use std::ops::Range;

use crate::symbols::SymbolKind;

/// The span of a definition or namespace, with the properties that its members inherit.
pub(super) struct Scope<'t> {
    pub(super) bytes: Range<u32>,
    /// Prefix of the qualified names of members.
    pub(super) prefix: String,
    /// Index of the symbol of the definition. For a namespace, index of the enclosing symbol.
    pub(super) symbol: Option<u32>,
    /// `None` for a namespace.
    pub(super) kind: Option<SymbolKind>,
    /// The last access label so far.
    pub(super) section: Option<&'t str>,
}
