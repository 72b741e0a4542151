//! Masks references in the names of variables, such as `obj-$(CONFIG_USB) += usb.o`, which the grammar cannot read.

use std::ops::Range;

/// Replaces the special characters of references in the names of variables with underscores.
pub(super) fn masked(text: &str) -> Option<String> {
    let mut masked: Option<Vec<u8>> = None;
    let (mut at, mut continues) = (0, false);
    for line in text.split_inclusive('\n') {
        let may_assign = !continues && !line.starts_with('\t');
        let name = if may_assign { assigned_name(line) } else { None };
        if let Some(name) = name.filter(|name| line[name.clone()].contains('$')) {
            let bytes = masked.get_or_insert_with(|| text.as_bytes().to_vec());
            let is_kept = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80 || b"-._/".contains(&byte);
            let name = &mut bytes[at + name.start..at + name.end];
            name.iter_mut().filter(|byte| !is_kept(**byte)).for_each(|byte| *byte = b'_');
        }
        continues = line.trim_end_matches(['\n', '\r']).ends_with('\\');
        at += line.len();
    }
    masked.and_then(|bytes| String::from_utf8(bytes).ok())
}

/// Returns the byte range of the name in a line that assigns a variable.
fn assigned_name(line: &str) -> Option<Range<usize>> {
    let mut depth = 0u32;
    let mut words = line.trim_start();
    for prefix in ["export ", "override ", "private "] {
        words = words.strip_prefix(prefix).map_or(words, str::trim_start);
    }
    let end = words.bytes().position(|byte| {
        match byte {
            b'(' | b'{' => depth += 1,
            b')' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(byte, b'=' | b':' | b'#' | b' ' | b'\t' | b'+' | b'?')
    })?;
    let operator = words[end..].trim_start_matches([' ', '\t']);
    let is_assignment = ["=", ":=", "::=", ":::=", "+=", "?=", "!="].iter().any(|sign| operator.starts_with(sign));
    let start = line.len() - words.len();
    is_assignment.then(|| start..start + end)
}
