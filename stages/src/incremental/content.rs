//! Decodes the bytes of a file to text, or determines why the file is not indexed.

use std::borrow::Cow;
use std::io;

use aurora_encoding::Text;
use aurora_languages::by_name;

use crate::formats;

/// Minimum size of a minified source, in bytes.
const MIN_MINIFIED_BYTES: usize = 8 << 10;
/// Minimum mean length of a line in a minified source, in bytes.
const MIN_MINIFIED_LINE_BYTES: usize = 400;
/// Maximum size in bytes of a text without a language, or in a declarative language that is not a schema language. A
/// larger text is treated as data.
const MAX_DATA_BYTES: usize = 512 << 10;
/// Minimum size in bytes of a text that is treated as data because it consists of numbers.
const MIN_NUMBERS_BYTES: usize = 16 << 10;
/// Maximum number of bytes that are searched for letters.
const MAX_PROBE_BYTES: usize = 64 << 10;
/// A text without a language consists of numbers if fewer than 1/`LETTER_FRACTION` of its visible bytes are letters.
const LETTER_FRACTION: usize = 4;

/// The bytes of a file.
pub(super) enum FileBytes {
    /// All bytes; of a conversation log, the decompressed bytes.
    Whole(Vec<u8>),
    /// A conversation log that is read in parts.
    LargeLog,
    /// A conversation log that cannot be decompressed.
    Damaged(io::Error),
    /// A conversation log with a long run of zeros.
    Binary,
}

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileContent {
    /// A conversation log that is read in parts.
    LargeLog,
    /// Text.
    Text {
        text: String,
        /// Format of the text, if it differs from the format that the file name implies.
        format: Option<&'static str>,
        /// Warning about invalid bytes that were replaced.
        warning: Option<String>,
        /// Original bytes of the file, if they differ from the text.
        original: Option<Vec<u8>>,
    },
    /// The file has no content to index, for the given reason.
    Nothing(Cow<'static, str>),
}

/// Decodes a text file. `format` is the format that the file name implies.
pub(super) fn decode(bytes: Vec<u8>, path: &str, format: &str) -> FileContent {
    let Some(Text { text, encoding, is_repaired, original, .. }) = aurora_encoding::decode(bytes) else {
        return FileContent::Nothing("binary".into());
    };
    if text.is_empty() {
        return FileContent::Nothing("empty file".into());
    }
    let warning = is_repaired.then(|| format!("not valid {encoding}: the invalid bytes were replaced"));
    let is_unknown = format == formats::UNKNOWN;
    let found = formats::format_of_text(path, format, &text);
    if let Some(reason) = without_content(&text, found.unwrap_or(format), is_unknown) {
        return FileContent::Nothing(reason.into());
    }
    FileContent::Text { text, format: found, warning, original }
}

/// Returns the reason why a text has no searchable content, or `None` if it has. `is_unknown` means that the file name
/// implies no format.
fn without_content(text: &str, format: &str, is_unknown: bool) -> Option<&'static str> {
    let language = by_name(format);
    let is_plain = language.is_none() && is_unknown;
    let is_declarative = language.is_some_and(|language| language.is_declarative);
    let may_be_data = is_plain || is_declarative && !language.is_some_and(|language| language.is_schema);
    if may_be_data && text.len() > MAX_DATA_BYTES || is_plain && consists_of_numbers(text) {
        return Some("data");
    }
    // A paragraph of prose may be one long line.
    let is_prose = formats::is_prose(format) && !is_unknown;
    let has_long_lines = || if is_plain || is_declarative { "data" } else { "minified or bundled" };
    (!is_prose && is_minified(text)).then(has_long_lines)
}

fn is_minified(text: &str) -> bool {
    if text.len() < MIN_MINIFIED_BYTES {
        return false;
    }
    let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() + 1;
    text.len() / lines >= MIN_MINIFIED_LINE_BYTES
}

