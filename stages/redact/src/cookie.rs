//! Finds session ids in cookie headers: `Cookie: session=…; theme=dark`, `Set-Cookie: JSESSIONID=…; Secure`.

use crate::entropy::is_random;
use crate::names::classify_name;
use crate::secret::Secret;

/// The common ending of the two header names. The first letter of `Cookie` is omitted because it can be upper or lower
/// case.
const HEADER: &[u8] = b"ookie: ";
/// Part of the names of session cookies, in lower case.
const SESSION: &[u8] = b"sess";
/// Ending of the names of session cookies, in lower case.
const ID: &[u8] = b"sid";
/// Maximum number of bytes of a header that are examined.
const MAX_BYTES: usize = 2048;

/// Adds the values of cookies that look random, if the name of the cookie indicates a session or a secret.
pub(crate) fn find(text: &str, found: &mut Vec<Secret>) {
    let text = text.as_bytes();
    let mut searched = 0;
    for header in memchr::memmem::find_iter(text, HEADER).map(|at| at + HEADER.len()) {
        if header < searched {
            continue;
        }
        let rest = &text[header..text.len().min(header + MAX_BYTES)];
        let ends = |byte: &u8| byte.is_ascii_control() || b"\"'`\\".contains(byte);
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        searched = header + length;
        let mut at = header;
        for cookie in rest[..length].split(|byte| *byte == b';') {
            let end = at + cookie.len();
            if let Some(sign) = memchr::memchr(b'=', cookie) {
                let value = &cookie[sign + 1..];
                if is_session(cookie[..sign].trim_ascii()) && value.is_ascii() && is_random(value) {
                    found.push(Secret { rule: "session-cookie", span: at + sign + 1..end, continues: false });
                }
            }
            at = end + 1;
        }
    }
}

fn is_session(name: &[u8]) -> bool {
    let lower = name.to_ascii_lowercase();
    memchr::memmem::find(&lower, SESSION).is_some() || lower.ends_with(ID) || classify_name(name).is_some()
}
