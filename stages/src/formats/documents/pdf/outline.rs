//! The outline of a document: section titles, and the pages on which the sections start.

use std::collections::{HashMap, HashSet};

use super::super::error::ExtractError;
use super::file::PdfFile;
use super::glyphs;
use super::object::{Dict, Object};

/// Maximum level of a heading in Markdown.
const MAX_LEVEL: usize = 6;
/// Maximum length of a title in its original encoding, in bytes. The rest of a longer title is dropped.
const MAX_TITLE_BYTES: usize = 1 << 10;

/// A title in the outline.
#[derive(Debug)]
pub(super) struct Title {
    pub(super) text: String,
    /// Level from 1 to 6.
    pub(super) level: usize,
}

/// Returns the titles, grouped by the object number of the page.
///
/// # Errors
/// Fails if the file unpacks to too much data.
pub(super) fn titles<'f>(file: &'f PdfFile<'_>, catalog: &Dict<'f>) -> Result<HashMap<u32, Vec<Title>>, ExtractError> {
    let (mut titles, mut seen): (HashMap<u32, Vec<Title>>, _) = (HashMap::new(), HashSet::new());
    let outline = file.get(catalog, b"Outlines")?;
    let first = |item: &Dict<'f>| item.get(&b"First"[..]).and_then(Object::reference);
    // Items that have not been read yet, with their levels.
    let mut open: Vec<(u32, usize)> = outline.dict().and_then(first).map(|number| (number, 1)).into_iter().collect();
    if open.is_empty() {
        return Ok(titles);
    }
    let destinations = destinations(file, catalog)?;
    while let Some((number, level)) = open.pop() {
        let item = file.resolve(&Object::Reference(number))?;
        let Some(item) = item.dict().filter(|_| seen.insert(number)) else { continue };
        if let Object::String(title) = file.get(item, b"Title")?
            && let Some(page) = page_of(file, item, &destinations)?
        {
            titles.entry(page).or_default().push(Title { text: text_of(&title), level: level.min(MAX_LEVEL) });
        }
        open.extend(item.get(&b"Next"[..]).and_then(Object::reference).map(|next| (next, level)));
        open.extend(first(item).map(|first| (first, level + 1)));
    }
    Ok(titles)
}

/// Returns the object number of the page that an item leads to.
fn page_of<'f>(
    file: &'f PdfFile<'_>,
    item: &Dict<'f>,
    destinations: &HashMap<Vec<u8>, Object<'f>>,
) -> Result<Option<u32>, ExtractError> {
    let mut destination = file.get(item, b"Dest")?;
    if let Some(action) = file.get(item, b"A")?.dict() {
        destination = file.get(action, b"D")?;
    }
    let name = match &destination {
        Object::Name(name) => Some(&name[..]),
        Object::String(name) => Some(&name[..]),
        _ => None,
    };
    if let Some(name) = name {
        let Some(named) = destinations.get(name) else { return Ok(None) };
        destination = file.resolve(named)?;
    }
    if let Some(dict) = destination.dict() {
        destination = file.get(dict, b"D")?;
    }
    Ok(destination.array().and_then(|items| items.first()).and_then(Object::reference))
}

/// Returns the named destinations. They are in a dictionary in old files, and in a name tree since PDF 1.2.
fn destinations<'f>(file: &'f PdfFile<'_>, catalog: &Dict<'f>) -> Result<HashMap<Vec<u8>, Object<'f>>, ExtractError> {
    let mut named = HashMap::new();
    if let Some(dict) = file.get(catalog, b"Dests")?.dict() {
        named.extend(dict.iter().map(|(name, destination)| (name.to_vec(), destination.clone())));
    }
    let names = file.get(catalog, b"Names")?;
    let mut open: Vec<Object<'f>> =
        names.dict().and_then(|names| names.get(&b"Dests"[..])).cloned().into_iter().collect();
    let mut seen = HashSet::new();
    while let Some(node) = open.pop() {
        if node.reference().is_some_and(|number| !seen.insert(number)) {
            continue;
        }
        let node = file.resolve(&node)?;
        let Some(node) = node.dict() else { continue };
        if let Some(pairs) = file.get(node, b"Names")?.array() {
            for pair in pairs.chunks_exact(2) {
                if let Object::String(name) = &pair[0] {
                    named.insert(name.to_vec(), pair[1].clone());
                }
            }
        }
        if let Some(kids) = file.get(node, b"Kids")?.array() {
            open.extend(kids.iter().cloned());
        }
    }
    Ok(named)
}

/// Decodes a text string, such as a title, and converts it to one line. The string is in UTF-16, in UTF-8 or in a
/// single-byte encoding.
fn text_of(string: &[u8]) -> String {
    let string = &string[..string.len().min(MAX_TITLE_BYTES)];
    let text: String = if let Some(units) = string.strip_prefix(b"\xfe\xff") {
        let units = units.chunks_exact(2).map(|pair| u16::from_be_bytes([pair[0], pair[1]]));
        char::decode_utf16(units).filter_map(Result::ok).collect()
    } else if let Some(utf_8) = string.strip_prefix(b"\xef\xbb\xbf") {
        String::from_utf8_lossy(utf_8).into_owned()
    } else {
        string.iter().map(|&code| glyphs::encoded(b"WinAnsiEncoding", code).unwrap_or(' ')).collect()
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
