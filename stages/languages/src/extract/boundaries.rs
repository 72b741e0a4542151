//! Finds the offsets at which a text can be split without splitting a small syntax node.

use tree_sitter::Node;

use crate::deadline::Deadline;
use crate::failure::ParseFailure;
use crate::lines::{begins_line, line_start};
use crate::symbols::Boundary;

/// Minimum size in bytes of a node that may be split. The children of smaller nodes are skipped.
const MIN_SPLIT_BYTES: usize = 800;

/// Maximum depth of visited nodes. Deeper nesting is data, not code.
const MAX_DEPTH: u32 = 96;

/// Returns the line starts of the named children of every node that is large enough to be split. A comment stays with
/// the node after it.
///
/// # Errors
/// See [`Deadline::check`].
pub(crate) fn boundaries(root: Node<'_>, text: &str, deadline: &Deadline<'_>) -> Result<Vec<Boundary>, ParseFailure> {
    let mut found: Vec<Boundary> = Vec::new();
    let mut cursor = root.walk();
    let mut depth = 0;
    let mut comment_end = None;
    'walk: loop {
        deadline.tick()?;
        let node = cursor.node();
        if depth > 0 && node.is_named() {
            let start = node.start_byte() as u32;
            let follows_comment = comment_end.is_some_and(|row| node.start_position().row <= row + 1);
            if !follows_comment && begins_line(text, start) {
                found.push(Boundary { at: line_start(text, start), depth });
            }
            comment_end = node.is_extra().then(|| last_row(node));
        }
        let is_large = node.end_byte() - node.start_byte() > MIN_SPLIT_BYTES;
        if (depth == 0 || is_large) && depth < MAX_DEPTH && cursor.goto_first_child() {
            depth += 1;
            comment_end = None;
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                break 'walk;
            }
            depth -= 1;
            comment_end = None;
        }
    }
    found.sort_by_key(|boundary| (boundary.at, boundary.depth));
    found.dedup_by_key(|boundary| boundary.at);
    Ok(found)
}

/// Returns the row of the last character of a node. A final line feed is not counted.
fn last_row(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row { end.row - 1 } else { end.row }
}
