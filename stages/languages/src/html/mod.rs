//! Support for HTML. Headings begin sections. The names of definitions in scripts become constants of the section that
//! contains the script.

#![cfg(feature = "html")]

use tree_sitter::Node;

use crate::embedded::scripts_and_styles;
use crate::language::{Language, QueryCache, Sections};
use crate::lines::{begins_line, line_start};
use crate::outline::Heading;
use crate::spans::text_of;
use crate::symbols::MAX_NAME_BYTES;

#[cfg(test)]
mod tests;

static QUERY: QueryCache = QueryCache::new();

/// HTML pages and fragments.
pub(crate) static HTML: Language = Language {
    aliases: &["html-ts", "mhtml"],
    sections: Some(Sections::Nodes { heading, max_lines: MAX_LINES }),
    embedded: Some(|text| scripts_and_styles(text, "javascript")),
    ..Language::new(
        "html",
        &["html", "htm", "xhtml"],
        || tree_sitter_html::LANGUAGE.into(),
        &[include_str!("sections.scm")],
        &QUERY,
    )
};

/// Maximum number of lines. Longer pages are generated, and are treated as plain text.
const MAX_LINES: u32 = 200_000;

/// Maximum number of bytes of a heading that are read for its title.
const MAX_TITLE_BYTES: usize = 4 * MAX_NAME_BYTES;

/// Reads a `title` element or an element `h1` to `h6`. Returns `None` if the element has no text.
fn heading(node: Node<'_>, text: &str) -> Option<Heading> {
    let start = node.start_byte() as u32;
    let tag = text_of(node.named_child(0)?.named_child(0)?, text);
    // The title of a page has level 1, because it is the heading of the text before the first `h1` to `h6`.
    let level = tag.bytes().find(u8::is_ascii_digit).map_or(1, |digit| digit - b'0');
    let at = if begins_line(text, start) { line_start(text, start) } else { start };
    let title = title(text_of(node, text));
    (!title.is_empty()).then_some(Heading { at, level, title })
}

/// Returns the text of an element without tags. Replaces the most frequent entities.
fn title(source: &str) -> String {
    let source = &source[..source.floor_char_boundary(MAX_TITLE_BYTES)];
    let mut title = String::new();
    for part in source.split('<') {
        title.push_str(part.split_once('>').map_or("", |(_, words)| words));
    }
    for (entity, character) in [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&nbsp;", " "), ("&amp;", "&")] {
        title = title.replace(entity, character);
    }
    title.split_whitespace().collect::<Vec<_>>().join(" ")
}
