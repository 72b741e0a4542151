//! Support for Java: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "java")]

use tree_sitter::Node;

use crate::language::{Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, SymbolKind};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

pub(crate) static JAVA: Language = Language {
    reserved: RESERVED,
    imports,
    exported,
    ..Language::new(
        "java",
        &["java"],
        || tree_sitter_java::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Keywords that cannot be names of definitions.
pub(crate) const RESERVED: &[&str] = &[
    "break",
    "case",
    "catch",
    "class",
    "continue",
    "do",
    "else",
    "enum",
    "finally",
    "for",
    "if",
    "return",
    "switch",
    "synchronized",
    "throw",
    "try",
    "while",
];

/// Whether a definition is visible outside its file: it is public or protected, or a member of an interface and not
/// private.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let has = |modifier: &str| visibility.signature.split(' ').take(6).any(|word| word == modifier);
    let is_open = match visibility.parent {
        Some((SymbolKind::Interface, _)) => !has("private"),
        _ => has("public") || has("protected"),
    };
    is_open && visibility.parent.is_none_or(|(kind, exported)| exported && kind.is_container())
}

fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let mut cursor = node.walk();
    let (mut path, mut all) = ("", false);
    for child in node.named_children(&mut cursor) {
        match child.kind() {
            "scoped_identifier" | "identifier" => path = text_of(child, text),
            "asterisk" => all = true,
            _ => {}
        }
    }
    let name = if all { "*" } else { path.rsplit('.').next().unwrap_or(path) };
    found.push(import(node, path, vec![name.to_owned()]));
}
