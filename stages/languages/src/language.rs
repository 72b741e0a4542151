//! The description of one language: its grammar, queries and tables.
//!
//! # Captures
//!
//! The queries of a language tell the engine what the nodes of its grammar mean:
//!
//! | capture | meaning |
//! |---|---|
//! | `@definition.function` `.method` `.class` `.interface` `.type` `.struct` `.enum` `.module` `.implementation` `.block` | a definition; the same match holds its `@name` and, if it has them, `@body` and `@owner` |
//! | `@declaration.function` `.method` `.type` | the same, but outside `@local.scope` only: prototypes, aliases |
//! | `@value` | in a definition without `@body`: the definition counts only if this value is or wraps a function, and has its body |
//! | `@value.function` with `@body` | a function value |
//! | `@value.wrapper` with `@value.wrapped` | an expression that wraps a value: a call with its argument, a cast |
//! | `@definition.constant` | the name of a constant, variable or enum member, at file level or inside a type |
//! | `@definition.variable` | the same, at file level only |
//! | `@namespace` | qualifies the definitions inside it with its `@name` without being a symbol |
//! | `@open_end` | the node around a definition or namespace without an end of its own, `package A;`: it extends to the next one in this node, or to the end of this node; one with `@body` ends itself |
//! | `@namespace.rest` | the same for the definitions after it, up to the next: `namespace A.B;` |
//! | `@wrapper` with `@wrapped` | `@wrapper` belongs to the definition `@wrapped`: decorators, `export`, `const` |
//! | `@wrapper.exported` with `@wrapped` | the same, and the definition is exported |
//! | `@export` | a name that the file exports |
//! | `@section` | an access label, such as `public:`: it holds for the definitions after it in the definition that contains it |
//! | `@attribute` | a sibling that belongs to the definition after it: attributes, decorators |
//! | `@signature.omit` | left out of signatures: annotations, decorators |
//! | `@comment` | a comment |
//! | `@local.scope` | hides the `@definition.constant` and `@definition.variable` names inside it: functions, blocks |
//! | `@reference.call` | the identifier of a callee |
//! | `@reference.name` | the same, unless a preceding `@local.name` has this name |
//! | `@local.name` | the declaration of a local variable |
//! | `@reference.base` | a type that the enclosing definition extends, implements or embeds |
//! | `@reference.bases` | a list of such types, separated by white space; options such as `-norequire` are none |
//! | `@reference.macro` | an identifier in the arguments of a macro, which is a callee if a parenthesis follows |
//! | `@reference.none` | a span whose calls and base types do not count: the head of a definition, a type |
//! | `@branch` `@loop` | a construct that counts towards complexity |
//! | `@import` | an import, read by the language's `imports` function |
//! | `@heading` | the heading of a section, read by the language's `heading` function |
//! | `@error` | a syntax error |
//! | `@_…` | ignored; for predicates |

use std::ops::Range;
use std::sync::OnceLock;

use tree_sitter::Node;

use crate::embedded::Embedded;
use crate::highlight::{self, Highlight, TokenClass};
use crate::query::{CompiledQuery, QuerySyntaxError};
use crate::symbols::{Import, SymbolKind, bounded, unquoted};

