//! Support for AsciiDoc. Titles outside of blocks begin sections, as in Asciidoctor. Anchors and the definitions in
//! code blocks become names of their section.

#![cfg(feature = "asciidoc")]

use crate::highlight::TokenClass;
use crate::language::Language;
use crate::outline::{Ends, Line, Outline, enclosed, joined_words, lines_of, title_source};

#[cfg(test)]
mod tests;

/// AsciiDoc. Files with the extension `.asc` are left out, because most of them are signatures and keys.
pub(crate) static ASCIIDOC: Language = Language {
    line_class: Some(class_of_line),
    ..Language::document("asciidoc", &["adoc", "asciidoc"], outline, |text| outline(text).code)
};

/// The characters that underline titles, from the highest level to the lowest.
const UNDERLINES: &[u8] = b"=-~^+";
/// Minimum length of an underline.
const MIN_UNDERLINE: usize = 3;

fn outline(text: &str) -> Outline<'_> {
    let lines = lines_of(text);
    let delimiters = (0..lines.len()).filter_map(|row| Some((delimiter(lines[row].text)?, row)));
    let ends = Ends::new(delimiters);
    let mut found = Outline::default();
    let mut block = BlockStart::default();
    // Whether the line continues a paragraph.
    let mut is_paragraph = false;
    let mut row = 0;
    while let Some(line) = lines.get(row) {
        row += 1;
        if line.is_blank() {
            is_paragraph = false;
        } else if is_preprocessor_line(line.text) {
        } else if let Some(title) = Title::at(&lines, row - 1).filter(|_| !is_paragraph) {
            for (at, anchor) in enclosed(title_source(line.text), "[[", "]]") {
                found.push_label(line.at + at, anchor_id(anchor));
            }
            if !block.is_discrete {
                found.push_heading(block.at.unwrap_or(line.at), title.level, plain_title(title.text));
            }
            row += title.lines - 1;
            block = BlockStart::default();
        } else if let Some(end) = delimiter(line.text).and_then(|delimiter| ends.after(row - 1, &delimiter)) {
            let language = line.text.strip_prefix("```").map(str::trim).filter(|language| !language.is_empty());
            if let Some(language) = language.or(block.language) {
                found.push_code(language, line.end..lines[end].at);
            }
            (block, is_paragraph, row) = (BlockStart::default(), false, end + 1);
        } else if let Some(attributes) = block_attributes(line.text) {
            block.read(line.at, attributes);
            if let Some(anchor) = block_anchor(attributes) {
                found.push_label(line.at, anchor);
            }
            is_paragraph = false;
        } else if is_paragraph || !is_block_title(line.text) {
            (block, is_paragraph) = (BlockStart::default(), !is_attribute_entry(line.text));
        }
    }
    found
}

/// The lines of attributes directly before a block.
#[derive(Debug, Default)]
struct BlockStart<'t> {
    at: Option<usize>,
    /// Whether a title is a heading without a section.
    is_discrete: bool,
    /// The language of a source block.
    language: Option<&'t str>,
}

impl<'t> BlockStart<'t> {
    /// Reads the contents of `[…]`.
    fn read(&mut self, at: usize, attributes: &'t str) {
        self.at.get_or_insert(at);
        let style = attributes.split([',', '#', '.', '%']).next().unwrap_or_default().trim();
        self.is_discrete |= matches!(style, "discrete" | "float");
        if matches!(style, "source" | "") {
            let language = attributes.split(',').nth(1).map(|language| language.trim().trim_matches('"'));
            self.language = language.map(|language| language.strip_prefix("language=").unwrap_or(language));
        }
    }
}

struct Title<'t> {
    text: &'t str,
    level: usize,
    /// Number of lines, including the underline.
    lines: usize,
}

