//! The description of one language: its grammar, queries and tables.
//!
//! # Captures
//!
//! The captures in a language's queries assign a meaning to the nodes of the grammar:
//!
//! | capture | meaning |
//! |---|---|
//! | `@definition.function` `.method` `.class` `.interface` `.type` `.struct` `.enum` `.module` `.implementation` `.block` | a definition; the same match captures its `@name` and, if present, its `@body` and `@owner` |
//! | `@declaration.function` `.method` `.type` | the same, but ignored inside `@local.scope`; used for prototypes and aliases |
//! | `@value` | the value of a definition without `@body`: the definition counts only if the value is or wraps a function, whose body is then the body of the definition |
//! | `@value.function` with `@body` | a function value |
//! | `@value.wrapper` with `@value.wrapped` | an expression that wraps a value: a call with its argument, a cast |
//! | `@definition.constant` | the name of a constant, variable or enum member, at file level or inside a type |
//! | `@definition.variable` | the same, at file level only |
//! | `@namespace` | not a symbol, but its `@name` qualifies the definitions inside it |
//! | `@open_end` | the container of a definition or namespace whose node does not include its contents, such as `package A;`: the definition extends to the next such definition in the container, or to the end of the container; a definition with a `@body` ends with its node |
//! | `@namespace.rest` | a namespace for the definitions after it, up to the next `@namespace.rest`: `namespace A.B;` |
//! | `@wrapper` with `@wrapped` | `@wrapper` belongs to the definition `@wrapped`: decorators, `export`, `const` |
//! | `@wrapper.exported` with `@wrapped` | the same, and the definition is exported |
//! | `@export` | a name that the file exports |
//! | `@section` | an access label, such as `public:`, which applies to the definitions after it in the enclosing definition |
//! | `@attribute` | a sibling that belongs to the definition after it: attributes, decorators |
//! | `@signature.omit` | omitted from signatures: annotations, decorators |
//! | `@comment` | a comment |
//! | `@local.scope` | hides the `@definition.constant` and `@definition.variable` names inside it: functions, blocks |
//! | `@reference.call` | the identifier of a callee |
//! | `@reference.name` | the same, unless a preceding `@local.name` has this name |
//! | `@local.name` | the declaration of a local variable |
//! | `@reference.base` | a type that the enclosing definition extends, implements or embeds |
//! | `@reference.bases` | a list of such types, separated by white space; options such as `-norequire` are skipped |
//! | `@reference.macro` | an identifier in the arguments of a macro: a callee if a parenthesis follows |
//! | `@reference.none` | a span whose calls and base types are ignored: the head of a definition, a type |
//! | `@branch` `@loop` | a construct that counts towards complexity |
//! | `@import` | an import, read by the language's `imports` function |
//! | `@heading` | the heading of a section, read by the language's `heading` function |
//! | `@error` | a syntax error |
//! | `@_…` | no meaning; only used by predicates |

use std::ops::Range;
use std::sync::OnceLock;

use tree_sitter::Node;

use crate::embedded::Embedded;
use crate::highlight::{self, Highlight, TokenClass};
use crate::outline::{Heading, Outline};
use crate::query::{CompiledQuery, QuerySyntaxError};
use crate::symbols::{Import, SymbolKind, bounded, unquoted};

