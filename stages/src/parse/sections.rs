//! Documents as sections: every heading encloses what follows it up to the next heading of its rank.

use tree_sitter::Node;

use crate::parse::docs::begins_line;
use crate::parse::symbols::{Boundary, FileSymbols, LONGEST_NAME, Symbol, SymbolKind, bounded};

/// Joins the headings of a heading path.
const PATH_SEPARATOR: &str = " > ";

/// Lines longer than this are no headings in plain text.
const LONGEST_PLAIN_HEADING: usize = 80;

/// Bytes of a heading that its title is taken from.
const LONGEST_TITLE: usize = 4 * LONGEST_NAME;

/// A heading: where its line starts, its rank (1 is the highest) and its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) at: u32,
    pub(crate) level: u8,
    pub(crate) title: String,
}

impl Heading {
    /// Reads an `atx_heading` or `setext_heading` node. None for headings inside quotes and lists.
    pub(crate) fn of_markdown(node: Node<'_>, text: &str) -> Option<Self> {
        if !begins_line(text, node.start_byte() as u32) {
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
        let title = content.and_then(|content| text.get(content.byte_range())).unwrap_or_default();
        Some(Self { at: line_start(text, node.start_byte()) as u32, level, title: markdown_title(title) })
    }
}

/// A heading's text without emphasis marks, link targets, anchors and a closing run of `#`.
fn markdown_title(source: &str) -> String {
    let source = &source[..source.floor_char_boundary(LONGEST_TITLE)];
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

/// Headings of plain text: lines underlined with a run of one punctuation character (the characters rank in order of
/// appearance), numbered lines (`2.1 Scope`, ranked by the number) and lines in capitals, each after a blank line.
/// Text extracted from other formats marks its headings with `#`.
pub(crate) fn plain_headings(text: &str) -> Vec<Heading> {
    let mut underlines: Vec<u8> = Vec::new();
    let mut found: Vec<Heading> = Vec::new();
    let mut after_blank = true;
    let mut lines = text.split_inclusive('\n').peekable();
    let mut at = 0;
    while let Some(line) = lines.next() {
        let title = line.trim();
        let below = lines.peek().map_or("", |next| next.trim());
        if let Some(level) = hash_rank(title) {
            found.push(Heading { at, level, title: title.trim_start_matches('#').trim().to_owned() });
        } else if let Some(mark) = underline(title, below).filter(|_| after_blank) {
            let rank = underlines.iter().position(|seen| *seen == mark).unwrap_or_else(|| {
                underlines.push(mark);
                underlines.len() - 1
            });
            found.push(Heading { at, level: (rank + 1).min(6) as u8, title: title.to_owned() });
        } else if let Some(level) = plain_rank(title).filter(|_| after_blank && below.is_empty()) {
            found.push(Heading { at, level, title: title.to_owned() });
        }
        after_blank = title.is_empty();
        at += line.len() as u32;
    }
    found
}

fn hash_rank(title: &str) -> Option<u8> {
    let hashes = title.bytes().take_while(|b| *b == b'#').count();
    ((1..=6).contains(&hashes) && title.as_bytes().get(hashes) == Some(&b' ')).then_some(hashes as u8)
}

fn underline(title: &str, below: &str) -> Option<u8> {
    let mark = *below.as_bytes().first()?;
    let is_rule = below.len() >= 3 && b"=-~^\"*+#".contains(&mark) && below.bytes().all(|b| b == mark);
    let fits = title.chars().count() <= LONGEST_PLAIN_HEADING && below.len() + 2 >= title.chars().count();
    (is_rule && fits && title.chars().any(char::is_alphanumeric)).then_some(mark)
}

fn plain_rank(title: &str) -> Option<u8> {
    if title.chars().count() > LONGEST_PLAIN_HEADING || title.ends_with(['.', ',', ';']) {
        return None;
    }
    let letters = title.chars().filter(|c| c.is_alphabetic()).count();
    let (number, rest) = title.split_once(' ').unwrap_or((title, ""));
    let number = number.trim_end_matches(['.', ')']);
    let is_number = !number.is_empty()
        && number.len() <= 8
        && number.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
    if is_number && rest.trim_start().starts_with(char::is_uppercase) {
        return Some((number.split('.').count() + 1).min(6) as u8);
    }
    (letters >= 4 && title.chars().all(|c| !c.is_lowercase())).then_some(2)
}

/// Sections for headings in document order. Text before the first heading belongs to none. Blank lines are where
/// sections may be cut. Of the headings the first `most` count.
pub(crate) fn symbols(text: &str, mut headings: Vec<Heading>, most: usize) -> FileSymbols {
    let mut found = FileSymbols { boundaries: paragraphs(text), ..FileSymbols::default() };
    if headings.len() > most {
        headings.truncate(most);
        found.cut = Some("more headings than `max_symbols`: what follows them belongs to the last section");
    }
    let mut open: Vec<usize> = Vec::new();
    let mut lines = LineCounter { text, at: 0, line: 1 };
    for heading in headings {
        let line = lines.at(heading.at as usize);
        while let Some(last) = open.pop_if(|last| found.symbols[*last].heading_level >= heading.level) {
            close(&mut found.symbols[last], heading.at, line - 1);
        }
        let parent = open.last().map(|parent| *parent as u32);
        let title = bounded(&heading.title).to_owned();
        let qualified_name = match open.last() {
            Some(parent) => {
                let path = format!("{}{PATH_SEPARATOR}{title}", found.symbols[*parent].qualified_name);
                bounded(&path).to_owned()
            }
            None => title.clone(),
        };
        open.push(found.symbols.len());
        found.symbols.push(Symbol {
            kind: SymbolKind::Section,
            name: title,
            qualified_name,
            parent,
            owner: None,
            bytes: heading.at..heading.at,
            lines: (line, line),
            body: None,
            signature: String::new(),
            doc: String::new(),
            doc_bytes: None,
            calls: Vec::new(),
            bases: Vec::new(),
            branches: 0,
            loops: 0,
            exported: true,
            heading_level: heading.level,
        });
    }
    let last_line = lines.at(text.trim_end_matches('\n').len());
    for last in open {
        close(&mut found.symbols[last], text.len() as u32, last_line);
    }
    found
}

fn close(symbol: &mut Symbol, end: u32, last_line: u32) {
    symbol.bytes.end = end;
    symbol.lines.1 = last_line.max(symbol.lines.0);
}

/// Starts of the lines that follow a blank line.
fn paragraphs(text: &str) -> Vec<Boundary> {
    let mut found = Vec::new();
    let (mut at, mut after_blank) = (0, false);
    for line in text.split_inclusive('\n') {
        let is_blank = line.trim().is_empty();
        if after_blank && !is_blank {
            found.push(Boundary { at, depth: 1 });
        }
        after_blank = is_blank;
        at += line.len() as u32;
    }
    found
}

/// Line numbers of offsets that are asked for in ascending order.
struct LineCounter<'t> {
    text: &'t str,
    at: usize,
    line: u32,
}

impl LineCounter<'_> {
    fn at(&mut self, offset: usize) -> u32 {
        let passed = self.text.as_bytes().get(self.at..offset).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', passed).count() as u32;
        self.at = self.at.max(offset);
        self.line
    }
}

fn line_start(text: &str, at: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |feed| feed + 1)
}
