//! Support for JSON. Values are blocks that are named by their key paths. Documents and list items are also blocks.
//! [`Entity`] derives their names from their keys.

#![cfg(feature = "json")]

use tree_sitter::Node;

use crate::entity::{Entity, plain};
use crate::language::{BlockLimits, DeclaredName, Language, QueryCache};
use crate::spans::text_of;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// JSON, including the comments that some tools allow.
pub(crate) static JSON: Language = Language {
    file_names: &[
        ".arcconfig",
        ".babelrc",
        ".bowerrc",
        ".eslintrc",
        ".jscsrc",
        ".jshintrc",
        ".stylelintrc",
        ".swcrc",
        ".watchmanconfig",
    ],
    aliases: &["json-ts"],
    is_declarative: true,
    blocks: Some(BlockLimits::DEFAULT),
    declared_name: Some(declared_name),
    ..Language::new(
        "json",
        &["json", "jsonc", "avsc", "code-workspace", "jsonld", "webmanifest"],
        || tree_sitter_json::LANGUAGE.into(),
        &[include_str!("symbols.scm")],
        &QUERY,
    )
};

/// Maximum depth of the objects that [`entity`] reads: an item and its `metadata`.
const DEPTH: u32 = 1;

/// Returns the key of a pair, or the name that [`Entity`] derives from the keys of a document or list item. A document
/// gets a name only if it is a resource, as in Kubernetes, because other keys such as `name` describe the whole file.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    match node.kind() {
        "document" => entity(object_in(node)?, text, DEPTH).resource(),
        "object" => entity(node, text, DEPTH).item(),
        _ => Some(DeclaredName { name: plain(text_of(node, text)).to_owned(), owner: None }),
    }
}

fn object_in(document: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = document.walk();
    document.named_children(&mut cursor).find(|child| child.kind() == "object")
}

fn entity<'t>(object: Node<'_>, text: &'t str, depth: u32) -> Entity<'t> {
    let mut entity = Entity::default();
    let mut cursor = object.walk();
    for pair in object.named_children(&mut cursor).take(Entity::MAX_KEYS) {
        let Some(key) = pair.child_by_field_name("key") else { continue };
        let Some(value) = pair.child_by_field_name("value") else { continue };
        let key = text_of(key, text);
        match value.kind() {
            "object" if depth > 0 => entity.set_mapping(key, &self::entity(value, text, depth - 1)),
            "string" => entity.set(key, text_of(value, text)),
            _ => {}
        }
    }
    entity
}
