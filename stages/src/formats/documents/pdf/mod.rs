//! PDF files.
//!
//! Only what text depends on is read: objects, fonts and content streams, none of which is trusted. Depth, memory and the work on
//! objects that are used often are bounded.

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
use file::File;
use object::{Dict, Object};
use outline::Title;

/// Counts up when the text of the same file changes.
pub(crate) const VERSION: Option<u32> = Some(1);

/// The text of a PDF file: its lines, an empty one between paragraphs. Headings are the titles of the outline, where their page
/// has them; a file without an outline has one for each page.
///
/// # Errors
/// The file is encrypted, is no PDF, or has too much text.
pub(super) fn text(bytes: &[u8]) -> Result<String, ExtractError> {
    let file = File::open(bytes)?;
    let catalog = file.catalog()?;
    let catalog = catalog.dict().ok_or(ExtractError::NoPdf)?;
    let mut titles = outline::titles(&file, catalog)?;
    let has_outline = !titles.is_empty();
    let (mut text, mut fonts) = (String::new(), Fonts::new());
    for (index, page) in pages(&file, catalog)?.into_iter().enumerate() {
        let lines = content::lines(&file, &mut fonts, &page.dict, &page.resources, text.len())?;
        if lines.is_empty() {
            continue;
        }
        if has_outline {
            let titles = page.number.and_then(|number| titles.remove(&number)).unwrap_or_default();
            push_sections(&mut text, &lines, &titles)?;
        } else {
            push_paragraph(&mut text, &format!("Page {}", index + 1), 1)?;
            lines.iter().try_for_each(|line| push_paragraph(&mut text, line, 0))?;
        }
    }
    Ok(text)
}

struct Page<'f> {
    /// None for a page that is no indirect object.
    number: Option<u32>,
    dict: Dict<'f>,
    resources: Object<'f>,
}

/// The pages in their order.
fn pages<'f>(file: &'f File<'_>, catalog: &Dict<'f>) -> Result<Vec<Page<'f>>, ExtractError> {
    let (mut pages, mut seen) = (Vec::new(), HashSet::new());
    let root = catalog.get(&b"Pages"[..]).cloned();
    let mut open: Vec<(Object<'f>, Object<'f>)> = root.into_iter().map(|root| (root, Object::Null)).collect();
    while let Some((node, inherited)) = open.pop() {
        let number = node.reference();
        if number.is_some_and(|number| !seen.insert(number)) {
            continue;
        }
        let node = file.resolve(&node)?;
        let Some(dict) = node.dict() else { continue };
        let own = file.get(dict, b"Resources")?;
        let resources = if own.dict().is_some() { own } else { inherited };
        match file.get(dict, b"Kids")?.array() {
            Some(kids) => open.extend(kids.iter().rev().map(|kid| (kid.clone(), resources.clone()))),
            None => pages.push(Page { number, dict: dict.clone(), resources }),
        }
    }
    Ok(pages)
}

/// Adds the lines of a page. A line that is a title becomes a heading; titles that no line equals stand before the page.
fn push_sections(text: &mut String, lines: &[String], titles: &[Title]) -> Result<(), ExtractError> {
    let mut places: HashMap<String, usize> = HashMap::new();
    for (at, line) in lines.iter().enumerate() {
        places.entry(comparable(line)).or_insert(at);
    }
    let mut headings: HashMap<usize, &Title> = HashMap::new();
    for title in titles {
        match places.get(&comparable(&title.text)) {
            Some(&at) => drop(headings.insert(at, title)),
            None => push_paragraph(text, &title.text, title.level)?,
        }
    }
    for (at, line) in lines.iter().enumerate() {
        push_paragraph(text, line, headings.get(&at).map_or(0, |title| title.level))?;
    }
    Ok(())
}

/// The letters and digits of a title, without the number before it.
fn comparable(title: &str) -> String {
    let unnumbered = title.trim_start_matches(|character: char| character.is_ascii_digit() || ". ".contains(character));
    unnumbered.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}
