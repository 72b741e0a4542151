//! Support for Protocol Buffers: its grammar, queries, and rules for names, visibility and imports.

#![cfg(feature = "protobuf")]

use tree_sitter::Node;

use crate::language::{Language, QueryCache, import};
use crate::spans::text_of;
use crate::symbols::Import;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Protocol Buffers: proto2, proto3 and editions.
pub(crate) static PROTOBUF: Language = Language {
    aliases: &["protobuf-mode"],
    is_declarative: true,
    is_schema: true,
    imports,
    exported: |_| true,
    ..Language::new(
        "protobuf",
        &["proto", "protodevel"],
        || tree_sitter_proto::LANGUAGE.into(),
        &[include_str!("symbols.scm")],
        &QUERY,
    )
};

fn imports(node: Node<'_>, text: &str, found: &mut Vec<Import>) {
    if let Some(path) = node.child_by_field_name("path") {
        found.push(import(node, text_of(path, text).trim_matches(['"', '\'']), vec!["*".to_owned()]));
    }
}
