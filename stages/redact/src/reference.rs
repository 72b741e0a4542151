//! Recognises references to variables and format strings, which are not secrets: `${NAME}`, `%(name)s`, `{{ name }}`,
//! `<name>`, `%s`.

/// Opening and closing texts around the name of a reference.
const BRACKETS: &[(&[u8], &[u8])] =
    &[(b"${", b"}"), (b"$(", b")"), (b"#{", b"}"), (b"{{", b"}}"), (b"%(", b")"), (b"<%", b"%>")];
/// Brackets around a whole value.
const AROUND: &[(u8, u8)] = &[(b'<', b'>'), (b'{', b'}'), (b'[', b']'), (b'(', b')'), (b'%', b'%')];
/// Conversion characters of format strings.
const CONVERSIONS: &[u8] = b"sdxuvc";
/// Flags, widths and length modifiers that may precede a conversion character.
const FLAGS: &[u8] = b"0123456789-.*hlz";
/// Minimum number of conversions from which the whole value counts as a format string.
const MIN_FORMAT_CONVERSIONS: usize = 2;

/// Returns the number of bytes of a value that belong to references.
pub(crate) fn covered_bytes(value: &[u8]) -> usize {
    if is_bracketed(value) {
        return value.len();
    }
    let (mut at, mut covered, mut conversions) = (0, 0, 0);
    while at < value.len() {
        let conversion = conversion(&value[at..]);
        conversions += usize::from(conversion > 0);
        let length = conversion.max(length(value, at));
        covered += length;
        at += length.max(1);
    }
    if conversions >= MIN_FORMAT_CONVERSIONS { value.len() } else { covered }
}

/// Whether a value is a name in brackets, or the first word of a name in brackets. The value contains only the first
/// word because the rules cut values at a space.
fn is_bracketed(value: &[u8]) -> bool {
    let [open, inner @ ..] = value else { return false };
    let Some((_, close)) = AROUND.iter().find(|(first, _)| first == open) else { return false };
    let is_word = |inner: &[u8]| inner.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_-.:/".contains(byte));
    inner.last() == Some(close) || *open != b'%' && is_word(inner)
}

/// Returns the length of the reference that begins at an offset, or 0.
fn length(value: &[u8], at: usize) -> usize {
    let text = &value[at..];
    for (open, close) in BRACKETS {
        if let Some(inner) = text.strip_prefix(*open) {
            let end = inner.windows(close.len()).position(|window| window == *close);
            // A value that was cut at a space may begin with a reference whose end is missing.
            let unclosed = if at == 0 { text.len() } else { 0 };
            return end.map_or(unclosed, |end| open.len() + end + close.len());
        }
    }
    let [b'$', rest @ ..] = text else { return 0 };
    let name = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    let begins = rest.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_');
    // In `Sup3r$ecret`, the dollar sign replaces a letter and does not begin a reference.
    let is_inside = at.checked_sub(1).is_some_and(|before| value[before].is_ascii_alphanumeric());
    let is_capital = || !rest[..name].iter().any(u8::is_ascii_lowercase);
    if begins && (!is_inside || is_capital()) { 1 + name } else { 0 }
}

/// Returns the length of the format conversion at the start of a text, or 0.
fn conversion(text: &[u8]) -> usize {
    let [b'%', rest @ ..] = text else { return 0 };
    let flags = rest.iter().take_while(|byte| FLAGS.contains(byte)).count();
    if rest.get(flags).is_some_and(|byte| CONVERSIONS.contains(byte)) { flags + 2 } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::covered_bytes;

    #[test]
    fn references_are_distinguished_from_passwords() {
        for (value, expected) in [
            ("${DB_PASSWORD}", 14),
            ("$(cat file)", 11),
            ("$PASSWORD", 9),
            ("{{ password }}", 14),
            ("%(password)s", 11),
            ("%DB_PASSWORD%", 13),
            ("<your-password>", 15),
            ("[redacted]", 10),
            ("<your", 5),
            ("%02x%s", 6),
            ("DHHC-1:%hhd:%*s:", 16),
            ("id-%s", 2),
            ("${unclosed", 10),
            ("a-$B", 2),
            ("Sup3r$ecret", 0),
            ("%k3Jd!82mX", 0),
            ("<k3Jd!82mX", 0),
            ("(k3$1d!82mX", 0),
        ] {
            assert_eq!(covered_bytes(value.as_bytes()), expected, "{value}");
        }
    }
}
