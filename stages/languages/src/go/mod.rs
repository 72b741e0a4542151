//! Support for Go: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "go")]

use tree_sitter::Node;

use crate::language::{FileDoc, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::Import;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

pub(crate) static GO: Language = Language {
    reserved: &["case", "defer", "else", "for", "func", "if", "return", "select", "struct", "switch"],
    imports,
    exported,
    file_doc: FileDoc::Before("package_clause"),
    aliases: &["golang"],
    ..Language::new(
        "go",
        &["go"],
        || tree_sitter_go::LANGUAGE.into(),
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
    visibility.name.starts_with(char::is_uppercase)
}

fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let Some(path) = node.child_by_field_name("path") else { return };
    let path = text_of(path, text).trim_matches(['"', '`']);
    let names = match node.child_by_field_name("name").map(|name| text_of(name, text)) {
        Some("_") => Vec::new(),
        Some(".") => vec!["*".to_owned()],
        Some(name) => vec![name.to_owned()],
        None => vec![package_name(path).to_owned()],
    };
    found.push(import(node, path, names));
}

/// Returns the likely name of a package: the last segment of its path that is not a major version.
fn package_name(path: &str) -> &str {
    let is_version = |segment: &&str| {
        segment.strip_prefix('v').is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let last = path.rsplit('/').find(|segment| !is_version(segment)).unwrap_or(path);
    last.split(".v").next().unwrap_or(last)
}
