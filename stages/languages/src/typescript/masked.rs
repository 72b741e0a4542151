//! Masks syntax that the grammar does not support: a signature that begins a line with its type parameters, after a
//! member without a semicolon. The grammar would parse the parameters as arguments of the preceding type.

use crate::mask::Mask;

pub(super) fn masked(text: &str) -> Option<String> {
    let mut mask = Mask::new(text);
    let bytes = text.as_bytes();
    // The last byte of code before the line.
    let (mut last, mut start, mut is_comment) = (b'{', 0, false);
    for line in text.split_inclusive('\n') {
        let content = line.trim();
        let open = start + line.len() - line.trim_start().len();
        start += line.len();
        is_comment |= content.starts_with("/*");
        if is_comment || content.starts_with("//") || content.is_empty() {
            is_comment &= !content.ends_with("*/");
            continue;
        }
        let parameters = content.strip_prefix('<');
        let begins_parameters =
            parameters.is_some_and(|rest| rest.is_empty() || rest.starts_with(|c: char| c.is_ascii_uppercase()));
        let ends_member =
            matches!(last, b')' | b']' | b'}' | b'>' | b'\'' | b'"' | b'_') || last.is_ascii_alphanumeric();
        if begins_parameters && ends_member && open > 0 && bytes[open - 1] == b' ' {
            mask.replace(open - 1..open, ";");
        }
        last = *content.as_bytes().last().unwrap_or(&last);
    }
    mask.text()
}
