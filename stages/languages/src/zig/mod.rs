//! Support for Zig: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "zig")]

use tree_sitter::Node;

use crate::extract::docs::text_between;
use crate::language::{FileDoc, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::Import;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Zig, including its object notation.
pub(crate) static ZIG: Language = Language {
    imports,
    exported,
    name_in,
    doc_text: Some(|source| text_between(source, &["///", "//!", "//"], &[])),
    file_doc: FileDoc::Prefix("//!"),
    ..Language::new(
        "zig",
        &["zig", "zon"],
        || tree_sitter_zig::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let is_public = visibility.signature.starts_with("pub ") || visibility.signature.starts_with("export ");
    is_public && visibility.parent.is_none_or(|(_, exported)| exported)
}

/// Returns `odd name` for `@"odd name"`.
fn name_in(text: &str) -> &str {
    text.strip_prefix("@\"").and_then(|rest| rest.strip_suffix('"')).unwrap_or(text)
}

/// Reads `const name = @import("path").member;`, and imports that are not bound to a name.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    if node.kind() == "variable_declaration" {
        let mut cursor = node.walk();
        let mut value = node.named_children(&mut cursor).last();
        while let Some(object) = value.and_then(|value| value.child_by_field_name("object")) {
            value = Some(object);
        }
        let name = node.named_child(0).map(|name| name_in(text_of(name, text)).to_owned());
        if let Some(path) = value.and_then(|value| imported(value, text)) {
            found.push(import(node, path, name.into_iter().collect()));
        }
    } else if !is_value_of_declaration(node) {
        found.extend(imported(node, text).map(|path| import(node, path, Vec::new())));
    }
}

/// Returns the literal argument of a built-in function.
fn imported<'t>(call: Node<'_>, text: &'t str) -> Option<&'t str> {
    let is_import = call.kind() == "builtin_function";
    let path = call.named_child(1).filter(|_| is_import)?.named_child(0)?;
    (path.kind() == "string").then(|| text_of(path, text).trim_matches('"'))
}

/// Whether a call is the value of a declaration. The whole declaration is then the import (see `imports.scm`).
fn is_value_of_declaration(call: Node<'_>) -> bool {
    let (mut node, mut depth) = (call, 0);
    while let Some(parent) = node.parent().filter(|parent| parent.kind() == "field_expression") {
        (node, depth) = (parent, depth + 1);
    }
    depth <= 3 && node.parent().is_some_and(|parent| parent.kind() == "variable_declaration")
}
