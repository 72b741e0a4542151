//! Why a document has no text, and the limits of extraction.

use thiserror::Error;

/// Longest text of a document, in bytes.
pub(super) const MAX_TEXT_BYTES: u64 = 16 << 20;

/// Longest markup of a document, in bytes. A fraction of it is text.
pub(super) const MAX_MARKUP_BYTES: u64 = 4 * MAX_TEXT_BYTES;

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
    /// Not a PDF file, or one without a catalog.
    #[error("not a readable PDF file")]
    NoPdf,
    /// The text can be read with a password only.
    #[error("the document is encrypted")]
    Encrypted,
}
