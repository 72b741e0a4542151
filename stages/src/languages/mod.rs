//! The languages that are indexed, one folder each: a grammar, queries and a small table.
//!
//! To add a language, add its folder and one line to [`ALL`]. Everything that differs between languages is in its
//! [`Language`] value; the engine in [`crate::parse`] knows none of them by name.
//!
//! # Captures
//!
//! The queries of a language tell the engine what the nodes of its grammar mean:
//!
//! | capture | meaning |
//! |---|---|
//! | `@definition.function` `.method` `.class` `.interface` `.type` `.struct` `.enum` `.module` `.implementation` | a definition; the same match holds its `@name` and, if it has them, `@body` and `@owner` |
//! | `@definition.constant` | the name of a constant, variable or enum member, at file level or inside a type |
//! | `@definition.variable` | the same, at file level only |
//! | `@namespace` | qualifies the definitions inside it with its `@name` without being a symbol |
//! | `@wrapper` with `@wrapped` | `@wrapper` belongs to the definition `@wrapped`: decorators, `export`, `const` |
//! | `@wrapper.exported` with `@wrapped` | the same, and the definition is exported |
//! | `@export` | a name that the file exports |
//! | `@attribute` | a sibling that belongs to the definition after it: attributes, decorators |
//! | `@signature.omit` | left out of signatures: annotations, decorators |
//! | `@comment` | a comment |
//! | `@local.scope` | hides the `@definition.constant` and `@definition.variable` names inside it: functions, blocks |
//! | `@reference.call` | the identifier of a callee |
//! | `@reference.base` | a type that the enclosing definition extends, implements or embeds |
//! | `@branch` `@loop` | a construct that counts towards complexity |
//! | `@import` | an import, read by [`Language::imports`] |
//! | `@heading` | the heading of a section |
//! | `@error` | a syntax error |
//! | `@_…` | ignored; for predicates |

use std::ops::Range;
use std::sync::OnceLock;

use tree_sitter::Node;

use crate::chunk::document::{DOCUMENTS, ExtractError};
use crate::parse::query::{CompiledQuery, QueryError};
use crate::parse::symbols::{Import, SymbolKind, bounded};

pub mod go;
pub mod java;
pub mod javascript;
pub mod markdown;
#[cfg(test)]
mod outline;
pub mod python;
pub mod rust;
pub mod typescript;

/// Every language, in the order in which extensions are looked up.
pub static ALL: &[&Language] = &[
    &python::PYTHON,
    &javascript::JAVASCRIPT,
    &typescript::TYPESCRIPT,
    &typescript::TSX,
    &go::GO,
    &java::JAVA,
    &rust::RUST,
    &markdown::MARKDOWN,
];

/// What the engine has to know about one language.
pub struct Language {
    /// Name of the grammar, unique.
    pub name: &'static str,
    /// The language under which chunks are filed: `typescript` for TSX, too.
    pub family: &'static str,
    /// File extensions, lower-case, without the dot.
    pub extensions: &'static [&'static str],
    /// The tree-sitter grammar.
    pub grammar: fn() -> tree_sitter::Language,
    /// Query sources, run as one query.
    pub queries: &'static [&'static str],
    /// Joins the segments of a qualified name.
    pub separator: &'static str,
    /// Owners and scopes that say nothing in a name: `exports`, `this`, `prototype`.
    pub omitted_qualifiers: &'static [&'static str],
    /// What is cut from the end of an owner: `.prototype`.
    pub owner_suffix: &'static str,
    /// A decorator that marks a definition as a mere overload of the one after it.
    pub overload_marker: Option<&'static str>,
    /// Appends what one `@import` node imports.
    pub imports: fn(Node<'_>, &str, &mut Vec<Import>),
    /// Whether a definition is visible outside its file.
    pub exported: fn(&VisibilityContext<'_>) -> bool,
    /// Finds the documentation inside a definition's body or the file, for languages that keep it there.
    pub docstring: Option<FindDocstring>,
    /// How the documentation of the file itself is found.
    pub file_doc: FileDoc,
    /// Where the compiled queries are kept.
    pub cache: &'static QueryCache,
}

/// The documentation inside a body, as a literal's span.
pub type FindDocstring = fn(Node<'_>) -> Option<Range<usize>>;

/// The compiled queries of a language, made at first use.
pub type QueryCache = OnceLock<Result<CompiledQuery, QueryError>>;

/// Where a language keeps the documentation of a whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileDoc {
    /// Nowhere.
    None,
    /// In a docstring, found by [`Language::docstring`] on the root.
    Docstring,
    /// In comments with this prefix at the start of the file.
    Prefix(&'static str),
    /// In the comment just before the first node of this kind.
    Before(&'static str),
}

/// What the visibility of a definition may depend on.
#[derive(Debug, Clone, Copy)]
pub struct VisibilityContext<'a> {
    /// Name of the definition.
    pub name: &'a str,
    /// Its signature, which begins with its modifiers.
    pub signature: &'a str,
    /// It stands in an exporting construct, or the file exports its name.
    pub exported: bool,
    /// Kind and visibility of the enclosing definition.
    pub parent: Option<(SymbolKind, bool)>,
}

impl Language {
    /// The compiled queries of the language.
    ///
    /// # Errors
    /// The queries do not fit the grammar: a bug in the language's folder.
    pub fn query(&self) -> Result<&CompiledQuery, QueryError> {
        self.cache.get_or_init(|| CompiledQuery::new(&(self.grammar)(), self.queries)).as_ref().map_err(Clone::clone)
    }

    /// Whether the language is made of sections instead of definitions.
    pub fn is_prose(&self) -> bool {
        std::ptr::eq(self, &markdown::MARKDOWN)
    }
}

impl std::fmt::Debug for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Language").field("name", &self.name).field("extensions", &self.extensions).finish()
    }
}

