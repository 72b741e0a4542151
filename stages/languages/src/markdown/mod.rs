//! Support for Markdown. Headings begin sections. The names of definitions in fenced code become constants of the
//! section that contains the code.

#![cfg(feature = "markdown")]

use tree_sitter::Node;

use crate::fences::fences;
use crate::highlight::TokenClass;
use crate::language::{Language, QueryCache, Sections};
use crate::lines::{begins_line, line_start};
use crate::outline::Heading;
use crate::symbols::MAX_NAME_BYTES;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// CommonMark with front matter and tables.
pub(crate) static MARKDOWN: Language = Language {
    sections: Some(Sections::Nodes { heading, max_lines: MAX_LINES }),
    embedded: Some(fences),
    line_class: Some(class_of_line),
    ..Language::new(
        "markdown",
        &["md", "markdown", "mdx"],
        || tree_sitter_md::LANGUAGE.into(),
        &[include_str!("sections.scm")],
        &QUERY,
    )
};

/// Maximum number of lines. The grammar takes about 600 bytes of memory for each line, even a blank line, which matters
/// for long tables. Longer texts are treated as plain text.
const MAX_LINES: u32 = 200_000;

/// Maximum number of bytes of a heading that are read for its title.
const MAX_TITLE_BYTES: usize = 4 * MAX_NAME_BYTES;

/// Reads an `atx_heading` or `setext_heading` node. Returns `None` for headings inside quotes and lists.
fn heading(node: Node<'_>, text: &str) -> Option<Heading> {
    let start = node.start_byte() as u32;
    if !begins_line(text, start) {
        return None;
    }
    let mut cursor = node.walk();
    let level = node.children(&mut cursor).find_map(|child| match child.kind() {
        "atx_h1_marker" | "setext_h1_underline" => Some(1),
        "atx_h2_marker" | "setext_h2_underline" => Some(2),
        "atx_h3_marker" => Some(3),
        "atx_h4_marker" => Some(4),
        "atx_h5_marker" => Some(5),
        "atx_h6_marker" => Some(6),
        _ => None,
    })?;
    let content = node.child_by_field_name("heading_content");
    let content = content.and_then(|content| text.get(content.byte_range())).unwrap_or_default();
    Some(Heading { at: line_start(text, start), level, title: title(content) })
}

/// Returns the text of a heading without emphasis, link targets, anchors and a closing run of `#`.
fn title(source: &str) -> String {
    let source = &source[..source.floor_char_boundary(MAX_TITLE_BYTES)];
    let mut title = String::new();
    let mut rest = source.trim().trim_end_matches('#').trim_end();
    while let Some(at) = rest.find(['[', ']', '*', '`', '<', '{']) {
        title.push_str(&rest[..at]);
        let closing = match rest.as_bytes()[at] {
            b']' if rest[at..].starts_with("](") => rest[at..].find(')'),
            b'<' => rest[at..].find('>'),
            b'{' if rest[at..].starts_with("{#") => rest[at..].find('}'),
            b'{' => {
                title.push('{');
                None
            }
            _ => None,
        };
        rest = &rest[at + closing.map_or(1, |end| end + 1)..];
    }
    title.push_str(rest);
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn class_of_line(line: &str) -> Option<TokenClass> {
    let is_heading = line.starts_with('#') && line.trim_start_matches('#').starts_with(' ');
    is_heading.then_some(TokenClass::Heading)
}
