//! Decodes texts in legacy encodings, which predate Unicode.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, ISO_2022_JP};

use crate::declared::declared_encodings;
use crate::plausible::{are_bytes_of_text, are_characters_of_text, start_of};
use crate::text::{Text, UTF_8};

/// Maximum number of bytes that [`guess`] examines.
const GUESS_PROBE_BYTES: usize = 1 << 20;

/// Decodes bytes that are not UTF-8; `None` if they are not text.
pub(crate) fn decode(bytes: Vec<u8>) -> Option<Text> {
    if !are_bytes_of_text(start_of(&bytes)) {
        return None;
    }
    // A file with a zero byte is decoded as UTF-8: it may be a script with an archive at its end.
    if memchr::memchr(0, &bytes).is_none() {
        let declared = declared_encodings(&bytes);
        if let Some((encoding, text)) = declared.into_iter().find_map(|encoding| decode_strictly(encoding, &bytes)) {
            return Some(Text::new(text, encoding.name(), false, Some(bytes)));
        }
        if !is_mostly_utf_8(&bytes) {
            let encoding = guess(&bytes);
            let (text, is_repaired) = encoding.decode_without_bom_handling(&bytes);
            let text = text.into_owned();
            return Some(Text::new(text, encoding.name(), is_repaired, Some(bytes)));
        }
    }
    let text = String::from_utf8_lossy(&bytes).into_owned();
    Some(Text::new(text, UTF_8, true, Some(bytes)))
}

/// Decodes ISO-2022-JP, which is ASCII with escape sequences; `None` for other texts.
pub(crate) fn decode_iso_2022_jp(text: &str) -> Option<Text> {
    let bytes = text.as_bytes();
    let is_switched = || [&b"\x1b$B"[..], b"\x1b$@"].iter().any(|escape| memchr::memmem::find(bytes, escape).is_some());
    if memchr::memchr(0x1b, bytes).is_none() || !is_switched() || !bytes.is_ascii() {
        return None;
    }
    let (encoding, text) = decode_strictly(ISO_2022_JP, bytes)?;
    Some(Text::new(text, encoding.name(), false, Some(bytes.to_vec())))
}

/// Decodes bytes if all of them are valid in the encoding.
fn decode_strictly(encoding: &'static Encoding, bytes: &[u8]) -> Option<(&'static Encoding, String)> {
    let text = encoding.decode_without_bom_handling_and_without_replacement(bytes)?;
    are_characters_of_text(text.chars()).then(|| (encoding, text.into_owned()))
}

/// Whether the bytes contain more valid non-ASCII UTF-8 characters than invalid sequences.
fn is_mostly_utf_8(bytes: &[u8]) -> bool {
    let (mut valid, mut faults) = (0, 0);
    for chunk in bytes.utf8_chunks() {
        valid += chunk.valid().chars().filter(|c| !c.is_ascii()).count();
        faults += usize::from(!chunk.invalid().is_empty());
    }
    valid > faults
}

fn guess(bytes: &[u8]) -> &'static Encoding {
    // ASCII bytes before the first non-ASCII byte do not help to tell encodings apart.
    let start = bytes.iter().position(|byte| !byte.is_ascii()).unwrap_or_default();
    let probe = &bytes[start.saturating_sub(1)..bytes.len().min(start.saturating_add(GUESS_PROBE_BYTES))];
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(probe, probe.len() < GUESS_PROBE_BYTES);
    detector.guess(None, Utf8Detection::Deny)
}
