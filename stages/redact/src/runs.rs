//! Finds long runs of characters that may occur in tokens.

use std::ops::Range;

/// Minimum length of a run that may contain a token, in bytes.
pub(crate) const MIN_RUN_BYTES: usize = 20;

/// Bytes that may occur in a token.
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

/// Returns the runs of at least [`MIN_RUN_BYTES`] bytes, in order. The search examines windows of [`MIN_RUN_BYTES`]
/// bytes, each from its end. If it finds a byte that does not occur in tokens, the next window begins after this byte,
/// so most bytes of ordinary text are skipped.
pub(crate) fn runs(text: &[u8]) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(window) = text.get(from..from + MIN_RUN_BYTES) {
            match window.iter().rposition(|byte| !IN_TOKEN[usize::from(*byte)]) {
                Some(other) => from += other + 1,
                None => {
                    let rest = &text[from + MIN_RUN_BYTES..];
                    let more = rest.iter().position(|byte| !IN_TOKEN[usize::from(*byte)]).unwrap_or(rest.len());
                    let run = from..from + MIN_RUN_BYTES + more;
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
