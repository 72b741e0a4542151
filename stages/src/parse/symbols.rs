//! What the parse stage keeps of a file once its syntax tree is gone.

use std::ops::Range;

use super::parser::ParseFailure;

/// Names, qualified names and paths of imports are cut at this many bytes. Members repeat the name of what they stand in,
/// so that longer ones would take far more room than the text.
pub(crate) const LONGEST_NAME: usize = 1_024;

/// As much of a name as is kept.
pub(crate) fn bounded(name: &str) -> &str {
    &name[..name.floor_char_boundary(LONGEST_NAME)]
}

/// Everything later stages may know about the structure of one file.
///
/// All offsets are byte offsets into the text that was parsed; they lie on character boundaries. Symbols are in
/// document order, the enclosing one before what it encloses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileSymbols {
    /// Definitions (or, in Markdown, sections), ordered by where they start, the enclosing one first.
    pub symbols: Vec<Symbol>,
    /// Imports of the file, in document order.
    pub imports: Vec<Import>,
    /// Constants and variables that are no symbols and not local to a function, in document order.
    pub constants: Vec<Constant>,
    /// Where the text may be cut without cutting through a syntax node, ordered by offset.
    pub boundaries: Vec<Boundary>,
    /// Calls outside every symbol: top-level statements.
    pub calls: Vec<String>,
    /// Documentation of the file itself: a module docstring, a package comment.
    pub doc: String,
    /// Number of outermost `ERROR` and missing nodes: 0 for a file that parsed cleanly.
    pub errors: u32,
    /// Why the text could not be parsed at all.
    pub failure: Option<ParseFailure>,
    /// Why this is not all that is in the text.
    pub cut: Option<&'static str>,
    /// Number of lines, counting a last one without a line feed.
    pub lines: u32,
}

/// One definition in a source file, or one section of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Symbol {
    /// What is defined.
    pub kind: SymbolKind,
    /// The last segment of the qualified name.
    pub name: String,
    /// The name with what encloses it: `Outer.method`; for sections the heading path `Guide > Install`.
    pub qualified_name: String,
    /// Index in [`FileSymbols::symbols`] of the symbol whose span encloses this one.
    pub parent: Option<u32>,
    /// Qualified name of the type that the symbol belongs to without standing inside it: a Go receiver, the
    /// object before `.prototype`, the type of an `impl` block.
    pub owner: Option<String>,
    /// The definition with its decorators, annotations and `export`, without the comment before it.
    pub bytes: Range<u32>,
    /// First and last line of `bytes`, 1-based, inclusive.
    pub lines: (u32, u32),
    /// Where the body begins, if the definition has one.
    pub body: Option<u32>,
    /// The declaration on one line, without its body.
    pub signature: String,
    /// Documentation, without comment marks.
    pub doc: String,
    /// Where the documentation stands: before `bytes` for a comment, inside for a docstring.
    pub doc_bytes: Option<Range<u32>>,
    /// Last identifiers of the callees, each once, in order of the first call. Calls inside nested symbols are
    /// theirs alone.
    pub calls: Vec<String>,
    /// Types that the definition extends, implements or embeds.
    pub bases: Vec<String>,
    /// Branching constructs (`if`, `case`, `catch`, `?:`, `&&`), nested symbols excluded.
    pub branches: u32,
    /// Looping constructs, nested symbols excluded.
    pub loops: u32,
    /// Visible outside its file, by the rules of its language.
    pub exported: bool,
    /// 1–6 for sections, 0 for everything else.
    pub heading_level: u8,
}

/// What kind of definition a symbol is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    /// A free function.
    Function,
    /// A function that belongs to a type.
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
    /// A section of a document.
    Section,
}

/// One imported module with the names it binds in the importing file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Import {
    /// The module as the source names it: `os.path`, `./router`, `java.util.List`.
    pub path: String,
    /// Names bound in the file; `*` when the import binds names that only the other module knows.
    pub names: Vec<String>,
    /// Offset of the import.
    pub at: u32,
}

/// A name that a file or a type gives to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Constant {
    /// The name.
    pub name: String,
    /// Offset of the name.
    pub at: u32,
}

/// A place where the text may be cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Boundary {
    /// Offset of the first byte after the cut.
    pub at: u32,
    /// Depth of the node that starts there: cuts at lower depths separate larger units.
    pub depth: u32,
}

impl SymbolKind {
    /// The lower-case name, as shown in snapshots and tables.
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
            Self::Section => "section",
        }
    }

    /// Whether definitions of this kind hold other definitions as members.
    pub fn is_container(self) -> bool {
        !matches!(self, Self::Function | Self::Method | Self::Section)
    }
}
