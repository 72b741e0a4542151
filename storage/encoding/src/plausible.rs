//! Heuristics that tell text from binary data.

/// Number of bytes at the start of a file that are examined to decide whether the file is text, as in git.
pub(crate) const BINARY_PROBE_BYTES: usize = 8_000;
/// Bytes are text only if at most one in this many bytes is a control character.
const CONTROL_BYTES: usize = 20;
/// Decoded characters are text only if at most one in this many characters is odd (see [`is_odd`]).
const ODD_CHARACTERS: usize = 32;

/// Returns the bytes at the start of a file that are examined to decide whether the file is text.
pub(crate) fn start_of(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(BINARY_PROBE_BYTES)]
}

/// Whether a byte is a control character that does not occur in texts. Tabs, line endings, form feeds, backspaces,
/// escapes and the end-of-file character of DOS do occur in texts.
fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=7 | 0x0e..=0x19 | 0x1c..=0x1f | 0x7f)
}

/// Whether bytes in an ASCII-compatible encoding may be text.
pub(crate) fn are_bytes_of_text(bytes: &[u8]) -> bool {
    bytes.iter().filter(|byte| is_control(**byte)).count() * CONTROL_BYTES <= bytes.len()
}

/// Whether a character is a control character, a noncharacter, a private-use character or a replacement character.
pub(crate) fn is_odd(c: char) -> bool {
    match u32::from(c) {
        code @ 0..0x80 => is_control(code as u8),
        0x80..0xa0 | 0xe000..0xf900 | 0xfdd0..0xfdf0 | 0xfffd.. if c != '\u{85}' => {
            // The supplementary planes before the private-use planes contain emoji and rare ideographs.
            !(0x1_0000..0xf_0000).contains(&u32::from(c))
        }
        _ => false,
    }
}

/// Whether decoded characters may be text.
pub(crate) fn are_characters_of_text(text: impl Iterator<Item = char>) -> bool {
    let (mut odd, mut all) = (0, 0);
    for c in text {
        if c == '\0' {
            return false;
        }
        all += 1;
        odd += usize::from(is_odd(c));
    }
    odd * ODD_CHARACTERS <= all
}
