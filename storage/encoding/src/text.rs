//! A decoded text with its encoding and original bytes.

/// Name of the encoding UTF-8.
pub(crate) const UTF_8: &str = "UTF-8";

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The text, without a byte order mark.
    pub text: String,
    /// Name of the encoding from which the text was decoded.
    pub encoding: &'static str,
    /// The bytes of a line feed in the encoding. A line feed is one code unit long.
    pub newline: &'static [u8],
    /// Whether invalid bytes were replaced by U+FFFD.
    pub is_repaired: bool,
    /// The bytes of the file, if they differ from the text.
    pub original: Option<Vec<u8>>,
}

impl Text {
    /// Creates a text that was decoded from an encoding with code units of one byte.
    pub(crate) fn new(text: String, encoding: &'static str, is_repaired: bool, original: Option<Vec<u8>>) -> Self {
        Self { text, encoding, newline: b"\n", is_repaired, original }
    }
}
