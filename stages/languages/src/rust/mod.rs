//! Support for Rust: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "rust")]

use tree_sitter::Node;

use crate::language::{FileDoc, Language, QueryCache, VisibilityContext, import};
use crate::spans::text_of;
use crate::symbols::{Import, SymbolKind, bounded};

mod masked;
#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

pub(crate) static RUST: Language = Language {
    masked: masked::masked,
    reserved: &["else", "enum", "fn", "for", "if", "impl", "loop", "match", "mod", "return", "struct", "while"],
    separator: "::",
    imports,
    exported,
    file_doc: FileDoc::Prefix("//!"),
    ..Language::new(
        "rust",
        &["rs"],
        || tree_sitter_rust::LANGUAGE.into(),
        &[
            include_str!("symbols.scm"),
            include_str!("constants.scm"),
            include_str!("calls.scm"),
            include_str!("imports.scm"),
        ],
        &QUERY,
    )
};

/// Whether a definition is visible outside its file: it has any form of `pub` and is not inside a function, or it is a
/// member of a visible trait.
fn exported(visibility: &VisibilityContext<'_>) -> bool {
    match visibility.parent {
        Some((SymbolKind::Interface, exported)) => exported,
        Some((SymbolKind::Function | SymbolKind::Method, _)) => false,
        _ => visibility.signature.starts_with("pub"),
    }
}

/// Reads every leaf of a `use` tree.
fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    let Some(tree) = node.child_by_field_name("argument") else { return };
    let mut prefixes: Vec<String> = vec![String::new()];
    let mut leaf = String::new();
    for c in text_of(tree, text).chars().chain([',']) {
        match c {
            '{' => {
                let prefix = format!("{}{}", prefixes.last().map_or("", |p| p), leaf.trim());
                prefixes.push(bounded(&prefix).to_owned());
                leaf.clear();
            }
            ',' | '}' => {
                let (path, alias) = leaf.split_once(" as ").unwrap_or((&leaf, ""));
                let path = path.trim();
                if !path.is_empty() {
                    let prefix = prefixes.last().map_or("", |p| p);
                    let full = if path == "self" {
                        prefix.trim_end_matches("::").to_owned()
                    } else {
                        format!("{prefix}{path}")
                    };
                    let last = full.rsplit("::").next().unwrap_or_default().to_owned();
                    let name = if alias.trim().is_empty() { last } else { alias.trim().to_owned() };
                    let names = if name == "_" { Vec::new() } else { vec![name] };
                    found.push(import(node, &full, names));
                }
                leaf.clear();
                if c == '}' && prefixes.len() > 1 {
                    prefixes.pop();
                }
            }
            _ => leaf.push(if c.is_whitespace() { ' ' } else { c }),
        }
    }
}
