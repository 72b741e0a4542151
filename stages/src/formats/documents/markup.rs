//! Functions shared by the formats that consist of XML.

use std::io::{Cursor, Read};

use quick_xml::events::BytesRef;

use super::error::{ExtractError, MAX_MARKUP_BYTES, MAX_TEXT_BYTES};

/// Reads a part of a zip archive that contains markup.
pub(super) fn zipped_markup(bytes: &[u8], part: &str) -> Result<String, ExtractError> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))?;
    let mut markup = String::new();
    archive.by_name(part)?.take(MAX_MARKUP_BYTES + 1).read_to_string(&mut markup)?;
    if markup.len() as u64 > MAX_MARKUP_BYTES { Err(ExtractError::TooLarge) } else { Ok(markup) }
}

/// Returns the character that an entity denotes.
pub(super) fn character(entity: &BytesRef<'_>) -> Result<Option<char>, ExtractError> {
    Ok(match entity.as_ref() {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => entity.resolve_char_ref()?,
    })
}

/// Appends a paragraph. A level of 1 or more makes it a heading.
pub(super) fn push_paragraph(text: &mut String, paragraph: &str, level: usize) -> Result<(), ExtractError> {
    if level > 0 && !paragraph.trim().is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&"#".repeat(level));
        text.push(' ');
    }
    text.push_str(paragraph);
    text.push('\n');
    if text.len() as u64 > MAX_TEXT_BYTES { Err(ExtractError::TooLarge) } else { Ok(()) }
}

/// Decodes a document that is a single text file. Returns an empty string if the bytes are not text.
pub(super) fn decoded(bytes: &[u8]) -> String {
    aurora_encoding::decode(bytes.to_vec()).map(|text| text.text).unwrap_or_default()
}
