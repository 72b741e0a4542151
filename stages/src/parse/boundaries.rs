//! Where a text may be cut without cutting through syntax.

use tree_sitter::{Node, Tree};

use crate::parse::deadline::Deadline;
use crate::parse::docs::begins_line;
use crate::parse::parser::ParseFailure;
use crate::parse::symbols::Boundary;

/// Nodes up to this many bytes are never cut, so their children are not looked at.
const SMALLEST_CUT: usize = 800;

/// Below this depth nothing is cut at syntax; such nesting is data, not code.
const DEEPEST: u32 = 96;

/// The starts of the named children of every node that is large enough to be cut, at the beginning of their lines. A
/// comment belongs to what follows it.
///
/// # Errors
/// See [`Deadline::check`].
pub(crate) fn boundaries(tree: &Tree, text: &str, deadline: &Deadline<'_>) -> Result<Vec<Boundary>, ParseFailure> {
    let mut found: Vec<Boundary> = Vec::new();
    let mut cursor = tree.walk();
    let mut depth = 0;
    let mut comment_end = None;
    'walk: loop {
        deadline.tick()?;
        let node = cursor.node();
        if depth > 0 && node.is_named() {
            let follows_comment = comment_end.is_some_and(|row| node.start_position().row <= row + 1);
            if !follows_comment && begins_line(text, node.start_byte() as u32) {
                found.push(Boundary { at: line_start(text, node.start_byte()), depth });
            }
            comment_end = node.is_extra().then(|| last_row(node));
        }
        let is_large = node.end_byte() - node.start_byte() > SMALLEST_CUT;
        if (depth == 0 || is_large) && depth < DEEPEST && cursor.goto_first_child() {
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

/// The row of a node's last character; a node that ends with a line feed ends on the row before.
fn last_row(node: Node<'_>) -> usize {
    let end = node.end_position();
    if end.column == 0 && end.row > node.start_position().row { end.row - 1 } else { end.row }
}

fn line_start(text: &str, at: usize) -> u32 {
    memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |feed| feed as u32 + 1)
}
