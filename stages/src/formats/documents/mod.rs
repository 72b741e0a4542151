//! Documents without a language: plain text, and formats from which text is extracted.
//!
//! Extraction marks headings with `#`, as in Markdown, so that the sections of a document are preserved.

mod docx;
mod error;
mod markup;
mod notebook;
mod odt;
mod pdf;

use std::io::Read;

pub use error::ExtractError;

pub(crate) use error::MAX_LOG_BYTES;

/// A function that extracts the text of a document.
pub type Extractor = fn(&[u8]) -> Result<String, ExtractError>;

/// A document format.
#[derive(Debug)]
pub struct DocumentFormat {
    /// Name, unique among languages and document formats.
    pub name: &'static str,
    /// File extensions in lower case, without the dot.
    pub extensions: &'static [&'static str],
    /// Aliases in lower case.
    pub aliases: &'static [&'static str],
    /// The function that extracts the text, or `None` if files of the format are text.
    pub extract: Option<Extractor>,
    /// Whether the definitions in fenced code become symbols.
    pub has_code: bool,
}

/// The format of conversation logs. Only the directory of a log distinguishes it from another Markdown file.
pub const CONVERSATION: &str = "conversation";
/// The format of reasoning patterns.
pub const REASONING: &str = "reasoning";

const PLAIN: DocumentFormat =
    DocumentFormat { name: "", extensions: &[], aliases: &[], extract: None, has_code: false };

/// All document formats.
pub static DOCUMENTS: &[DocumentFormat] = &[
    DocumentFormat { name: "text", extensions: &["txt", "text"], aliases: &["plain", "plaintext"], ..PLAIN },
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

/// Returns the text of a conversation log, decompressed if necessary.
///
/// # Errors
/// Fails if the compressed log is damaged or too large.
pub fn log_text(bytes: &[u8]) -> Result<String, ExtractError> {
    if !bytes.starts_with(&GZIP_MAGIC) {
        return Ok(String::from_utf8_lossy(bytes).into_owned());
    }
    let mut text = Vec::new();
    flate2::read::MultiGzDecoder::new(bytes).take(MAX_LOG_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MAX_LOG_BYTES {
        return Err(ExtractError::LogTooLarge);
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn logs_that_unpack_to_too_much_text_are_rejected() {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        packed.write_all(&vec![b'a'; MAX_LOG_BYTES as usize + 1]).unwrap();
        assert!(matches!(log_text(&packed.finish().unwrap()), Err(ExtractError::LogTooLarge)));
    }
}
