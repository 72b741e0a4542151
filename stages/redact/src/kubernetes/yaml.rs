//! Finds the values of secrets in YAML manifests.

use std::ops::Range;

use memchr::memmem;

use super::keys::holds_values;

/// Calls `out` with every value below `data` or `stringData` in documents whose `kind` is `Secret`.
pub(super) fn find(text: &str, out: &mut impl FnMut(Range<usize>)) {
    let mut searched = 0;
    for kind in memmem::find_iter(text.as_bytes(), b"kind:") {
        if kind < searched || !is_secret(&text[kind..]) {
            continue;
        }
        let document = document_around(text, kind, searched);
        searched = document.end;
        values(text, document, out);
    }
}

/// Whether a text begins with `kind: Secret`.
fn is_secret(text: &str) -> bool {
    let kind = text.lines().next().and_then(|line| line.strip_prefix("kind:")).unwrap_or_default();
    kind.trim_matches([' ', '\t', '"', '\'']).eq_ignore_ascii_case("secret")
}

/// Returns the range of the YAML document that contains the offset `at`. The range does not start before `from`.
fn document_around(text: &str, at: usize, from: usize) -> Range<usize> {
    let start = text[from..at].rfind("\n---").map_or(from, |line| from + line);
    start..text[at..].find("\n---").map_or(text.len(), |line| at + line)
}

/// Calls `out` with every value below `data` or `stringData`.
fn values(text: &str, document: Range<usize>, out: &mut impl FnMut(Range<usize>)) {
    let mut start = document.start;
    // Indentation of the key that contains the values, or `None` outside of such a key.
    let mut data = None;
    for line in text[document].split_inclusive('\n') {
        let content = line.trim();
        let indent = line.len() - line.trim_start().len();
        if !content.is_empty() && !content.starts_with('#') {
            data = data.filter(|data| indent > *data);
            if data.is_some() {
                let value = content.split_once(": ").map_or(content, |(_, value)| value).trim_matches([' ', '"', '\'']);
                if !value.ends_with(':') {
                    let at = start + value.as_ptr().addr() - line.as_ptr().addr();
                    out(at..at + value.len());
                }
            } else if content.strip_suffix(':').is_some_and(holds_values) {
                data = Some(indent);
            }
        }
        start += line.len();
    }
}
