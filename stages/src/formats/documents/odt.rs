//! OpenDocument texts, in an archive or as a single file.

use quick_xml::events::{BytesStart, Event};

use super::error::{ExtractError, MAX_MARKUP_BYTES};
use super::markup::{character, decoded, push_paragraph, zipped_markup};

/// Extracts the text of an OpenDocument text: one line per paragraph, with headings marked by `#`.
///
/// # Errors
/// Fails if the bytes are not an OpenDocument text, or the text is too large.
pub(super) fn text(bytes: &[u8]) -> Result<String, ExtractError> {
    let markup = match bytes.strip_prefix(b"PK") {
        Some(_) => zipped_markup(bytes, "content.xml")?,
        None if bytes.len() as u64 > MAX_MARKUP_BYTES => return Err(ExtractError::TooLarge),
        None => decoded(bytes),
    };
    let mut reader = quick_xml::Reader::from_str(&markup);
    let (mut text, mut paragraph, mut level, mut depth) = (String::new(), String::new(), 0, 0);
    loop {
        match reader.read_event()? {
            Event::Start(tag) if is_paragraph(tag.local_name().as_ref()) => {
                depth += 1;
                level = level.max(heading_level(&tag));
            }
            Event::End(tag) if is_paragraph(tag.local_name().as_ref()) => {
                depth -= 1;
                // A paragraph may contain other paragraphs in notes and frames.
                if depth == 0 {
                    push_paragraph(&mut text, paragraph.trim_end(), level)?;
                    paragraph.clear();
                    level = 0;
                } else {
                    paragraph.push(' ');
                }
            }
            Event::Start(tag) | Event::Empty(tag) if depth > 0 => match tag.local_name().as_ref() {
                "tab" => paragraph.push('\t'),
                "s" | "line-break" => paragraph.push(' '),
                _ => {}
            },
            Event::Text(part) if depth > 0 => paragraph.push_str(&part),
            Event::GeneralRef(entity) if depth > 0 => paragraph.extend(character(&entity)?),
            Event::Eof => break,
            _ => {}
        }
    }
    Ok(text)
}

fn is_paragraph(name: &str) -> bool {
    matches!(name, "p" | "h")
}

/// Returns 1 to 6 for a heading and 0 for a paragraph.
fn heading_level(tag: &BytesStart<'_>) -> usize {
    if tag.local_name().as_ref() != "h" {
        return 0;
    }
    let level = tag.attributes().flatten().find(|attribute| attribute.key.local_name().as_ref() == "outline-level");
    level.and_then(|level| level.value.parse().ok()).unwrap_or(1usize).clamp(1, 6)
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use super::*;

    const BODY: &str = r#"<office:body xmlns:office="o" xmlns:text="t"><office:text>
        <text:h text:outline-level="2">Install &amp; run</text:h>
        <text:p>One<text:tab/>two<text:s/><text:span>three</text:span></text:p><text:p/>
    </office:text></office:body>"#;

    #[test]
    fn headings_and_paragraphs_are_extracted() {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        archive.start_file("content.xml", zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(BODY.as_bytes()).unwrap();
        let packed = archive.finish().unwrap().into_inner();
        for bytes in [packed.as_slice(), BODY.as_bytes()] {
            assert_eq!(text(bytes).unwrap(), "## Install & run\nOne\ttwo three\n");
        }
        assert!(text(b"PK nothing").is_err() && text(b"<text:p>").is_ok());
    }
}