/// A language. Everything that differs between languages is a field of this type.
pub struct Language {
    /// Unique name of the grammar.
    pub name: &'static str,
    /// Name of the language as users know it. For example, both TypeScript and TSX have the family `typescript`.
    pub family: &'static str,
    /// File extensions, lower-case, without the dot.
    pub extensions: &'static [&'static str],
    /// File names that identify the language, such as `Makefile`. A name that ends in `*` is a prefix.
    pub file_names: &'static [&'static str],
    /// Names of the interpreters in `#!` lines, without version numbers at the end.
    pub interpreters: &'static [&'static str],
    /// Other names of the language, in lower case, as editors and fenced code use them.
    pub aliases: &'static [&'static str],
    /// Extensions that this language claims. For each of them, a test of the text decides whether a file is in this
    /// language. Other languages may have the same extensions.
    pub claims: &'static [Claim],
    /// Whether a text from a file with one of `extensions` is in an unsupported language that uses the same extension.
    pub rejects: fn(&str) -> bool,
    /// The tree-sitter grammar, or `None` if the outline of a document is read from its lines.
    pub grammar: Option<fn() -> tree_sitter::Language>,
    /// Query sources, run as one query.
    pub(crate) queries: &'static [&'static str],
    /// Cache of the compiled queries. It is a separate static, because the cache has a destructor, and [`Language`]
    /// values are built by constant functions.
    pub(crate) query: &'static QueryCache,
    /// Classifies a whole line, for languages that are highlighted by line. Other languages have a lexical table.
    pub(crate) line_class: Option<fn(&str) -> Option<TokenClass>>,
    /// Separator between the segments of a qualified name.
    pub(crate) separator: &'static str,
    /// Separator between a type and its method, if it differs from `separator`: `.` in `Module::Class.method`.
    pub(crate) member_separator: Option<&'static str>,
    /// Owners and namespaces that are omitted from qualified names: `exports`, `this`, `prototype`.
    pub(crate) omitted_qualifiers: &'static [&'static str],
    /// Whether the names of nested modules are already fully qualified, as in Perl packages.
    pub(crate) has_absolute_modules: bool,
    /// Suffix that is removed from owners: `.prototype`.
    pub(crate) owner_suffix: &'static str,
    /// The decorator that marks a definition as an overload of the next definition.
    pub(crate) overload_decorator: Option<&'static str>,
    /// Whether two consecutive definitions with the same name and these signatures are clauses of one function.
    pub(crate) are_clauses: fn(&str, &str) -> bool,
    /// Extracts the name from the text of a node that is captured as the name of a definition or constant.
    pub(crate) name_in: fn(&str) -> &str,
    /// Words that cannot name definitions. A definition with such a name is a statement that the grammar misread.
    pub(crate) reserved: &'static [&'static str],
    /// Whether members may have reserved names. In texts with syntax errors, members with such names still count as
    /// misread.
    pub(crate) has_reserved_members: bool,
    /// Whether overloads are separate definitions. Otherwise, declarations are merged with the implementation after
    /// them.
    pub(crate) keeps_overloads: bool,
    /// Reads the name from a `@name` node that is not a plain name.
    pub(crate) declared_name: Option<ReadDeclaredName>,
    /// A character that belongs to the definition before it, although the grammar places it outside: `;`.
    pub(crate) terminator: Option<char>,
    /// Whether definitions end with their last token that is not a comment. Needed if indentation or line feeds end
    /// definitions: the grammar then includes the white space and comments after a definition.
    pub(crate) ends_at_token: bool,
    /// Whether definitions never contain each other. If the grammar nests them nevertheless, a definition ends the
    /// previous definition.
    pub(crate) is_flat: bool,
    /// Replaces text that the grammar cannot read, such as macros. The result is used only by the parser, and has the
    /// same length and line feeds as the text. Returns `None` if nothing is replaced.
    pub(crate) masked: fn(&str) -> Option<String>,
    /// Appends the imports of an `@import` node.
    pub(crate) imports: fn(Node<'_>, &str, &mut Vec<Import>),
    /// Whether a definition is visible outside its file.
    pub(crate) exported: fn(&VisibilityContext<'_>) -> bool,
    /// Finds docstrings, in languages that have them.
    pub(crate) docstring: Option<FindDocstring>,
    /// Strips the delimiters from comments or a docstring, if the usual rules do not fit.
    pub(crate) doc_text: Option<fn(&str) -> String>,
    /// Prefix of comments that belong to the next definition even if blank lines separate them from it.
    pub(crate) distant_doc: Option<&'static str>,
    /// Location of the documentation of a whole file.
    pub(crate) file_doc: FileDoc,
    /// Whether the language has no statements, such as a language for data, configurations, schemas or styles.
    pub is_declarative: bool,
    /// Whether every statement is a definition. Even a large text in such a language is never treated as data.
    pub is_schema: bool,
    /// Limits that select the nested blocks that become symbols. Without limits, all blocks are symbols.
    pub(crate) blocks: Option<BlockLimits>,
    /// Whether a text would make the scanner of the grammar end the process. Such a text is rejected as too complex.
    pub(crate) breaks_scanner: fn(&str) -> bool,
    /// Settings of languages whose texts consist of sections instead of definitions.
    pub(crate) sections: Option<Sections>,
    /// Finds the parts of a text that are in other languages, disjoint and in document order. In documents, the names
    /// of the parts' definitions become constants of the enclosing section. In other texts, all definitions come from
    /// the parts.
    pub(crate) embedded: Option<FindEmbedded>,
}

/// Finds the parts of a text that are in other languages.
pub(crate) type FindEmbedded = fn(&str) -> Vec<Embedded<'_>>;

/// Reads the name of a definition from a declarator or from several nodes. Returns `None` if the node names no
/// definition.
pub(crate) type ReadDeclaredName = fn(Node<'_>, &str) -> Option<DeclaredName>;

/// The name that a declarator declares.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct DeclaredName {
    pub(crate) name: String,
    /// The type or namespace that qualifies a name declared outside of it.
    pub(crate) owner: Option<String>,
}

/// A claimed extension, and a test. A file with this extension is in the claiming language if its text passes the test.
pub type Claim = (&'static str, fn(&str) -> bool);

/// Finds the docstring in the body of a definition or in the root node of a text. Returns the byte range of the
/// literal.
pub(crate) type FindDocstring = fn(Node<'_>, &str) -> Option<Range<usize>>;

/// The queries of a language, compiled at first use.
pub(crate) type QueryCache = OnceLock<Result<CompiledQuery, QuerySyntaxError>>;

/// The facts that determine the visibility of a definition.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VisibilityContext<'a> {
    /// Name of the definition.
    pub(crate) name: &'a str,
    /// Signature of the definition, which begins with its modifiers.
    pub(crate) signature: &'a str,
    /// Whether the file exports any names.
    pub(crate) file_exports: bool,
    /// Whether the definition has an exporting wrapper or the file exports its name.
    pub(crate) exported: bool,
    /// Kind and visibility of the enclosing definition.
    pub(crate) parent: Option<(SymbolKind, bool)>,
    /// The last `@section` before the definition in the enclosing definition.
    pub(crate) section: Option<&'a str>,
}

/// Location of the documentation of a whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileDoc {
    /// The language has no such documentation.
    None,
    /// In a docstring of the root node, found by [`Language::docstring`].
    Docstring,
    /// In comments with this prefix at the start of the file.
    Prefix(&'static str),
    /// In the comment directly before the first top-level node of this kind.
    Before(&'static str),
}

/// Limits that select the nested blocks that become symbols. All other blocks stay part of the enclosing block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockLimits {
    /// Minimum size in bytes of a symbol in a small file.
    pub(crate) min_bytes: usize,
    /// Minimum size in bytes of a symbol in a large file.
    pub(crate) min_bytes_in_data: usize,
    /// Maximum size in bytes of a block that is not divided into its members. A block without content outside of its
    /// members is always divided.
    pub(crate) whole_bytes: usize,
}

impl BlockLimits {
    /// In a file of medium size, the minimum size of a symbol is the file size divided by this number. Such a file
    /// therefore has at most about this many symbols.
    const TARGET_SYMBOLS: usize = 64;

    pub(crate) const DEFAULT: Self = Self { min_bytes: 200, min_bytes_in_data: 500, whole_bytes: 2_400 };

    /// Returns the minimum size in bytes of a symbol in a text of `text_bytes` bytes.
    pub(crate) fn min_bytes(self, text_bytes: usize) -> usize {
        (text_bytes / Self::TARGET_SYMBOLS).clamp(self.min_bytes, self.min_bytes_in_data)
    }
}

/// The way in which the sections of a document are found.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sections {
    /// The grammar finds the headings.
    Nodes {
        /// Reads a `@heading` node. Returns `None` for headings that begin no section.
        heading: fn(Node<'_>, &str) -> Option<Heading>,
        /// Maximum number of lines. Longer texts are treated as plain text.
        max_lines: u32,
    },
    /// Reads the outline from the lines of a text, in linear time.
    Lines(fn(&str) -> Outline<'_>),
}

impl Language {
    /// Creates a language with the defaults that most languages share.
    pub(crate) const fn new(
        name: &'static str,
        extensions: &'static [&'static str],
        grammar: fn() -> tree_sitter::Language,
        queries: &'static [&'static str],
        query: &'static QueryCache,
    ) -> Self {
        Self { grammar: Some(grammar), queries, query, ..Self::without_grammar(name, extensions) }
    }

    /// Creates a document format whose outline is read from its lines. `embedded` returns the code blocks.
    pub(crate) const fn document(
        name: &'static str,
        extensions: &'static [&'static str],
        outline: fn(&str) -> Outline<'_>,
        embedded: FindEmbedded,
    ) -> Self {
        let sections = Some(Sections::Lines(outline));
        Self { sections, embedded: Some(embedded), ..Self::without_grammar(name, extensions) }
    }

    const fn without_grammar(name: &'static str, extensions: &'static [&'static str]) -> Self {
        static NO_QUERY: QueryCache = QueryCache::new();
        Self {
            name,
            family: name,
            extensions,
            file_names: &[],
            interpreters: &[],
            aliases: &[],
            claims: &[],
            rejects: |_| false,
            grammar: None,
            queries: &[],
            query: &NO_QUERY,
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

    /// Returns the test for texts of files with this extension, or `None` if the language does not claim the extension.
    pub(crate) fn claim(&self, extension: &str) -> Option<fn(&str) -> bool> {
        self.claims.iter().find_map(|(other, holds)| other.eq_ignore_ascii_case(extension).then_some(*holds))
    }

    /// Whether texts of this language consist of sections instead of definitions.
    pub fn is_prose(&self) -> bool {
        self.sections.is_some()
    }

    /// Returns the highlighted spans of each line of `text`. The spans of a line are disjoint and in order.
    pub fn highlight(&self, text: &str) -> Vec<Vec<Highlight>> {
        match self.line_class {
            Some(class_of) => highlight::by_line(text, class_of),
            None => highlight::by_token(text, self.family),
        }
    }

    /// Returns the queries, compiled at first use.
    ///
    /// # Errors
    /// Fails if the queries do not fit the grammar or if there is no grammar, which is a bug in the language's directory.
    pub(crate) fn compiled_query(&self) -> Result<&CompiledQuery, QuerySyntaxError> {
        let grammar = self.grammar.ok_or(QuerySyntaxError::UnsupportedGrammar)?;
        self.query.get_or_init(|| CompiledQuery::new(&grammar(), self.queries)).as_ref().map_err(Clone::clone)
    }
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Language").field("name", &self.name).field("extensions", &self.extensions).finish()
    }
}

/// Creates the import that `node` declares.
pub(crate) fn import(node: Node<'_>, path: &str, names: Vec<String>) -> Import {
    Import { path: bounded(path).to_owned(), names, members: Vec::new(), at: node.start_byte() as u32 }
}
