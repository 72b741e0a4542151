//! Text extraction from PDF files.
//!
//! Only the parts that contribute text are read: objects, fonts and content streams. Files are untrusted, so nesting
//! depth, memory and repeated work on the same object are bounded. The parser is part of this project because
//! hayro-syntax 0.9 and lopdf 0.47 do not bound the total size of all unpacked streams. hayro-syntax has no limit, and
//! lopdf has a limit only for each stream.

mod cmap;
mod content;
mod file;
mod filters;
mod font;
mod glyphs;
mod layout;
mod object;
mod outline;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use super::error::ExtractError;
use super::markup::push_paragraph;
use content::Fonts;
use file::PdfFile;
use object::{Dict, Object};
use outline::Title;

/// Extracts the text of a PDF file as lines, with empty lines between paragraphs. The titles of the outline become
/// headings on their pages. A file without an outline gets one heading per page.
///
/// # Errors
/// Fails if the file is encrypted, is not a PDF file, or has too much text.
pub(super) fn text(bytes: &[u8]) -> Result<String, ExtractError> {
    let file = PdfFile::open(bytes)?;
    let catalog = file.catalog()?;
    let catalog = catalog.dict().ok_or(ExtractError::NoPdf)?;
    let mut titles = outline::titles(&file, catalog)?;
    let has_outline = !titles.is_empty();
    let (mut text, mut fonts) = (String::new(), Fonts::new());
    for (index, page) in pages(&file, catalog)?.into_iter().enumerate() {
        let (node, resources) = (file.resolve(&page.node)?, file.resolve(&page.resources)?);
        let Some(dict) = node.dict() else { continue };
        let lines = content::lines(&file, &mut fonts, dict, &resources, text.len())?;
        if lines.is_empty() {
            continue;
        }
        if has_outline {
            let titles = page.node.reference().and_then(|number| titles.remove(&number)).unwrap_or_default();
            push_sections(&mut text, &lines, &titles)?;
        } else {
            push_paragraph(&mut text, &format!("Page {}", index + 1), 1)?;
            lines.lines().try_for_each(|line| push_paragraph(&mut text, line, 0))?;
        }
    }
    Ok(text)
}

/// A page that is not resolved yet. Pages are resolved one at a time, so that content that many pages share is not in
/// memory once per page.
struct Page<'f> {
    node: Object<'f>,
    /// Resources of the page, or else of the nearest ancestor with resources.
    resources: Object<'f>,
}

/// Returns the pages in order.
fn pages<'f>(file: &'f PdfFile<'_>, catalog: &Dict<'f>) -> Result<Vec<Page<'f>>, ExtractError> {
    let (mut pages, mut seen) = (Vec::new(), HashSet::new());
    let root = catalog.get(&b"Pages"[..]).cloned();
    let mut open: Vec<Page<'f>> = root.into_iter().map(|node| Page { node, resources: Object::Null }).collect();
    while let Some(Page { node, resources: inherited }) = open.pop() {
        if node.reference().is_some_and(|number| !seen.insert(number)) {
            continue;
        }
        let resolved = file.resolve(&node)?;
        let Some(dict) = resolved.dict() else { continue };
        let resources = dict.get(&b"Resources"[..]).cloned().unwrap_or(inherited);
        match file.get(dict, b"Kids")?.array() {
            Some(kids) => {
                open.extend(kids.iter().rev().map(|kid| Page { node: kid.clone(), resources: resources.clone() }));
            }
            None => pages.push(Page { node, resources }),
        }
    }
    Ok(pages)
}

/// Appends the lines of a page. A line that equals a title becomes a heading. Titles that equal no line are added
/// before the page.
fn push_sections(text: &mut String, lines: &str, titles: &[Title]) -> Result<(), ExtractError> {
    let mut unused: HashMap<String, &Title> = HashMap::new();
    for title in titles {
        unused.entry(comparable(&title.text)).or_insert(title);
    }
    let seen: HashSet<String> =
        lines.lines().map(comparable).filter(|line| !line.is_empty() && unused.contains_key(line)).collect();
    for title in titles.iter().filter(|title| !seen.contains(&comparable(&title.text))) {
        push_paragraph(text, &title.text, title.level)?;
    }
    for line in lines.lines() {
        let title = if unused.is_empty() { None } else { unused.remove(&comparable(line)) };
        push_paragraph(text, line, title.map_or(0, |title| title.level))?;
    }
    Ok(())
}

/// Returns the letters and digits of a title in lower case, without the section number at its start. Returns an empty
/// string for a line that cannot be a title.
fn comparable(title: &str) -> String {
    let unnumbered = title.trim_start_matches(|character: char| character.is_ascii_digit() || ". ".contains(character));
    unnumbered.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
