//! Documents that are neither source code nor Markdown: plain text, and formats that text is extracted from.
//!
//! Extraction marks headings with `#`, as in Markdown, so that sections survive it.

mod docx;
mod error;
mod markup;
mod notebook;
mod odt;
mod pdf;

use std::io::Read;

pub use error::ExtractError;

use error::MAX_TEXT_BYTES;

/// Turns the bytes of a document into text.
pub type Extractor = fn(&[u8]) -> Result<String, ExtractError>;

/// A document format.
#[derive(Debug)]
pub struct DocumentFormat {
    /// Name, unique among languages and documents.
    pub name: &'static str,
    /// File extensions, lower-case, without the dot.
    pub extensions: &'static [&'static str],
    /// Aliases in lower case.
    pub aliases: &'static [&'static str],
    /// Turns bytes into text; None for formats that are text.
    pub extract: Option<Extractor>,
    /// Whether definitions in fenced code are symbols.
    pub has_code: bool,
}

/// The format of conversation logs. Only their directory distinguishes them from other Markdown.
pub const CONVERSATION: &str = "conversation";
/// The format of reasoning patterns.
pub const REASONING: &str = "reasoning";

const PLAIN: DocumentFormat =
    DocumentFormat { name: "", extensions: &[], aliases: &[], extract: None, has_code: false };

/// Every document format.
pub static DOCUMENTS: &[DocumentFormat] = &[
    DocumentFormat {
        name: "text",
        extensions: &["txt", "text", "rst", "adoc"],
        aliases: &["plain", "plaintext", "restructuredtext", "asciidoc"],
        ..PLAIN
    },
    DocumentFormat { name: "docx", extensions: &["docx"], aliases: &["word"], extract: Some(docx::text), ..PLAIN },
    DocumentFormat { name: "odt", extensions: &["odt", "fodt"], extract: Some(odt::text), ..PLAIN },
    DocumentFormat {
        name: "notebook",
        extensions: &["ipynb"],
        aliases: &["jupyter"],
        extract: Some(notebook::text),
        has_code: true,
    },
    DocumentFormat { name: "pdf", extensions: &["pdf"], extract: Some(pdf::text), ..PLAIN },
    DocumentFormat { name: CONVERSATION, extract: Some(log_text), ..PLAIN },
    DocumentFormat { name: REASONING, ..PLAIN },
];

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
