//! Support for Dart: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "dart")]

use tree_sitter::Node;

use crate::language::{DeclaredName, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::Import;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

pub(crate) static DART: Language = Language {
    reserved: &[
        "break", "case", "catch", "class", "continue", "do", "else", "finally", "for", "if", "return", "switch",
        "throw", "try", "while",
    ],
    keeps_overloads: true,
    declared_name: Some(declared_name),
    terminator: Some(';'),
    imports,
    exported,
    interpreters: &["dart"],
    ..Language::new(
        "dart",
        &["dart"],
        || tree_sitter_dart::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Returns the name of a definition. A constructor `Type.named` has the name `named`, because its class qualifies it,
/// and an unnamed constructor has the name `Type`.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    let mut cursor = node.walk();
    let name = match node.kind() {
        "identifier" | "type_identifier" | "binary_operator" | "[]" | "[]=" | "~" => Some(node),
        _ => node.children_by_field_name("name", &mut cursor).filter(|name| name.kind() != ".").last(),
    };
    name.map(|name| DeclaredName { name: text_of(name, text).to_owned(), owner: None })
}

/// Whether a definition is visible outside its file: its name does not begin with `_`, and it is not inside a function
/// or a private definition.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let is_public = !visibility.name.starts_with('_');
    is_public && visibility.parent.is_none_or(|(kind, exported)| exported && kind.is_container())
}

/// Reads `import 'uri' as prefix show A, B;`, `export 'uri';` and `part 'uri';`.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let source = text_of(node, text);
    let Some(path) = source.split(['\'', '"']).nth(1) else { return };
    let mut names = Vec::new();
    let clauses = &source[source.find(path).map_or(0, |at| at + path.len())..];
    let mut binds = false;
    for word in clauses.split([' ', ',', ';', '\n', '\r', '\t', '\'', '"']).filter(|word| !word.is_empty()) {
        match word {
            "as" | "show" => binds = true,
            "hide" => binds = false,
            "deferred" => {}
            name if binds => names.push(name.to_owned()),
            _ => {}
        }
    }
    found.push(import(node, path, names));
}
