//! Whether bytes or characters are those of a text.

/// The number of bytes that tell whether a file is a text, as in git.
pub(crate) const BINARY_PROBE: usize = 8_000;
/// In a text, at most one in this many bytes is a control character.
const CONTROL_BYTES: usize = 20;
/// In a text that was decoded, at most one in this many characters is none that people write.
const ODD_CHARACTERS: usize = 32;

/// The bytes that tell whether a file is a text.
pub(crate) fn start_of(bytes: &[u8]) -> &[u8] {
    &bytes[..bytes.len().min(BINARY_PROBE)]
}

/// Whether a byte is a control character that texts do not have. The others: tab, line ends, form feed, backspace, escape, and
/// the end of a file in DOS.
fn is_control(byte: u8) -> bool {
    matches!(byte, 0..=7 | 0x0e..=0x19 | 0x1c..=0x1f | 0x7f)
}

/// Whether bytes in an encoding that extends ASCII may be a text.
pub(crate) fn are_bytes_of_text(bytes: &[u8]) -> bool {
    bytes.iter().filter(|byte| is_control(**byte)).count() * CONTROL_BYTES <= bytes.len()
}

/// Whether a character is a control character, not a character, of private use, or takes the place of one that was not valid.
pub(crate) fn is_odd(c: char) -> bool {
    match u32::from(c) {
        code @ 0..0x80 => is_control(code as u8),
        0x80..0xa0 | 0xe000..0xf900 | 0xfdd0..0xfdf0 | 0xfffd.. if c != '\u{85}' => {
            // Beyond the basic plane are emoji and rare ideographs, before the planes for private use.
            !(0x1_0000..0xf_0000).contains(&u32::from(c))
        }
        _ => false,
    }
}

/// Whether decoded characters may be a text.
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
