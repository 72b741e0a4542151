//! Determines the names of blocks: the key of a pair, or the name that [`Entity`] derives from the keys of a document
//! or list item.

use tree_sitter::Node;

use crate::entity::{Entity, plain};
use crate::language::DeclaredName;
use crate::spans::text_of;

/// Maximum depth of the mappings that [`entity`] reads: an item and its `metadata`.
const DEPTH: u32 = 1;

/// Returns the key of a pair, or the name that [`Entity`] derives from the keys of a document or list item. A document
/// gets a name only if it is a resource, as in Kubernetes, because other keys such as `name` describe the whole file.
pub(super) fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    match node.kind() {
        "document" => entity(mapping_in(node)?, text, DEPTH).resource(),
        "block_sequence_item" => entity(mapping_in(node)?, text, DEPTH).item(),
        _ => Some(DeclaredName { name: plain(text_of(node, text)).to_owned(), owner: None }),
    }
}

/// Returns the block mapping in a document, a list item or the value of a pair.
fn mapping_in(node: Node<'_>) -> Option<Node<'_>> {
    let mut cursor = node.walk();
    let block = node.named_children(&mut cursor).find(|child| child.kind() == "block_node")?;
    let mut cursor = block.walk();
    // Anchors and tags may precede the mapping.
    block.named_children(&mut cursor).find(|child| child.kind() == "block_mapping")
}

fn entity<'t>(mapping: Node<'_>, text: &'t str, depth: u32) -> Entity<'t> {
    let mut entity = Entity::default();
    let mut cursor = mapping.walk();
    for pair in mapping.named_children(&mut cursor).take(Entity::MAX_KEYS) {
        let Some(key) = pair.child_by_field_name("key") else { continue };
        let Some(value) = pair.child_by_field_name("value") else { continue };
        let key = text_of(key, text);
        if value.kind() == "flow_node" {
            entity.set(key, text_of(value, text));
        } else if let Some(inner) = mapping_in(pair).filter(|_| depth > 0) {
            entity.set_mapping(key, &self::entity(inner, text, depth - 1));
        }
    }
    entity
}
