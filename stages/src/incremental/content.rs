//! Decoding the bytes of a file to text, or finding out why it is not indexed.

use std::borrow::Cow;
use std::sync::Arc;

/// How many bytes are searched for a NUL byte, as in git.
const BINARY_PROBE: usize = 8_000;
/// Smaller sources never count as minified.
const MINIFIED_SIZE: usize = 8 << 10;
/// Mean bytes per line from which a source counts as minified.
const MINIFIED_LINE: usize = 400;

/// The content of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum FileContent {
    /// Text, and a warning if bytes were replaced.
    Text { text: Arc<str>, warning: Option<&'static str> },
    /// Nothing to index, with the reason.
    Nothing(Cow<'static, str>),
}

/// Decodes a text file. `prose` disables the test for minified code, because a paragraph may be one long line.
pub(super) fn decode(bytes: Vec<u8>, prose: bool) -> FileContent {
    if bytes.is_empty() {
        return FileContent::Nothing("empty file".into());
    }
    if let Some(text) = decode_utf16(&bytes) {
        return FileContent::Text { text: text.into(), warning: None };
    }
    if bytes[..bytes.len().min(BINARY_PROBE)].contains(&0) {
        return FileContent::Nothing("binary".into());
    }
    if !prose && is_minified(&bytes) {
        return FileContent::Nothing("minified or bundled".into());
    }
    match String::from_utf8(bytes) {
        Ok(text) => FileContent::Text { text: text.into(), warning: None },
        Err(error) => FileContent::Text {
            text: String::from_utf8_lossy(error.as_bytes()).into(),
            warning: Some("not valid UTF-8: the bytes at fault were replaced"),
        },
    }
}

fn decode_utf16(bytes: &[u8]) -> Option<String> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xff, 0xfe, ..] => u16::from_le_bytes,
        [0xfe, 0xff, ..] => u16::from_be_bytes,
        _ => return None,
    };
    let units = bytes[2..].chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    Some(char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect())
}

fn is_minified(bytes: &[u8]) -> bool {
    if bytes.len() < MINIFIED_SIZE {
        return false;
    }
    let lines = bytes.iter().filter(|&&byte| byte == b'\n').count() + 1;
    bytes.len() / lines >= MINIFIED_LINE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> String {
        match decode(bytes.to_vec(), false) {
            FileContent::Text { text, .. } => text.to_string(),
            FileContent::Nothing(reason) => format!("<{reason}>"),
        }
    }

    #[test]
    fn bytes_become_text_or_a_reason() {
        assert_eq!(text(b"def f(): pass\n"), "def f(): pass\n");
        assert_eq!(text(b""), "<empty file>");
        assert_eq!(text(b"\x7fELF\0\0"), "<binary>");
        assert_eq!(text(b"caf\xe9"), "caf\u{fffd}");
        assert_eq!(text(b"\xff\xfeh\0i\0"), "hi");
        assert_eq!(text(b"\xfe\xff\0h\0i"), "hi");
        assert_eq!(text("x=1;".repeat(4_000).as_bytes()), "<minified or bundled>");
        assert_eq!(text("x=1;\n".repeat(4_000).as_bytes()).len(), 20_000);
    }

    #[test]
    fn prose_may_have_long_lines() {
        let paragraph = "word ".repeat(4_000).into_bytes();
        assert!(matches!(decode(paragraph, true), FileContent::Text { warning: None, .. }));
    }
}
