//! Support for Python: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "python")]

use std::ops::Range;

use tree_sitter::Node;

use crate::language::{FileDoc, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, bounded};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Python 2 and 3, including stubs.
pub(crate) static PYTHON: Language = Language {
    overload_decorator: Some("overload"),
    imports,
    exported,
    docstring: Some(docstring),
    file_doc: FileDoc::Docstring,
    interpreters: &["python", "pypy"],
    aliases: &["python3"],
    ..Language::new(
        "python",
        &["py", "pyi", "pyw"],
        || tree_sitter_python::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

fn docstring(body: Node<'_>, _: &str) -> Option<Range<usize>> {
    let mut cursor = body.walk();
    let first = body.named_children(&mut cursor).find(|child| !child.is_extra())?;
    // The string may be wrapped in an expression statement, depending on the version of the grammar.
    let string = if first.kind() == "string" {
        first
    } else {
        first.named_child(0).filter(|_| first.kind() == "expression_statement")?
    };
    (string.kind() == "string").then(|| string.byte_range())
}

fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let is_special = visibility.name.starts_with("__") && visibility.name.ends_with("__");
    let is_public = is_special || !visibility.name.starts_with('_');
    is_public && visibility.parent.is_none_or(|(kind, exported)| exported && kind.is_container())
}

fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let module = node.child_by_field_name("module_name").map(|module| bounded(text_of(module, text)));
    let mut cursor = node.walk();
    for name in node.children_by_field_name("name", &mut cursor) {
        let (path, bound) = match (name.child_by_field_name("name"), name.child_by_field_name("alias")) {
            (Some(path), Some(alias)) => (text_of(path, text), text_of(alias, text)),
            _ => (text_of(name, text), text_of(name, text).split('.').next().unwrap_or_default()),
        };
        let path = match module {
            Some(module) if module.ends_with('.') => format!("{module}{path}"),
            Some(module) => format!("{module}.{path}"),
            None => path.to_owned(),
        };
        found.push(import(node, &path, vec![bound.to_owned()]));
    }
    let mut cursor = node.walk();
    if node.named_children(&mut cursor).any(|child| child.kind() == "wildcard_import") {
        found.push(import(node, module.unwrap_or_default(), vec!["*".to_owned()]));
    }
}
