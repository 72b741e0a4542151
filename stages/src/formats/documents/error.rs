//! Errors and limits of text extraction.

use thiserror::Error;

/// Maximum length of the text of a document, in bytes.
pub(super) const MAX_TEXT_BYTES: u64 = 16 << 20;

/// Maximum length of the markup of a document, in bytes. Only a fraction of the markup is text.
pub(super) const MAX_MARKUP_BYTES: u64 = 4 * MAX_TEXT_BYTES;

/// An error that prevents the extraction of text.
#[derive(Debug, Error)]
pub enum ExtractError {
    /// The file is not a zip archive, or the archive is damaged.
    #[error("not a readable zip archive: {0}")]
    Archive(#[from] zip::result::ZipError),
    /// A part of the archive cannot be unpacked.
    #[error("cannot unpack the document: {0}")]
    Unpack(#[from] std::io::Error),
    /// The markup of the document is malformed.
    #[error("broken markup: {0}")]
    Markup(#[from] quick_xml::Error),
    /// The file is not a notebook.
    #[error("not a notebook: {0}")]
    Notebook(#[from] serde_json::Error),
    /// The text is too large.
    #[error("the text is larger than {MAX_TEXT_BYTES} bytes")]
    TooLarge,
    /// The file is not a PDF file, or has no catalog.
    #[error("not a readable PDF file")]
    NoPdf,
    /// The text cannot be read without a password.
    #[error("the document is encrypted")]
    Encrypted,
}
