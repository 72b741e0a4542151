//! Long runs of the characters that tokens consist of.

use std::ops::Range;

/// The length from which a run may hold a token.
pub(crate) const SHORTEST_RUN: usize = 20;

/// Bytes that may stand in a token.
const IN_TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = (byte as u8).is_ascii_alphanumeric()
            || matches!(byte as u8, b'_' | b'-' | b'+' | b'/' | b'=' | b'~' | b'%');
        byte += 1;
    }
    table
};

/// The runs of at least [`SHORTEST_RUN`] bytes, in order. Ordinary text has few, and most of its bytes are not looked at: if a
/// window of that length ends with another byte, no run begins in it.
pub(crate) fn runs(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(window) = text.get(from..from + SHORTEST_RUN) {
            match window.iter().rposition(|byte| !IN_TOKEN[usize::from(*byte)]) {
                Some(other) => from += other + 1,
                None => {
                    let rest = &text[from + SHORTEST_RUN..];
                    let more = rest.iter().position(|byte| !IN_TOKEN[usize::from(*byte)]).unwrap_or(rest.len());
                    let run = from..from + SHORTEST_RUN + more;
                    from = run.end + 1;
                    return Some(run);
                }
            }
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_maximal() {
        let text = format!("{} {}({}){}", "a".repeat(19), "b".repeat(20), "c".repeat(25), "d".repeat(3));
        let found: Vec<&str> = runs(text.as_bytes()).map(|run| &text[run]).collect();
        assert_eq!(found, ["b".repeat(20), "c".repeat(25)]);
        assert_eq!(runs(b"").count(), 0);
    }
}