impl<'t> Title<'t> {
    /// Returns the title at line `row`. The title of a document has level 1, and its sections begin at level 2.
    fn at(lines: &[Line<'t>], row: usize) -> Option<Self> {
        let text = lines[row].text;
        let mark = text.as_bytes().first().filter(|mark| matches!(mark, b'=' | b'#'));
        if let Some(mark) = mark {
            let level = text.bytes().take_while(|byte| byte == mark).count();
            let title = text[level..].strip_prefix([' ', '\t']).filter(|_| level <= 6)?.trim();
            let closing = &text[..level];
            let title = title.strip_suffix(closing).and_then(|title| title.strip_suffix(' ')).unwrap_or(title);
            return Some(Self { text: title.trim(), level, lines: 1 });
        }
        let below = lines.get(row + 1)?.text;
        let mark = *below.as_bytes().first()?;
        let level = UNDERLINES.iter().position(|underline| *underline == mark)? + 1;
        let is_underline = below.len() >= MIN_UNDERLINE && below.bytes().all(|byte| byte == mark);
        let is_title = text.chars().any(char::is_alphanumeric) && !text.starts_with(['.', ':', '[', ' ', '\t', '/']);
        let fits = text.chars().count().abs_diff(below.len()) <= 1;
        (is_underline && is_title && fits).then_some(Self { text, level, lines: 2 })
    }
}

/// Returns the line that closes the block that a line opens, or `None` if the line is no delimiter.
fn delimiter(line: &str) -> Option<&str> {
    let mark = *line.as_bytes().first()?;
    match mark {
        b'`' => line.starts_with("```").then_some("```"),
        b'|' | b',' | b':' | b'!' => {
            (line[1..].len() >= 3 && line[1..].bytes().all(|byte| byte == b'=')).then_some(line)
        }
        b'-' | b'.' | b'=' | b'*' | b'_' | b'+' | b'/' => {
            let is_long = line.len() >= 4 || line == "--";
            (is_long && line.bytes().all(|byte| byte == mark)).then_some(line)
        }
        _ => None,
    }
}

/// Whether a line is a comment or a directive of the preprocessor, which never ends or begins a paragraph.
fn is_preprocessor_line(line: &str) -> bool {
    let is_comment = line.starts_with("//") && !line.starts_with("///");
    let directives = ["ifdef::", "ifndef::", "ifeval::", "endif::", "include::"];
    is_comment || directives.iter().any(|directive| line.starts_with(directive))
}

/// Returns the contents of a line of block attributes or of a block anchor.
fn block_attributes(line: &str) -> Option<&str> {
    line.strip_prefix('[')?.strip_suffix(']')
}

/// Whether a line is the title of a block that is not a section.
fn is_block_title(line: &str) -> bool {
    line.strip_prefix('.').is_some_and(|title| !title.starts_with(['.', ' ']) && !title.is_empty())
}

/// Whether a line sets an attribute of the document, such as `:toc: left`.
fn is_attribute_entry(line: &str) -> bool {
    let name = line.strip_prefix(':').and_then(|line| line.split_once(':')).map(|(name, _)| name);
    name.is_some_and(|name| !name.is_empty() && !name.contains(' '))
}

/// Returns the anchor in block attributes: `[[id]]`, `[#id]` or `[id=name]`.
fn block_anchor(attributes: &str) -> Option<&str> {
    if let Some(anchor) = attributes.strip_prefix('[').and_then(|anchor| anchor.strip_suffix(']')) {
        return Some(anchor_id(anchor));
    }
    attributes.split(',').map(str::trim).find_map(|attribute| {
        let named = attribute.strip_prefix("id=").map(|id| id.trim_matches(['"', '\'']));
        named.or_else(|| attribute.split_once('#').and_then(|(_, id)| id.split(['.', '%']).next()))
    })
}

/// Returns the id of an anchor without the text of references to the anchor.
fn anchor_id(anchor: &str) -> &str {
    anchor.split(',').next().unwrap_or(anchor)
}

/// Returns the text of a title without anchors, link targets and markup.
fn plain_title(source: &str) -> String {
    let mut title = String::new();
    let mut rest = title_source(source);
    while let Some(at) = rest.find(['`', '*', '[', '<']) {
        title.push_str(&rest[..at]);
        let marked = &rest[at..];
        let enclosed = |open: &str, close: &str| marked.strip_prefix(open)?.split_once(close);
        if let Some((_, after)) = enclosed("[[", "]]") {
            rest = after;
        } else if let Some((reference, after)) = enclosed("<<", ">>") {
            title.push_str(reference.split_once(',').map_or(reference, |(_, shown)| shown));
            rest = after;
        } else if let Some((shown, after)) = enclosed("[", "]").filter(|_| remove_target(&mut title)) {
            title.push_str(shown.trim_end_matches('^'));
            rest = after;
        } else {
            title.push_str(marked[..1].trim_start_matches(['`', '*']));
            rest = &marked[1..];
        }
    }
    title.push_str(rest);
    joined_words(&title)
}

/// Removes the target of a link at the end of a text, such as `https://example.org` or `xref:page.adoc#id`. Returns
/// whether there was a target.
fn remove_target(text: &mut String) -> bool {
    let start = text.rfind(' ').map_or(0, |space| space + 1);
    let has_target = text[start..].contains(':');
    if has_target {
        text.truncate(start);
    }
    has_target
}

fn class_of_line(line: &str) -> Option<TokenClass> {
    let is_heading = line.starts_with('=') && line.trim_start_matches('=').starts_with(' ');
    if is_heading {
        return Some(TokenClass::Heading);
    }
    (line.starts_with("//") && !line.starts_with("///")).then_some(TokenClass::Comment)
}
