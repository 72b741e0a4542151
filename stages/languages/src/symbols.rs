//! Symbols: the definitions of a source file, or the sections of a document.

use std::ops::Range;

/// Maximum length in bytes of names, qualified names and import paths. Longer names and paths are truncated. Qualified
/// names repeat the names of all enclosing symbols, so without a limit they could take far more memory than the text.
pub(crate) const MAX_NAME_BYTES: usize = 1_024;

/// Returns the prefix of a name that has at most [`MAX_NAME_BYTES`] bytes.
pub(crate) fn bounded(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_NAME_BYTES)]
}

/// Removes the quotes around a name, and the `#` before a private member. A quote only at the end, as in `f'`, is part
/// of the name.
pub(crate) fn unquoted(name: &str) -> &str {
    without_quotes(name).trim_start_matches('#')
}

/// Removes the quotes around a name.
pub(crate) fn without_quotes(name: &str) -> &str {
    let quotes = ['"', '\'', '`'].into_iter();
    let inner = quotes.filter_map(|quote| name.strip_prefix(quote)?.strip_suffix(quote)).next();
    inner.unwrap_or(name)
}

/// A definition in a source file, or a section of a document.
///
/// Offsets are bytes of the text that was parsed, on character boundaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// The kind of the definition.
    pub kind: SymbolKind,
    /// The last segment of the qualified name.
    pub name: String,
    /// The name with its qualifiers, such as `Outer.method`. For sections, the heading path, such as `Guide > Install`.
    pub qualified_name: String,
    /// Index in [`FileSymbols::symbols`](crate::FileSymbols::symbols) of the enclosing symbol.
    pub parent: Option<u32>,
    /// Qualified name of the type of which the symbol is a member, if the symbol is not nested in the type: a Go
    /// receiver, the object before `.prototype`, the type of an `impl` block.
    pub owner: Option<String>,
    /// Span of the definition with its decorators, attributes and `export`, without the comment before it.
    pub bytes: Range<u32>,
    /// First and last line of `bytes`, 1-based, inclusive.
    pub lines: (u32, u32),
    /// Start of the body. `None` if the definition has no body.
    pub body: Option<u32>,
    /// The declaration on one line, without its body.
    pub signature: String,
    /// Documentation, without comment delimiters.
    pub doc: String,
    /// Span of the documentation. A comment is before `bytes`, and a docstring inside `bytes`.
    pub doc_bytes: Option<Range<u32>>,
    /// Last identifiers of the callees without duplicates, in order of the first call. Calls inside nested symbols are
    /// not included.
    pub calls: Vec<String>,
    /// Types that the definition extends, implements or embeds.
    pub bases: Vec<String>,
    /// Number of branching constructs (`if`, `case`, `catch`, `?:`, `&&`), not counting nested symbols.
    pub branches: u32,
    /// Number of looping constructs, not counting nested symbols.
    pub loops: u32,
    /// Whether the symbol is visible outside its file, by the rules of its language.
    pub exported: bool,
    /// Level of the heading: 1 to 6 for sections, 0 for definitions.
    pub heading_level: u8,
}

/// The kind of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum SymbolKind {
    /// A free function.
    Function,
    /// A function that is a member of a type.
    Method,
    /// A class.
    Class,
    /// An interface, trait or protocol.
    Interface,
    /// A type alias or another named type.
    Type,
    /// A struct or record.
    Struct,
    /// An enumeration.
    Enum,
    /// A namespace or inline module.
    Module,
    /// An `impl` block, named after its header.
    Implementation,
    /// A part of a configuration or of data, such as a key with its value, a target or a resource.
    Block,
    /// A section of a document.
    Section,
}

impl SymbolKind {
    /// Returns the name of the kind, in lower case.
    pub fn as_str(self) -> &'static str {
        self.into()
    }

    /// Whether definitions of this kind can have members.
    pub fn is_container(self) -> bool {
        !matches!(self, Self::Function | Self::Method | Self::Section)
    }

    /// Whether this kind can have members and is not a module.
    pub(crate) fn is_type(self) -> bool {
        self.is_container() && self != Self::Module
    }
}

/// An imported module with the names that the import binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The module as the source names it: `os.path`, `./router`, `java.util.List`.
    pub path: String,
    /// Names that the import binds in the file. `*` for an import of all names.
    pub names: Vec<String>,
    /// Pairs of a name that the file binds or re-exports, and the name under which the module exports it. The second
    /// name may be `default`, or `*` for the module as a whole. Empty in languages whose import paths can name
    /// something other than modules.
    pub members: Vec<(String, String)>,
    /// Offset of the import.
    pub at: u32,
}

/// A constant or variable at file level or inside a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// The name.
    pub name: String,
    /// Offset of the name.
    pub at: u32,
}

/// An offset at which the text can be split without splitting a syntax node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boundary {
    /// Offset of the first byte after the split.
    pub at: u32,
    /// Depth of the node that starts at the offset. Splits at lower depths separate larger units.
    pub depth: u32,
}
