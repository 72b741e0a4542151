//! Symbols: the definitions of a source file, or the sections of a document.

use std::ops::Range;

/// Names, qualified names and import paths are truncated to this many bytes. Members repeat the name of their parent,
/// so unbounded names could take far more memory than the text.
pub(crate) const MAX_NAME_BYTES: usize = 1_024;

/// The prefix of a name that fits [`MAX_NAME_BYTES`].
pub(crate) fn bounded(name: &str) -> &str {
    &name[..name.floor_char_boundary(MAX_NAME_BYTES)]
}

/// A name without the quotes around it, or the `#` of a private member. A quote at its end alone, as in `f'`, belongs to it.
pub(crate) fn unquoted(name: &str) -> &str {
    without_quotes(name).trim_start_matches('#')
}

/// A name without the quotes around it.
pub(crate) fn without_quotes(name: &str) -> &str {
    let quotes = ['"', '\'', '`'].into_iter();
    let inner = quotes.filter_map(|quote| name.strip_prefix(quote)?.strip_suffix(quote)).next();
    inner.unwrap_or(name)
}

/// One definition in a source file, or one section of a document.
///
/// Offsets are bytes of the text that was parsed, on character boundaries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// What is defined.
    pub kind: SymbolKind,
    /// The last segment of the qualified name.
    pub name: String,
    /// The name with its qualifiers: `Outer.method`; for sections the heading path `Guide > Install`.
    pub qualified_name: String,
    /// Index in [`FileSymbols::symbols`](crate::FileSymbols::symbols) of the enclosing symbol.
    pub parent: Option<u32>,
    /// Qualified name of the type that the symbol is a member of without being nested in it: a Go receiver, the
    /// object before `.prototype`, the type of an `impl` block.
    pub owner: Option<String>,
    /// The definition with its decorators, attributes and `export`, without the comment before it.
    pub bytes: Range<u32>,
    /// First and last line of `bytes`, 1-based, inclusive.
    pub lines: (u32, u32),
    /// Start of the body, if the definition has one.
    pub body: Option<u32>,
    /// The declaration on one line, without its body.
    pub signature: String,
    /// Documentation, without comment delimiters.
    pub doc: String,
    /// Span of the documentation: before `bytes` for a comment, inside for a docstring.
    pub doc_bytes: Option<Range<u32>>,
    /// Last identifiers of the callees, each once, in order of the first call. Calls inside nested symbols belong to
    /// those alone.
    pub calls: Vec<String>,
    /// Types that the definition extends, implements or embeds.
    pub bases: Vec<String>,
    /// Branching constructs (`if`, `case`, `catch`, `?:`, `&&`), nested symbols excluded.
    pub branches: u32,
    /// Looping constructs, nested symbols excluded.
    pub loops: u32,
    /// Visible outside its file, by the rules of its language.
    pub exported: bool,
    /// 1–6 for sections, 0 for definitions.
    pub heading_level: u8,
}

/// The kind of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
    /// An `impl` block, named by its header.
    Implementation,
    /// A part of a configuration or of data: a key with its value, a target, a resource.
    Block,
    /// A section of a document.
    Section,
}

impl SymbolKind {
    /// The name in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Function => "function",
            Self::Method => "method",
            Self::Class => "class",
            Self::Interface => "interface",
            Self::Type => "type",
            Self::Struct => "struct",
            Self::Enum => "enum",
            Self::Module => "module",
            Self::Implementation => "implementation",
            Self::Block => "block",
            Self::Section => "section",
        }
    }

    /// Whether definitions of this kind have other definitions as members.
    pub fn is_container(self) -> bool {
        !matches!(self, Self::Function | Self::Method | Self::Section)
    }

    /// Whether it is a container other than a module.
    pub(crate) fn is_type(self) -> bool {
        self.is_container() && self != Self::Module
    }
}

/// One imported module with the names that the import binds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The module as the source names it: `os.path`, `./router`, `java.util.List`.
    pub path: String,
    /// Names bound in the file; `*` for an import of all names.
    pub names: Vec<String>,
    /// Names that the file binds or exports by the import, each with the name that the module exports it under, in languages
    /// whose paths name modules only: `default`, or `*` for the module as a whole.
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
    /// Depth of the node that starts there: splits at lower depths separate larger units.
    pub depth: u32,
}
