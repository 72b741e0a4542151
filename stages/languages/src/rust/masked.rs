//! Exposes the items in macro invocations such as `cfg_net! { pub fn … }` and `thread_local! { static … }`, which the
//! grammar parses as plain tokens.

use rustc_hash::FxHashMap;

use crate::mask::Mask;

/// Macros that contain statics. Such statics may lack semicolons or have `ref` after `static`.
const STATICS: [&str; 2] = ["thread_local", "lazy_static"];
/// Macros that are not masked: their items have a different syntax, or are templates.
const NOT_ITEMS: [&str; 6] = ["bitflags", "macro_rules", "parse_quote", "proptest", "quote", "quote_spanned"];
/// Words that begin an item.
const ITEMS: [&str; 15] = [
    "async", "const", "enum", "extern", "fn", "impl", "mod", "pub", "static", "struct", "trait", "type", "union",
    "unsafe", "use",
];

/// Masks the macros around items, and `ref` after `static`.
pub(super) fn masked(text: &str) -> Option<String> {
    let mut mask = Mask::new(text);
    let mut pairs = None;
    for mark in memchr::memchr_iter(b'!', text.as_bytes()) {
        let rest = text[mark + 1..].trim_start_matches([' ', '\t']);
        let open = text.len() - rest.len();
        let start = text[..mark].trim_end_matches(|c: char| is_word(c) || c == ':').len();
        let name = text[start..mark].rsplit(':').next().unwrap_or_default();
        let has_statics = STATICS.contains(&name) && rest.starts_with(['{', '(']);
        let has_items = rest.starts_with('{') && begins_line(text, start) && begins_with_item(&rest[1..]);
        if name.is_empty() || !(has_statics || (has_items && !NOT_ITEMS.contains(&name))) {
            continue;
        }
        let Some(close) = pairs.get_or_insert_with(|| bracket_pairs(text.as_bytes())).get(&open).copied() else {
            continue;
        };
        mask.blank(start..open + 1);
        mask.replace(close..close + 1, ";");
        if has_statics {
            for reference in memchr::memmem::find_iter(&text.as_bytes()[open..close], "static ref ") {
                mask.blank(open + reference + 7..open + reference + 10);
            }
        }
    }
    mask.text()
}

/// Whether only white space precedes a position on its line.
fn begins_line(text: &str, at: usize) -> bool {
    let before = text[..at].trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with('\n')
}

/// Whether the first word after comments and attributes begins an item.
fn begins_with_item(mut body: &str) -> bool {
    loop {
        body = body.trim_start();
        if body.starts_with("//") || body.starts_with("#[") {
            let Some((_, after)) = body.split_once('\n') else { return false };
            body = after;
            continue;
        }
        let word = body.split(|c: char| !is_word(c)).next().unwrap_or_default();
        return ITEMS.contains(&word);
    }
}

/// Returns a map from the offset of each opening bracket to the offset of its closing bracket. Ignores strings,
/// characters and comments.
fn bracket_pairs(bytes: &[u8]) -> FxHashMap<usize, usize> {
    let (mut pairs, mut open) = (FxHashMap::default(), Vec::new());
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let length = match rest {
            [b'/', b'/', ..] => rest.iter().position(|byte| *byte == b'\n'),
            [b'/', b'*', ..] => memchr::memmem::find(rest, b"*/").map(|end| end + 2),
            [b'"', ..] => string_length(rest),
            [b'\'', b'\\', _, ..] => rest[3..].iter().position(|byte| *byte == b'\'').map(|end| end + 4),
            [b'\'', _, b'\'', ..] => Some(3),
            [b'{' | b'(' | b'[', ..] => {
                open.push(at);
                Some(1)
            }
            [b'}' | b')' | b']', ..] => {
                if let Some(open) = open.pop() {
                    pairs.insert(open, at);
                }
                Some(1)
            }
            _ => Some(1),
        };
        let Some(length) = length else { break };
        at += length;
    }
    pairs
}

/// Returns the length in bytes of a string with its quotes.
fn string_length(bytes: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at + 1),
            _ => at += 1,
        }
    }
}

fn is_word(c: char) -> bool {
    c == '_' || c.is_alphanumeric()
}
