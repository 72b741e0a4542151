//! Support for CSS. Large rules are symbols, named by their selectors. Small rules and custom properties are constants.

#![cfg(feature = "css")]

use tree_sitter::Node;

use crate::language::{BlockLimits, DeclaredName, Language, QueryCache};
use crate::spans::text_of;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// Style sheets.
pub(crate) static CSS: Language = Language {
    aliases: &["css-ts"],
    is_declarative: true,
    blocks: Some(BlockLimits::DEFAULT),
    declared_name: Some(declared_name),
    name_in: custom_property,
    separator: " ",
    ..Language::new(
        "css",
        &["css", "pcss", "postcss"],
        || tree_sitter_css::LANGUAGE.into(),
        &[include_str!("symbols.scm")],
        &QUERY,
    )
};

/// Maximum number of bytes that are read for a name. A rule may have hundreds of selectors.
const MAX_HEAD_BYTES: usize = 160;

/// Returns the first selectors of a rule, or the text of an at-rule before its block, on one line.
fn declared_name(node: Node<'_>, text: &str) -> Option<DeclaredName> {
    let head = text_of(node, text);
    let head = &head[..head.floor_char_boundary(MAX_HEAD_BYTES)];
    let head = head.split('{').next().unwrap_or_default();
    let name = head.split_whitespace().collect::<Vec<_>>().join(" ");
    Some(DeclaredName { name, owner: None })
}

/// Returns the name of a custom property, and an empty name for all other properties.
fn custom_property(property: &str) -> &str {
    if property.starts_with("--") { property } else { "" }
}