fn consists_of_numbers(text: &str) -> bool {
    if text.len() < MIN_NUMBERS_BYTES {
        return false;
    }
    let probe = &text.as_bytes()[..text.len().min(MAX_PROBE_BYTES)];
    // Letters outside ASCII consist of bytes from 0x80.
    let letters = probe.iter().filter(|byte| byte.is_ascii_alphabetic() || **byte >= 0x80).count();
    let visible = probe.iter().filter(|byte| !byte.is_ascii_whitespace()).count();
    letters * LETTER_FRACTION < visible
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(path: &str, bytes: &[u8]) -> String {
        let format = formats::format_of(path).unwrap_or(formats::UNKNOWN);
        match decode(bytes.to_vec(), path, format) {
            FileContent::Text { text, format, .. } => {
                format.map(|format| format!("{format}: ")).unwrap_or_default() + &text
            }
            FileContent::Nothing(reason) => format!("<{reason}>"),
            FileContent::LargeLog => unreachable!("the file is not a log"),
        }
    }

    #[test]
    fn bytes_are_decoded_or_the_reason_is_returned() {
        assert_eq!(text("a.py", b"def f(): pass\n"), "def f(): pass\n");
        assert_eq!(text("a.py", b""), "<empty file>");
        assert_eq!(text("a.py", b"\xef\xbb\xbf"), "<empty file>");
        assert_eq!(text("a.py", b"\x7fELF\0\0"), "<binary>");
        assert_eq!(text("a.py", b"caf\xe9"), "caf\u{e9}");
        assert_eq!(text("a.py", "na\u{ef}ve\u{fffd}".as_bytes()), "na\u{ef}ve\u{fffd}");
        assert_eq!(text("a.py", b"na\xc3\xafve caf\xc3\xa9 \xe9"), "na\u{ef}ve caf\u{e9} \u{fffd}");
        assert_eq!(text("a.py", b"\xef\xbb\xbfhi"), "hi");
        assert_eq!(text("run", b"\xef\xbb\xbf#!/usr/bin/python3\n"), "python: #!/usr/bin/python3\n");
        assert_eq!(text("a.py", b"\xff\xfeh\0i\0"), "hi");
        assert_eq!(text("a.py", b"\xfe\xff\0h\0i"), "hi");
        assert_eq!(text("a.js", "x=1;".repeat(4_000).as_bytes()), "<minified or bundled>");
        assert_eq!(text("a.js", "x=1;\n".repeat(4_000).as_bytes()).len(), 20_000);
    }

    #[test]
    fn texts_without_a_format_are_plain_text_or_data() {
        assert_eq!(text("NOTES", b"words\n"), "text: words\n");
        assert_eq!(text("run", b"#!/usr/bin/python3\n"), "python: #!/usr/bin/python3\n");
        assert_eq!(text("tool", b"\x7fELF\0\0"), "<binary>");
        assert_eq!(text("table", "1.25 17 0x1f\n".repeat(4_000).as_bytes()), "<data>");
        assert_eq!(text("words", "a few words\n".repeat(60_000).as_bytes()), "<data>");
        assert_eq!(text("words", "a few words\n".repeat(4_000).as_bytes()).len(), 48_006);
        assert_eq!(text("words", "words ".repeat(4_000).as_bytes()), "<data>", "one line");
    }

    #[test]
    fn a_large_schema_is_not_data() {
        let large = |line: &str| line.repeat(MAX_DATA_BYTES / line.len() + 1);
        assert_eq!(text("a.yaml", large("a: b\n").as_bytes()), "<data>");
        for (path, line) in [("a.graphql", "type A { a: Int }\n"), ("a.proto", "message A {}\n")] {
            assert!(text(path, large(line).as_bytes()).len() > MAX_DATA_BYTES, "{path}");
        }
    }

    #[test]
    fn prose_may_have_long_lines() {
        let paragraph = "word ".repeat(4_000);
        assert_eq!(text("a.txt", paragraph.as_bytes()).len(), paragraph.len());
    }
}
