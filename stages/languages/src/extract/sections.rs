//! Divides documents into sections. A section extends to the next heading of the same or a higher level.

use crate::file_symbols::{FileSymbols, Truncation};
use crate::lines::LineCounter;
use crate::outline::{Heading, Outline};
use crate::symbols::{Boundary, Symbol, SymbolKind, bounded};

/// Separator between the headings of a heading path.
const PATH_SEPARATOR: &str = " > ";

/// Divides a text into the sections of its outline. Labels become names of the sections that contain them. At most
/// `max_symbols` sections and labels are kept.
pub(crate) fn sections_of_outline(text: &str, mut outline: Outline<'_>, max_symbols: usize) -> FileSymbols {
    let mut found = sections(text, outline.headings, max_symbols);
    if outline.labels.len() > max_symbols {
        outline.labels.truncate(max_symbols);
        found.truncation = found.truncation.or(Some(Truncation::Definitions));
    }
    found.constants = outline.labels;
    found
}

/// Returns a section for each of the first `max_sections` headings, and boundaries after blank lines. The headings must
/// be in document order. Text before the first heading belongs to no section.
pub(crate) fn sections(text: &str, mut headings: Vec<Heading>, max_sections: usize) -> FileSymbols {
    let mut found = FileSymbols { boundaries: paragraphs(text), ..FileSymbols::default() };
    if headings.len() > max_sections {
        headings.truncate(max_sections);
        found.truncation = Some(Truncation::Headings);
    }
    let mut open: Vec<usize> = Vec::new();
    let mut lines = LineCounter::new(text);
    for heading in headings {
        let line = lines.line_of(heading.at as usize);
        // A section may end within a line, because a page may have several headings on one line.
        let last_line = line - u32::from(text[..heading.at as usize].ends_with('\n'));
        while let Some(last) = open.pop_if(|last| found.symbols[*last].heading_level >= heading.level) {
            close(&mut found.symbols[last], heading.at, last_line);
        }
        let parent = open.last().map(|parent| &found.symbols[*parent]);
        let symbol = section(&heading, line, parent, open.last().map(|parent| *parent as u32));
        open.push(found.symbols.len());
        found.symbols.push(symbol);
    }
    let last_line = lines.line_of(text.trim_end_matches('\n').len());
    for last in open {
        close(&mut found.symbols[last], text.len() as u32, last_line);
    }
    found
}

/// Returns the starts of the paragraphs: the lines with text that follow a blank line.
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

/// Creates a section whose end is not yet known.
fn section(heading: &Heading, line: u32, parent: Option<&Symbol>, parent_index: Option<u32>) -> Symbol {
    let title = bounded(&heading.title).to_owned();
    let qualified_name = match parent {
        Some(parent) => bounded(&format!("{}{PATH_SEPARATOR}{title}", parent.qualified_name)).to_owned(),
        None => title.clone(),
    };
    Symbol {
        kind: SymbolKind::Section,
        name: title,
        qualified_name,
        parent: parent_index,
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
    }
}

fn close(section: &mut Symbol, end: u32, last_line: u32) {
    section.bytes.end = end;
    section.lines.1 = last_line.max(section.lines.0);
}
