//! Tries the possible encodings of a file in order.

use crate::legacy;
use crate::plausible::start_of;
use crate::text::{Text, UTF_8};
use crate::wide::WideEncoding;

/// The UTF-8 byte order mark.
const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";

/// Decodes the bytes of a file; `None` if they are not text.
pub fn decode(bytes: Vec<u8>) -> Option<Text> {
    if let Some((encoding, mark)) = WideEncoding::from_mark(&bytes)
        && let Some((text, is_repaired)) = encoding.decode_marked(&bytes[mark..])
    {
        return Some(encoding.text(text, is_repaired, bytes));
    }
    if memchr::memchr(0, start_of(&bytes)).is_some() {
        let (encoding, text) = WideEncoding::decode_unmarked(&bytes)?;
        return Some(encoding.text(text, false, bytes));
    }
    if bytes.starts_with(UTF_8_MARK) {
        let rest = &bytes[UTF_8_MARK.len()..];
        let (text, is_repaired) = (String::from_utf8_lossy(rest).into_owned(), std::str::from_utf8(rest).is_err());
        return Some(Text::new(text, UTF_8, is_repaired, Some(bytes)));
    }
    match String::from_utf8(bytes) {
        Ok(text) => Some(legacy::decode_iso_2022_jp(&text).unwrap_or_else(|| Text::new(text, UTF_8, false, None))),
        Err(error) => legacy::decode(error.into_bytes()),
    }
}
