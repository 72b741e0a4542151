//! How deep a text nests.

/// The scanner of the grammar fails at 253 open mappings and lists. Each column of [`is_too_deep`] stands for two at most: a
/// mapping and the list that is the value of one of its keys.
const MAX_COLUMNS: usize = 120;

/// Whether the indentation of a text opens more columns than the grammar can keep: every line opens the columns of its first
/// character and of the character after each `- `, `? ` or `: ` before its content, and ends all columns to the right of it.
pub(super) fn is_too_deep(text: &str) -> bool {
    let mut columns: Vec<usize> = Vec::new();
    text.lines().any(|line| {
        let bytes = line.as_bytes();
        let mut at = 0;
        loop {
            at += bytes[at..].iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
            if at == bytes.len() || bytes[at] == b'#' {
                return false;
            }
            while columns.pop_if(|last| *last >= at).is_some() {}
            columns.push(at);
            if columns.len() > MAX_COLUMNS {
                return true;
            }
            let is_mark = matches!(bytes[at], b'-' | b'?' | b':');
            if !is_mark || !bytes.get(at + 1).is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
                return false;
            }
            at += 1;
        }
    })
}
