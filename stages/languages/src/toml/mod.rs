//! Support for TOML. Blocks are tables, named by their headers, and long values, named by their keys.

#![cfg(feature = "toml")]

use tree_sitter::Node;

use crate::entity::{Entity, plain};
use crate::language::{BlockLimits, DeclaredName, FileDoc, Language, QueryCache};
use crate::spans::text_of;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// TOML: manifests and configurations.
pub(crate) static TOML: Language = Language {
    file_names: &["Pipfile"],
    aliases: &["toml-ts"],
    is_declarative: true,
    blocks: Some(BlockLimits::DEFAULT),
    declared_name: Some(declared_name),
    ends_at_token: true,
    file_doc: FileDoc::Prefix("#"),
    ..Language::new("toml", &["toml"], || tree_sitter_toml_ng::LANGUAGE.into(), &[include_str!("symbols.scm")], &QUERY)
};

/// Returns the dotted key of a table or pair. For an item of an array of tables, returns the name that [`Entity`]
/// derives from its keys, with the dotted key as its owner.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    if node.kind() != "table_array_element" {
        return Some(DeclaredName { name: key(node, text), owner: None });
    }
    let header = key(node.named_child(0)?, text);
    let mut entity = Entity::default();
    let mut cursor = node.walk();
    for pair in node.named_children(&mut cursor).skip(1).take(Entity::MAX_KEYS) {
        if let (Some(key), Some(value)) = (pair.named_child(0), pair.named_child(1)) {
            entity.set(text_of(key, text), text_of(value, text));
        }
    }
    let item = entity.item().map(|item| DeclaredName { name: item.name, owner: Some(header.clone()) });
    Some(item.unwrap_or(DeclaredName { name: header, owner: None }))
}

/// Returns a dotted key without the white space and quotes around its parts.
fn key(node: Node<'_>, text: &str) -> String {
    text_of(node, text).split('.').map(plain).collect::<Vec<_>>().join(".")
}