/// One language. The engine reads everything that differs between languages from here.
pub struct Language {
    /// Name of the grammar, unique.
    pub name: &'static str,
    /// Name of the language to which users assign files of this grammar: `typescript` for TSX, too.
    pub family: &'static str,
    /// File extensions, lower-case, without the dot.
    pub extensions: &'static [&'static str],
    /// Names of files without such an extension, such as `Makefile`; one that ends in `*` is a prefix.
    pub file_names: &'static [&'static str],
    /// Programs that run files of this language, as the first line `#!` names them, without digits at their end.
    pub interpreters: &'static [&'static str],
    /// Other names of the language in lower case: those that editors and fenced code use.
    pub aliases: &'static [&'static str],
    /// Extensions of other languages, or of none, whose files may be of this one, with a test of the text.
    pub claims: &'static [Claim],
    /// Whether a text with one of the extensions is of another language, one that is not known.
    pub rejects: fn(&str) -> bool,
    /// The tree-sitter grammar.
    pub grammar: fn() -> tree_sitter::Language,
    /// Query sources, run as one query.
    pub(crate) queries: &'static [&'static str],
    /// The compiled queries, made at first use. In a static of its own, since it has a destructor and [`Language`]
    /// values are built by constant functions.
    pub(crate) query: &'static QueryCache,
    /// The class of a whole line, for languages that are highlighted by line; others by their lexical table.
    pub(crate) line_class: Option<fn(&str) -> Option<TokenClass>>,
    /// Joins the segments of a qualified name.
    pub(crate) separator: &'static str,
    /// Joins a method to its type, where that differs: `.` in `Module::Class.method`.
    pub(crate) member_separator: Option<&'static str>,
    /// Owners and namespaces that qualified names omit: `exports`, `this`, `prototype`.
    pub(crate) omitted_qualifiers: &'static [&'static str],
    /// The names of modules are complete, wherever the modules are: Perl packages.
    pub(crate) has_absolute_modules: bool,
    /// Removed from the end of an owner: `.prototype`.
    pub(crate) owner_suffix: &'static str,
    /// The decorator that marks a definition as an overload of the one after it.
    pub(crate) overload_decorator: Option<&'static str>,
    /// Whether two consecutive definitions of one name, with these signatures, are clauses of one function.
    pub(crate) are_clauses: fn(&str, &str) -> bool,
    /// The name in the text of the node that is captured as the name of a definition or constant.
    pub(crate) name_in: fn(&str) -> &str,
    /// Words that cannot be names of definitions. A definition with such a name is a misread statement.
    pub(crate) reserved: &'static [&'static str],
    /// Whether members may have such a name in texts without syntax errors.
    pub(crate) has_reserved_members: bool,
    /// Overloads are definitions of their own; otherwise declarations are merged with the implementation after them.
    pub(crate) keeps_overloads: bool,
    /// Reads a `@name` node that is not a plain name.
    pub(crate) declared_name: Option<ReadDeclaredName>,
    /// A character that belongs to the definition before it although the grammar puts it outside: `;`.
    pub(crate) terminator: Option<char>,
    /// Where an indentation or a line feed ends a definition, the grammar counts the white space and comments after it to
    /// the definition: it ends with its last token that is no comment.
    pub(crate) ends_at_token: bool,
    /// Definitions do not contain each other: where the grammar nests them, the next one ends the one before it.
    pub(crate) is_flat: bool,
    /// Replaces what the grammar cannot read, such as macros: a text of the same length with the same line feeds, for the
    /// parser only. `None` if nothing is replaced.
    pub(crate) masked: fn(&str) -> Option<String>,
    /// Appends what one `@import` node imports.
    pub(crate) imports: fn(Node<'_>, &str, &mut Vec<Import>),
    /// Whether a definition is visible outside its file.
    pub(crate) exported: fn(&VisibilityContext<'_>) -> bool,
    /// For languages with docstrings.
    pub(crate) docstring: Option<FindDocstring>,
    /// The text of comments or a docstring without delimiters, if the usual rules do not fit.
    pub(crate) doc_text: Option<fn(&str) -> String>,
    /// Comments that begin with this belong to the definition after them even if blank lines intervene.
    pub(crate) distant_doc: Option<&'static str>,
    /// Where the documentation of a whole file is.
    pub(crate) file_doc: FileDoc,
    /// A language without statements: data, configurations, schemas, styles.
    pub is_declarative: bool,
    /// Every statement of a text is a definition, so that a large one is no data.
    pub is_schema: bool,
    /// Nested blocks are symbols within these limits; otherwise, all are.
    pub(crate) blocks: Option<BlockLimits>,
    /// Whether the scanner of the grammar would end the process with a text: it is taken as plain text.
    pub(crate) breaks_scanner: fn(&str) -> bool,
    /// For languages that consist of sections instead of definitions.
    pub(crate) sections: Option<Sections>,
    /// Finds the parts of a text that are in other languages, in document order and disjoint. In documents, the names of
    /// their definitions become names of the section around them. In other texts, their definitions are the only ones.
    pub(crate) embedded: Option<FindEmbedded>,
}

/// Finds the parts of a text that are in other languages.
pub(crate) type FindEmbedded = fn(&str) -> Vec<Embedded<'_>>;

/// Reads the name of a definition from a declarator or from several nodes. `None` if the node names no definition.
pub(crate) type ReadDeclaredName = fn(Node<'_>, &str) -> Option<DeclaredName>;

/// What a declarator names.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct DeclaredName {
    pub(crate) name: String,
    /// The type or namespace that a name outside of it is qualified with.
    pub(crate) owner: Option<String>,
}

/// An extension, and a test of the text.
pub type Claim = (&'static str, fn(&str) -> bool);

/// Finds the docstring in a definition's body or the root node of a text: the bytes of the literal.
pub(crate) type FindDocstring = fn(Node<'_>, &str) -> Option<Range<usize>>;

/// The compiled queries of a language, made at first use.
pub(crate) type QueryCache = OnceLock<Result<CompiledQuery, QuerySyntaxError>>;

/// What the visibility of a definition depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisibilityContext<'a> {
    /// Name of the definition.
    pub(crate) name: &'a str,
    /// Its signature, which begins with its modifiers.
    pub(crate) signature: &'a str,
    /// The file names what it exports.
    pub(crate) file_exports: bool,
    /// It has an exporting wrapper, or the file exports its name.
    pub(crate) exported: bool,
    /// Kind and visibility of the enclosing definition.
    pub(crate) parent: Option<(SymbolKind, bool)>,
    /// The last `@section` before it in the enclosing definition.
    pub(crate) section: Option<&'a str>,
}

/// Where a language keeps the documentation of a whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileDoc {
    /// Nowhere.
    None,
    /// In a docstring, found by [`Language::docstring`] on the root.
    Docstring,
    /// In comments with this prefix at the start of the file.
    Prefix(&'static str),
    /// In the comment directly before the first node of this kind.
    Before(&'static str),
}

/// Which nested blocks are symbols: the others stay with the block around them. Sizes are in bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockLimits {
    /// A symbol has at least this many bytes in a small file, and [`Self::min_bytes_in_data`] in a large one.
    pub(crate) min_bytes: usize,
    pub(crate) min_bytes_in_data: usize,
    /// A block of at most this many bytes is not divided into its members, unless it consists of them.
    pub(crate) whole_bytes: usize,
}

impl BlockLimits {
    /// A file has about this many symbols before larger ones are asked for.
    const SYMBOLS: usize = 64;

    pub(crate) const DEFAULT: Self = Self { min_bytes: 200, min_bytes_in_data: 500, whole_bytes: 2_400 };

    /// The bytes of a symbol, at least, in a text of this many bytes.
    pub(crate) fn min_bytes(self, text_bytes: usize) -> usize {
        (text_bytes / Self::SYMBOLS).clamp(self.min_bytes, self.min_bytes_in_data)
    }
}

/// How the headings of a document are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sections {
    /// Reads a `@heading` node. None for headings that begin no section.
    pub(crate) heading: fn(Node<'_>, &str) -> Option<Heading>,
    /// Longer texts are treated as plain text.
    pub(crate) max_lines: u32,
}

/// A heading of a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    /// Offset of its line.
    pub(crate) at: u32,
    /// 1 is the highest.
    pub(crate) level: u8,
    pub(crate) title: String,
}

impl Language {
    /// A language with the defaults that most share.
    pub(crate) const fn new(
        name: &'static str,
        extensions: &'static [&'static str],
        grammar: fn() -> tree_sitter::Language,
        queries: &'static [&'static str],
        query: &'static QueryCache,
    ) -> Self {
        Self {
            name,
            family: name,
            extensions,
            file_names: &[],
            interpreters: &[],
            aliases: &[],
            claims: &[],
            rejects: |_| false,
            grammar,
            queries,
            query,
            line_class: None,
            separator: ".",
            member_separator: None,
            omitted_qualifiers: &[],
            has_absolute_modules: false,
            owner_suffix: "",
            overload_decorator: None,
            are_clauses: |_, _| false,
            name_in: unquoted,
            reserved: &[],
            has_reserved_members: false,
            keeps_overloads: false,
            declared_name: None,
            terminator: None,
            ends_at_token: false,
            is_flat: false,
            masked: |_| None,
            imports: |_, _, _| {},
            exported: |context| context.exported,
            docstring: None,
            doc_text: None,
            distant_doc: None,
            file_doc: FileDoc::None,
            is_declarative: false,
            is_schema: false,
            blocks: None,
            breaks_scanner: |_| false,
            sections: None,
            embedded: None,
        }
    }

    /// The test of texts in files with an extension of another language, if this language claims them.
    pub(crate) fn claim(&self, extension: &str) -> Option<fn(&str) -> bool> {
        self.claims.iter().find_map(|(other, holds)| other.eq_ignore_ascii_case(extension).then_some(*holds))
    }

    /// Whether texts of this language consist of sections instead of definitions.
    pub fn is_prose(&self) -> bool {
        self.sections.is_some()
    }

    /// The highlighted spans in every line of `text`, as byte ranges of the line, in order and disjoint.
    pub fn highlight(&self, text: &str) -> Vec<Vec<Highlight>> {
        highlight::highlight(self, text)
    }

    /// The compiled queries.
    ///
    /// # Errors
    /// The queries do not fit the grammar: a bug in the language's directory.
    pub(crate) fn compiled_query(&self) -> Result<&CompiledQuery, QuerySyntaxError> {
        self.query.get_or_init(|| CompiledQuery::new(&(self.grammar)(), self.queries)).as_ref().map_err(Clone::clone)
    }
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Language").field("name", &self.name).field("extensions", &self.extensions).finish()
    }
}

/// The import that `node` makes.
pub(crate) fn import(node: Node<'_>, path: &str, names: Vec<String>) -> Import {
    Import { path: bounded(path).to_owned(), names, members: Vec::new(), at: node.start_byte() as u32 }
}
