//! A text and what it was decoded from.

/// Name of the encoding that most texts are in.
pub(crate) const UTF_8: &str = "UTF-8";

/// The text of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Text {
    /// The text, without a byte order mark.
    pub text: String,
    /// Name of the encoding of the bytes.
    pub encoding: &'static str,
    /// The bytes that end a line in the encoding. They are as many as those of each of its units.
    pub newline: &'static [u8],
    /// Whether bytes that are not valid in the encoding were replaced by U+FFFD.
    pub is_repaired: bool,
    /// The bytes of the file, if they are others than those of the text.
    pub original: Option<Vec<u8>>,
}

impl Text {
    /// A text that was decoded from bytes in an encoding with units of one byte.
    pub(crate) fn of(text: String, encoding: &'static str, is_repaired: bool, original: Vec<u8>) -> Self {
        Self { text, encoding, newline: b"\n", is_repaired, original: Some(original) }
    }
}
