//! Decodes encodings with code units of several bytes: UTF-16 and UTF-32.

use encoding_rs::{UTF_16BE, UTF_16LE};

use crate::plausible::{BINARY_PROBE_BYTES, are_characters_of_text, is_odd, start_of};
use crate::text::Text;

/// Minimum number of code units in a UTF-16 text without a byte order mark. Shorter files are not recognised as UTF-16.
const MIN_UNMARKED_UNITS: usize = 4;
/// A text in UTF-16 without a mark must have at least one white space character per this many characters.
const WHITE_SPACE: usize = 256;

/// An encoding with code units of several bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WideEncoding {
    Utf16Le,
    Utf16Be,
    Utf32Le,
    Utf32Be,
}

impl WideEncoding {
    /// Returns the encoding of the byte order mark at the start of a file, and the length of the mark in bytes.
    pub(crate) fn from_mark(bytes: &[u8]) -> Option<(Self, usize)> {
        match bytes {
            [0xff, 0xfe, 0, 0, ..] => Some((Self::Utf32Le, 4)),
            [0, 0, 0xfe, 0xff, ..] => Some((Self::Utf32Be, 4)),
            [0xff, 0xfe, ..] => Some((Self::Utf16Le, 2)),
            [0xfe, 0xff, ..] => Some((Self::Utf16Be, 2)),
            _ => None,
        }
    }

    /// Decodes the bytes after a mark. Returns the text and whether invalid bytes were replaced; `None` if the bytes
    /// are not text.
    pub(crate) fn decode_marked(self, bytes: &[u8]) -> Option<(String, bool)> {
        // A binary file may start with the same bytes as a mark. Its first few thousand code units usually reveal that
        // it is not text.
        are_characters_of_text(self.decode(start_of(bytes)).0.chars()).then(|| self.decode(bytes))
    }

    /// Decodes UTF-16 without a mark; `None` if the bytes are probably something else.
    ///
    /// Every text has spaces or line endings, and one of the two bytes of such an ASCII character is zero. The position
    /// of the zero bytes determines the byte order.
    pub(crate) fn decode_unmarked(bytes: &[u8]) -> Option<(Self, String)> {
        if !bytes.len().is_multiple_of(2) || bytes.len() < 2 * MIN_UNMARKED_UNITS {
            return None;
        }
        let zeros = |at: usize| start_of(bytes).chunks_exact(2).filter(|unit| unit[at] == 0).count();
        let encoding = if zeros(1) > zeros(0) { Self::Utf16Le } else { Self::Utf16Be };
        let decode = |bytes: &[u8]| {
            let (text, is_repaired) = encoding.decode(bytes);
            let has_only = |plausible: fn(char) -> bool| text.chars().all(plausible);
            (!is_repaired && has_only(|c| !is_odd(c))).then_some(text)
        };
        // A check of a short prefix is fast and rules out most files. The prefix may end within a surrogate pair.
        let start = &bytes[..bytes.len().min(BINARY_PROBE_BYTES / 16)];
        if encoding.decode(start).0.trim_end_matches(char::REPLACEMENT_CHARACTER).chars().any(is_odd) {
            return None;
        }
        let text = decode(bytes)?;
        let count = |is_counted: fn(char) -> bool| text.chars().filter(|c| is_counted(*c)).count();
        let all = count(|_| true);
        // Most random code units are letters of some script, but random white space is rare.
        let is_text = count(char::is_whitespace) * WHITE_SPACE >= all && count(char::is_alphabetic) * 4 >= all;
        (is_text && has_few_blocks(&text)).then_some((encoding, text))
    }

    fn decode(self, bytes: &[u8]) -> (String, bool) {
        let decoder = match self {
            Self::Utf16Le => UTF_16LE,
            Self::Utf16Be => UTF_16BE,
            Self::Utf32Le | Self::Utf32Be => return self.decode_utf_32(bytes),
        };
        let (text, is_repaired) = decoder.decode_without_bom_handling(bytes);
        (text.into_owned(), is_repaired)
    }

    fn decode_utf_32(self, bytes: &[u8]) -> (String, bool) {
        let (units, rest) = bytes.as_chunks();
        let mut is_repaired = !rest.is_empty();
        let number = if self == Self::Utf32Le { u32::from_le_bytes } else { u32::from_be_bytes };
        let text = units.iter().map(|unit| {
            char::from_u32(number(*unit)).unwrap_or_else(|| {
                is_repaired = true;
                char::REPLACEMENT_CHARACTER
            })
        });
        (text.collect(), is_repaired)
    }

    /// Creates a [`Text`] with the name and the line feed of this encoding.
    pub(crate) fn text(self, text: String, is_repaired: bool, original: Vec<u8>) -> Text {
        let (encoding, newline): (_, &[u8]) = match self {
            Self::Utf16Le => ("UTF-16LE", b"\n\0"),
            Self::Utf16Be => ("UTF-16BE", b"\0\n"),
            Self::Utf32Le => ("UTF-32LE", b"\n\0\0\0"),
            Self::Utf32Be => ("UTF-32BE", b"\0\0\0\n"),
        };
        Text { text, encoding, newline, is_repaired, original: Some(original) }
    }
}

/// Whether at least nine in ten characters are in the usual ranges (Latin-1, kana, common ideographs, Hangul), or at
/// least nine in ten are in the text's four most frequent blocks of 256 characters. The second rule covers other
/// alphabets.
fn has_few_blocks(text: &str) -> bool {
    let mut in_block = [0_usize; 256];
    let (mut all, mut usual) = (0, 0);
    for c in text.chars() {
        let code = u32::from(c);
        all += 1;
        usual +=
            usize::from(matches!(code, 0..0x100 | 0x3000..0x3100 | 0x4e00..0xa000 | 0xac00..0xd7b0 | 0xff00..0xfff0));
        in_block[(code >> 8 & 0xff) as usize] += 1;
    }
    in_block.sort_unstable_by(|left, right| right.cmp(left));
    let in_few = in_block[..4].iter().sum::<usize>();
    usual.max(in_few) * 10 >= all * 9
}
