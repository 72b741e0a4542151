//! Support for C++: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "cpp")]

use tree_sitter::Node;

use crate::c::{self, declarators, masked};
use crate::language::{DeclaredName, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, SymbolKind};

mod header;
#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// C++, including `.h` files that contain C++.
pub(crate) static CPP: Language = Language {
    reserved: &[
        "break",
        "case",
        "catch",
        "class",
        "continue",
        "default",
        "delete",
        "do",
        "else",
        "enum",
        "extern",
        "for",
        "goto",
        "if",
        "namespace",
        "new",
        "return",
        "sizeof",
        "static",
        "struct",
        "switch",
        "template",
        "throw",
        "try",
        "typedef",
        "typename",
        "union",
        "using",
        "while",
    ],
    separator: "::",
    // An anonymous namespace has no name, so the query captures the keyword `namespace` instead. This "name" must not
    // become part of the members' qualified names.
    omitted_qualifiers: &["namespace"],
    keeps_overloads: true,
    declared_name: Some(declared_name),
    terminator: Some(';'),
    masked: masked::masked,
    imports,
    exported,
    aliases: &["c++"],
    claims: &[("h", header::is_cpp)],
    ..Language::new(
        "cpp",
        &[
            "cpp", "cc", "cxx", "c++", "cppm", "ixx", "hpp", "hh", "hxx", "h++", "ipp", "inl", "tcc", "tpp", "txx",
            "cu", "cuh",
        ],
        || tree_sitter_cpp::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("../c/symbols.scm"),
            include_str!("declarations.scm"),
            include_str!("constants.scm"),
            include_str!("../c/constants.scm"),
            include_str!("calls.scm"),
            include_str!("../c/imports.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Returns the name in a declarator. A definition without a return type whose upper-case name is followed by one or two
/// names in parentheses is the call of a test macro: `TEST(Suite, Name) { … }` defines `Suite::Name`.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    let declared = declarators::declared_name(node, text)?;
    let is_macro = declared.name.len() > 1 && !declared.name.bytes().any(|b| b.is_ascii_lowercase());
    if !is_macro || declared.name.starts_with(['~', 'o']) || node.kind() != "function_declarator" {
        return Some(declared);
    }
    let has_type = node.parent().is_none_or(|parent| parent.child_by_field_name("type").is_some());
    let parameters = node.child_by_field_name("parameters").filter(|_| !has_type);
    let arguments: Vec<&str> =
        parameters.map_or("", |list| text_of(list, text)).trim_matches(['(', ')']).split(',').map(str::trim).collect();
    let is_name = |name: &&str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
    match arguments[..] {
        [suite, name] if is_name(&suite) && is_name(&name) => {
            Some(DeclaredName { name: name.to_owned(), owner: Some(suite.to_owned()) })
        }
        [name] if is_name(&name) => Some(DeclaredName { name: name.to_owned(), owner: None }),
        _ => Some(declared),
    }
}

/// Whether a definition is visible outside its file. A definition is hidden if it is in a function, a private section
/// or an anonymous namespace, or if it is `static` and outside of classes.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let is_hidden = visibility.section.is_some_and(|section| section == "namespace" || section.starts_with("private"));
    match visibility.parent {
        Some((SymbolKind::Class, exported)) => exported && !is_hidden && visibility.section.is_some(),
        Some((kind, exported)) if kind.is_type() => exported && !is_hidden,
        _ => !is_hidden && c::exported(visibility),
    }
}

/// Reads `#include`, `using namespace a::b;`, `using a::b;` and `namespace x = a::b;`.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    if node.kind() == "preproc_include" {
        return c::imports(node, text, found);
    }
    let Some(path) = node.named_child_count().checked_sub(1).and_then(|last| node.named_child(last as u32)) else {
        return;
    };
    let path: String = text_of(path, text).split_whitespace().collect();
    let is_namespace = text_of(node, text).split_whitespace().nth(1) == Some("namespace");
    let name = match node.child_by_field_name("name") {
        Some(alias) => text_of(alias, text),
        None if is_namespace => "*",
        None => path.rsplit("::").next().unwrap_or(&path),
    };
    let name = name.to_owned();
    found.push(import(node, &path, vec![name]));
}
