//! Word documents.

use quick_xml::events::{BytesStart, Event};

use super::error::ExtractError;
use super::markup::{character, push_paragraph, zipped_markup};

/// Extracts the text of a Word document: one line per paragraph, with headings marked by `#`.
///
/// # Errors
/// Fails if the bytes are not a Word document, or the text is too large.
pub(super) fn text(bytes: &[u8]) -> Result<String, ExtractError> {
    let markup = zipped_markup(bytes, "word/document.xml")?;
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
            Event::GeneralRef(entity) if in_text => paragraph.extend(character(&entity)?),
            Event::End(tag) if tag.local_name().as_ref() == "p" => {
                push_paragraph(&mut text, paragraph.trim_end(), level)?;
                paragraph.clear();
                level = 0;
            }
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(text)
}

/// Returns the level of `Title` and `Heading1` to `Heading6`, with or without a space, and 0 for other styles.
fn heading_level(style: &BytesStart<'_>) -> usize {
    let value = style.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == "val");
    let Some(value) = value else { return 0 };
    let name = value.value.to_ascii_lowercase().replace(' ', "");
    match name.strip_prefix("heading").map(str::parse) {
        Some(Ok(level @ 1..=6)) => level,
        _ => usize::from(name == "title"),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::super::error::MAX_MARKUP_BYTES;
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
    fn headings_and_paragraphs_are_extracted() {
        let bytes = docx(concat!(
            r#"<w:p><w:pPr><w:pStyle w:val="Title"/></w:pPr><w:r><w:t>Guide</w:t></w:r></w:p>"#,
            r#"<w:p><w:r><w:t>One &amp; </w:t></w:r><w:r><w:tab/><w:t xml:space="preserve">two &#233;</w:t></w:r></w:p>"#,
            r#"<w:p><w:pPr><w:pStyle w:val="Heading2"/></w:pPr><w:r><w:t>Install</w:t></w:r></w:p><w:p/>"#,
        ));
        assert_eq!(text(&bytes).unwrap(), "# Guide\nOne & \ttwo é\n\n## Install\n");
    }

    #[test]
    fn documents_that_unpack_to_too_much_text_are_rejected() {
        let paragraphs = docx(&"<w:p><w:r><w:t>a b c d e f g h i j</w:t></w:r></w:p>".repeat(1 << 20));
        assert!(paragraphs.len() < 1 << 20);
        assert!(matches!(text(&paragraphs), Err(ExtractError::TooLarge)));
        let markup = docx(&" ".repeat(MAX_MARKUP_BYTES as usize));
        assert!(matches!(text(&markup), Err(ExtractError::TooLarge)));
    }

    #[test]
    fn other_files_are_rejected() {
        assert!(text(b"PK nothing").is_err());
        assert!(text(&docx("<w:p>")).is_err());
    }
}
