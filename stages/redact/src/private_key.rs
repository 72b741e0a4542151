//! Finds private keys in the text formats of RFC 7468 and OpenPGP. Certificates and public keys are not secrets.

use std::ops::Range;

use memchr::memmem;

use crate::secret::Secret;

const BEGIN: &[u8] = b"-----BEGIN ";
const DASHES: &[u8] = b"-----";
/// Maximum length in bytes of a label, such as `RSA PRIVATE KEY`.
const MAX_LABEL_BYTES: usize = 64;
/// Minimum length in bytes of a line of a key without an end line. Such a key ends before the first shorter line.
const MIN_LINE_BYTES: usize = 40;

/// Adds the lines of private keys.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let text = text.as_bytes();
    for begin in memmem::find_iter(text, BEGIN) {
        let label = begin + BEGIN.len();
        let head = &text[label..text.len().min(label + MAX_LABEL_BYTES)];
        let Some(length) = memmem::find(head, DASHES) else { continue };
        if memmem::find(&head[..length], b"PRIVATE KEY").is_none() {
            continue;
        }
        let body = label + length + DASHES.len();
        let end = memmem::find(&text[body..], DASHES).map(|length| body + length);
        let is_closed = end.is_some_and(|end| text[end + DASHES.len()..].starts_with(b"END "));
        let lines = lines_of(text, body..end.unwrap_or(text.len()));
        let lines = lines.take_while(|line| is_closed || line.len() >= MIN_LINE_BYTES);
        let part = |(line, span)| Secret { rule: "private-key", span, continues: line > 0 };
        found.extend(lines.enumerate().map(part));
    }
}

/// Returns the words of a range that consist of base64 characters. The words may be on separate lines, in strings with
/// escapes, or in comments.
fn lines_of(text: &[u8], body: Range<usize>) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut at = body.start;
    std::iter::from_fn(move || {
        while at < body.end {
            let rest = &text[at..body.end];
            if let [b'\\', _, ..] = rest {
                at += 2;
                continue;
            }
            let length = rest.iter().position(|byte| !is_base64(*byte)).unwrap_or(rest.len());
            let word = at..at + length;
            at = word.end + usize::from(length == 0);
            if text.get(word.end) == Some(&b':') {
                // Skip the line of a header, such as `DEK-Info: …`.
                at += memchr::memchr2(b'\n', b'\\', &text[at..body.end]).unwrap_or(body.end - at);
                continue;
            }
            let is_word = text[word.clone()].iter().any(u8::is_ascii_alphanumeric);
            let begins =
                word.start == body.start || text[..word.start].ends_with(b"\\n") || is_separator(text[word.start - 1]);
            let ends = word.end == body.end || is_separator(text[word.end]);
            if is_word && begins && ends {
                return Some(word);
            }
        }
        None
    })
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=".contains(&byte)
}

fn is_separator(byte: u8) -> bool {
    byte.is_ascii_whitespace() || b"\"'`\\,<>".contains(&byte)
}
