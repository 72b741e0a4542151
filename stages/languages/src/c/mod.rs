//! Support for C: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "c")]

use tree_sitter::Node;

use crate::language::{Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, SymbolKind};

mod conditionals;
pub(crate) mod declarators;
mod expressions;
mod lexer;
mod macros;
pub(crate) mod masked;
mod qualifiers;
mod source;
#[cfg(test)]
mod tests;
mod words;

static QUERY: QueryCache = QueryCache::new();

/// C, from K&R to C23.
pub(crate) static C: Language = Language {
    reserved: RESERVED,
    separator: "::",
    keeps_overloads: true,
    declared_name: Some(declarators::declared_name),
    terminator: Some(';'),
    masked: masked::masked,
    imports,
    exported,
    ..Language::new(
        "c",
        &["c", "h"],
        || tree_sitter_c::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("declarations.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Keywords that cannot be names of definitions.
pub(crate) const RESERVED: &[&str] = &[
    "break", "case", "continue", "default", "do", "else", "enum", "extern", "for", "goto", "if", "return", "sizeof",
    "static", "struct", "switch", "typedef", "union", "while",
];

/// Whether a definition is visible outside its file: it is not `static` and not inside a function.
pub(crate) fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let is_static = visibility.signature.split([' ', '(']).take(6).any(|word| word == "static");
    let is_local = matches!(visibility.parent, Some((SymbolKind::Function | SymbolKind::Method, _)));
    !is_static && !is_local
}

/// Reads `#include <path>`, which binds all names of the included file.
pub(crate) fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let Some(path) = node.child_by_field_name("path") else { return };
    let path = text_of(path, text).trim_matches(['"', '<', '>']);
    found.push(import(node, path, vec!["*".to_owned()]));
}
