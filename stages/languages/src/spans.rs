//! Spans of nodes and the text that they cover.

use std::ops::Range;

use tree_sitter::Node;

/// Returns the byte range of a node.
pub(crate) fn span_of(node: Node<'_>) -> Range<u32> {
    node.start_byte() as u32..node.end_byte() as u32
}

/// Returns the text of a node, or an empty string if the node's span is not on character boundaries of `text`.
pub(crate) fn text_of<'t>(node: Node<'_>, text: &'t str) -> &'t str {
    text.get(node.byte_range()).unwrap_or_default()
}

/// Returns the text of a span, or an empty string if the span is not on character boundaries of `text`.
pub(crate) fn slice<'t>(text: &'t str, span: &Range<u32>) -> &'t str {
    text.get(span.start as usize..span.end as usize).unwrap_or_default()
}