/// Turns the bytes of a document into text.
pub type Extractor = fn(&[u8]) -> Result<String, ExtractError>;

/// The format of a file, decided by its extension whatever its case: the name of a language, or of a document
/// format. None for files that are not indexed.
pub fn format_of(path: &str) -> Option<&'static str> {
    let (_, extension) = path.rsplit_once('.').filter(|(_, extension)| !extension.contains('/'))?;
    let has = |extensions: &[&str]| extensions.iter().any(|e| e.eq_ignore_ascii_case(extension));
    let language = ALL.iter().find(|language| has(language.extensions)).map(|language| language.name);
    language.or_else(|| DOCUMENTS.iter().find(|format| has(format.extensions)).map(|format| format.name))
}

/// The language of this name.
pub fn by_name(name: &str) -> Option<&'static Language> {
    ALL.iter().copied().find(|language| language.name == name)
}

/// How the text of a format is extracted, for formats that are not text themselves.
pub fn extractor_of(format: &str) -> Option<Extractor> {
    DOCUMENTS.iter().find(|document| document.name == format)?.extract
}

/// Whether a format is made of sections of prose instead of definitions.
pub fn is_prose(format: &str) -> bool {
    by_name(format).is_none_or(Language::is_prose)
}

/// The name under which chunks of a format are filed.
pub fn family_of(format: &'static str) -> &'static str {
    by_name(format).map_or(format, |language| language.family)
}

/// A table with the defaults that most languages share.
const fn defaults(
    name: &'static str,
    extensions: &'static [&'static str],
    grammar: fn() -> tree_sitter::Language,
    queries: &'static [&'static str],
    cache: &'static QueryCache,
) -> Language {
    Language {
        name,
        family: name,
        extensions,
        grammar,
        queries,
        separator: ".",
        omitted_qualifiers: &[],
        owner_suffix: "",
        overload_marker: None,
        imports: no_imports,
        exported: exported_by_construct,
        docstring: None,
        file_doc: FileDoc::None,
        cache,
    }
}

fn no_imports(_: Node<'_>, _: &str, _: &mut Vec<Import>) {}

fn exported_by_construct(visibility: &VisibilityContext<'_>) -> bool {
    visibility.exported
}

/// The text of a node; empty if the node's span is not on character boundaries of `text`.
fn text_of<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

fn import(node: Node<'_>, path: &str, names: Vec<String>) -> Import {
    Import { path: bounded(path).to_owned(), names, at: node.start_byte() as u32 }
}

#[cfg(test)]
mod tests {
    use super::{ALL, by_name, format_of};

    #[test]
    fn queries_fit_their_grammars_for_tree_sitter_as_well() {
        for language in ALL {
            let problem = language.query().err().map(|problem| problem.to_string());
            assert_eq!(problem, None, "{}", language.name);
            let source = language.queries.join("\n");
            let theirs =
                tree_sitter::Query::new(&(language.grammar)(), &source).err().map(|problem| problem.to_string());
            assert_eq!(theirs, None, "{}", language.name);
        }
    }

    #[test]
    fn extensions_belong_to_one_language_and_names_are_unique() {
        let mut seen = std::collections::HashSet::new();
        for language in ALL {
            assert!(by_name(language.name).is_some_and(|found| std::ptr::eq(found, *language)), "{}", language.name);
            for extension in language.extensions {
                assert!(seen.insert(*extension), "{extension}");
                assert_eq!(format_of(&format!("a.b/c.{}", extension.to_uppercase())), Some(language.name));
            }
        }
        assert_eq!(format_of("Makefile"), None);
        assert_eq!(format_of("a.py/b"), None);
        assert_eq!(format_of("a.DOCX"), Some("docx"));
    }
}
