//! Documents that are neither source code nor Markdown: plain text, and formats that text is extracted from.
//!
//! Extraction marks headings with `#`, as in Markdown, so that sections survive it.

use std::io::{Cursor, Read};

use quick_xml::events::{BytesStart, Event};
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
    DocumentFormat { name: "docx", extensions: &["docx"], extract: Some(docx_text) },
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

/// The text of a Word document: one line for each paragraph, headings marked with `#`.
///
/// # Errors
/// The bytes are no Word document.
pub fn docx_text(bytes: &[u8]) -> Result<String, ExtractError> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))?;
    let part = archive.by_name("word/document.xml")?;
    let mut markup = String::new();
    part.take(MAX_MARKUP_BYTES + 1).read_to_string(&mut markup)?;
    if markup.len() as u64 > MAX_MARKUP_BYTES {
        return Err(ExtractError::TooLarge);
    }
    let mut reader = quick_xml::Reader::from_str(&markup);
    let (mut text, mut paragraph, mut level, mut in_text) = (String::new(), String::new(), 0, false);
    loop {
        match reader.read_event()? {
            Event::Start(tag) if tag.local_name().as_ref() == "t" => in_text = true,
            Event::End(tag) if tag.local_name().as_ref() == "t" => in_text = false,
            Event::Start(tag) | Event::Empty(tag) => match tag.local_name().as_ref() {
                "tab" => paragraph.push('\t'),
                "br" | "cr" => paragraph.push(' '),
                "pStyle" => level = heading_level(&tag),
                _ => {}
            },
            Event::Text(part) if in_text => paragraph.push_str(&part),
            Event::GeneralRef(entity) if in_text => {
                let named = match entity.as_ref() {
                    "amp" => Some('&'),
                    "lt" => Some('<'),
                    "gt" => Some('>'),
                    "quot" => Some('"'),
                    "apos" => Some('\''),
                    _ => entity.resolve_char_ref()?,
                };
                paragraph.extend(named);
            }
            Event::End(tag) if tag.local_name().as_ref() == "p" => {
                push_paragraph(&mut text, paragraph.trim_end(), level);
                paragraph.clear();
                level = 0;
                if text.len() as u64 > MAX_TEXT_BYTES {
                    return Err(ExtractError::TooLarge);
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(text)
}

/// `Title` and `Heading1` to `Heading6`, with or without a space.
fn heading_level(style: &BytesStart<'_>) -> usize {
    let value = style.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == "val");
    let Some(value) = value else { return 0 };
    let name = value.value.to_ascii_lowercase().replace(' ', "");
    match name.strip_prefix("heading").map(str::parse) {
        Some(Ok(level @ 1..=6)) => level,
        _ => usize::from(name == "title"),
    }
}

fn push_paragraph(text: &mut String, paragraph: &str, level: usize) {
    if level > 0 && !paragraph.trim().is_empty() {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&"#".repeat(level));
        text.push(' ');
    }
    text.push_str(paragraph);
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn docx(body: &str) -> Vec<u8> {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Deflated);
        archive.start_file("word/document.xml", options).unwrap();
        archive
            .write_all(
                format!(r#"<?xml version="1.0"?><w:document xmlns:w="w"><w:body>{body}</w:body></w:document>"#)
                    .as_bytes(),
            )
            .unwrap();
        archive.finish().unwrap().into_inner()
    }

    #[test]
    fn headings_and_paragraphs() {
        let bytes = docx(concat!(
            r#"<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>Guide</w:t></w:r></w:p>"#,
            r#"<w:p><w:r><w:t>One &amp; </w:t></w:r><w:r><w:tab/><w:t xml:space="preserve">two &#233;</w:t></w:r></w:p>"#,
            r#"<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Install</w:t></w:r></w:p><w:p/>"#,
        ));
        assert_eq!(docx_text(&bytes).unwrap(), "# Guide\nOne & \ttwo é\n\n## Install\n");
    }

    #[test]
    fn issue_15_what_unpacks_to_very_much_is_refused() {
        let paragraphs = docx(&"<w:p><w:r><w:t>a b c d e f g h i j</w:t></w:r></w:p>".repeat(1 << 20));
        assert!(paragraphs.len() < 1 << 20);
        assert!(matches!(docx_text(&paragraphs), Err(ExtractError::TooLarge)));
        let markup = docx(&" ".repeat(MAX_MARKUP_BYTES as usize));
        assert!(matches!(docx_text(&markup), Err(ExtractError::TooLarge)));
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&vec![b'a'; MAX_TEXT_BYTES as usize + 1]).unwrap();
        assert!(matches!(log_text(&packed.finish().unwrap()), Err(ExtractError::TooLarge)));
    }

    #[test]
    fn what_is_no_document_is_an_error() {
        assert!(docx_text(b"PK nothing").is_err());
        assert!(docx_text(&docx("<w:p>")).is_err());
    }
}
