//! Support for Swift: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "swift")]

use tree_sitter::Node;

use crate::language::{DeclaredName, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, SymbolKind};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

pub(crate) static SWIFT: Language = Language {
    reserved: &[
        "case", "catch", "class", "defer", "do", "else", "enum", "for", "func", "guard", "if", "return", "struct",
        "switch", "throw", "try", "while",
    ],
    keeps_overloads: true,
    declared_name: Some(declared_name),
    imports,
    exported,
    interpreters: &["swift"],
    ..Language::new(
        "swift",
        &["swift", "swiftinterface"],
        || tree_sitter_swift::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Returns the name of a definition. The name of a function is the identifier or operator after `func`.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    let mut cursor = node.walk();
    let name = match node.kind() {
        "function_declaration" | "protocol_function_declaration" => {
            node.children(&mut cursor).skip_while(|child| child.kind() != "func").nth(1)?
        }
        _ => node,
    };
    let name = text_of(name, text);
    // An extension of `Array<Int>` adds members to `Array`.
    let name = if node.kind() == "user_type" { name.split('<').next().unwrap_or(name) } else { name };
    Some(DeclaredName { name: name.to_owned(), owner: None })
}

/// Whether a definition is visible outside its module: it is public or open. Members of protocols and of public
/// extensions are as visible as the protocol or extension.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let is_keyword = |word: &&str| matches!(*word, "func" | "var" | "let" | "class" | "struct" | "enum" | "init");
    let mut modifiers = visibility.signature.split([' ', '(']).take_while(|word| !is_keyword(word));
    let own =
        modifiers.find(|word| matches!(*word, "public" | "open" | "internal" | "private" | "fileprivate" | "package"));
    let is_public = matches!(own, Some("public" | "open"));
    match visibility.parent {
        None => is_public,
        Some((SymbolKind::Interface, exported)) => exported,
        Some((SymbolKind::Implementation, exported)) => is_public || exported && own.is_none(),
        Some((kind, exported)) => is_public && exported && kind.is_container(),
    }
}

/// Reads `import Module` and `import struct Module.Name`.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let mut cursor = node.walk();
    let Some(path) = node.named_children(&mut cursor).find(|child| child.kind() == "identifier") else { return };
    let path = text_of(path, text);
    found.push(import(node, path, vec![path.rsplit('.').next().unwrap_or(path).to_owned()]));
}
