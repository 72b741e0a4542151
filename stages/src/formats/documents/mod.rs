//! Documents that are neither source code nor Markdown: plain text, and formats that text is extracted from.
//!
//! Extraction marks headings with `#`, as in Markdown, so that sections survive it.

mod docx;
mod notebook;
mod odt;

use std::io::{Cursor, Read};

use quick_xml::events::BytesRef;
use thiserror::Error;

/// Turns the bytes of a document into text.
pub type Extractor = fn(&[u8]) -> Result<String, ExtractError>;

/// A document format.
#[derive(Debug)]
pub struct DocumentFormat {
    /// Name, unique among languages and documents.
    pub name: &'static str,
    /// File extensions, lower-case, without the dot.
    pub extensions: &'static [&'static str],
    /// Turns bytes into text; None for formats that are text.
    pub extract: Option<Extractor>,
}

/// The format of conversation logs. Only their directory distinguishes them from other Markdown.
pub const CONVERSATION: &str = "conversation";
/// The format of reasoning patterns.
pub const REASONING: &str = "reasoning";

/// Every document format.
pub static DOCUMENTS: &[DocumentFormat] = &[
    DocumentFormat { name: "text", extensions: &["txt", "text", "rst", "adoc"], extract: None },
    DocumentFormat { name: "docx", extensions: &["docx"], extract: Some(docx::text) },
    DocumentFormat { name: "odt", extensions: &["odt", "fodt"], extract: Some(odt::text) },
    DocumentFormat { name: "notebook", extensions: &["ipynb"], extract: Some(notebook::text) },
    DocumentFormat { name: "pdf", extensions: &["pdf"], extract: Some(|_| Err(ExtractError::Unsupported)) },
    DocumentFormat { name: CONVERSATION, extensions: &[], extract: Some(log_text) },
    DocumentFormat { name: REASONING, extensions: &[], extract: None },
];

/// Longest text of a document, in bytes.
const MAX_TEXT_BYTES: u64 = 16 << 20;

/// Longest markup of a document, in bytes. A fraction of it is text.
const MAX_MARKUP_BYTES: u64 = 4 * MAX_TEXT_BYTES;

/// Why no text could be extracted.
#[derive(Debug, Error)]
pub enum ExtractError {
    /// Not a zip archive, or a damaged one.
    #[error("not a readable zip archive: {0}")]
    Archive(#[from] zip::result::ZipError),
    /// A part of the archive cannot be unpacked.
    #[error("cannot unpack the document: {0}")]
    Unpack(#[from] std::io::Error),
    /// The document's markup is broken.
    #[error("broken markup: {0}")]
    Markup(#[from] quick_xml::Error),
    /// Not a notebook.
    #[error("not a notebook: {0}")]
    Notebook(#[from] serde_json::Error),
    /// The text is too large.
    #[error("the text is larger than {MAX_TEXT_BYTES} bytes")]
    TooLarge,
    /// Text extraction is not available for the format.
    #[error("pdf text extraction not built in")]
    Unsupported,
}

/// The magic number of gzip.
const GZIP_MAGIC: [u8; 2] = [0x1f, 0x8b];

/// The text of a conversation log, decompressed if necessary.
///
/// # Errors
/// The compressed log is damaged, or too large.
pub fn log_text(bytes: &[u8]) -> Result<String, ExtractError> {
    if !bytes.starts_with(&GZIP_MAGIC) {
        return Ok(String::from_utf8_lossy(bytes).into_owned());
    }
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).take(MAX_TEXT_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_TEXT_BYTES {
        return Err(ExtractError::TooLarge);
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// A part of a zip archive that is markup.
fn zipped_markup(bytes: &[u8], part: &str) -> Result<String, ExtractError> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))?;
    let mut markup = String::new();
    archive.by_name(part)?.take(MAX_MARKUP_BYTES + 1).read_to_string(&mut markup)?;
    if markup.len() as u64 > MAX_MARKUP_BYTES { Err(ExtractError::TooLarge) } else { Ok(markup) }
}

/// The character that an entity stands for.
fn character(entity: &BytesRef<'_>) -> Result<Option<char>, ExtractError> {
    Ok(match entity.as_ref() {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => entity.resolve_char_ref()?,
    })
}

/// Adds a paragraph; a level of 1 or more makes it a heading.
fn push_paragraph(text: &mut String, paragraph: &str, level: usize) -> Result<(), ExtractError> {
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn issue_15_a_log_that_unpacks_to_very_much_is_refused() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&vec![b'a'; MAX_TEXT_BYTES as usize + 1]).unwrap();
        assert!(matches!(log_text(&packed.finish().unwrap()), Err(ExtractError::TooLarge)));
    }
}
