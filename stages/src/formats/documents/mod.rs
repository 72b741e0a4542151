//! Documents without a language: plain text, and formats from which text is extracted.
//!
//! Extraction marks headings with `#`, as in Markdown, so that the sections of a document are preserved.

mod docx;
mod error;
mod markup;
mod notebook;
mod odt;
mod pdf;

pub use error::ExtractError;

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
    DocumentFormat { name: CONVERSATION, ..PLAIN },
    DocumentFormat { name: REASONING, ..PLAIN },
];
