//! Support for R: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "r")]

use tree_sitter::Node;

use crate::extract::docs::text_between;
use crate::language::{Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, SymbolKind};

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

pub(crate) static R: Language = Language {
    file_names: &[".Rprofile", "Rprofile.site"],
    interpreters: &["Rscript", "littler", "r"],
    aliases: &["rscript", "splus"],
    imports,
    exported,
    name_in: |text| text.trim_matches('`'),
    doc_text: Some(|source| text_between(source, &["#'", "##", "#"], &[])),
    ..Language::new(
        "r",
        &["r"],
        || tree_sitter_r::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Whether a definition is visible outside its file. Definitions inside functions and definitions whose names begin
/// with a dot are not visible.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    let is_nested = matches!(visibility.parent, Some((SymbolKind::Function | SymbolKind::Method, _)));
    !is_nested && !visibility.name.starts_with('.')
}

/// Reads `library(name)`, `source("file")`, `requireNamespace("name")` and `box::use(a, b)`.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let (Some(function), Some(arguments)) =
        (node.child_by_field_name("function"), node.child_by_field_name("arguments"))
    else {
        return;
    };
    let (takes_all, binds) = match text_of(function, text) {
        "box::use" => (true, false),
        "library" | "require" | "source" | "sys.source" => (false, true),
        _ => (false, false),
    };
    let mut cursor = arguments.walk();
    let unnamed =
        arguments.children_by_field_name("argument", &mut cursor).filter(|a| a.child_by_field_name("name").is_none());
    for argument in unnamed.take(if takes_all { usize::MAX } else { 1 }) {
        let path = text_of(argument, text).trim_matches(['"', '\'']);
        let names = if binds { vec!["*".to_owned()] } else { Vec::new() };
        found.push(import(node, path, names));
    }
}
