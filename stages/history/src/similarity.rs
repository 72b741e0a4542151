//! The similarity of two files, as git's rename detection computes it (`diffcore-delta.c`).

/// The score of equal files (git's `MAX_SCORE`). The score of two files is `MAX_SCORE` times the share of the larger
/// file that is also in the other file.
pub(crate) const MAX_SCORE: u64 = 60_000;

/// Maximum length of a span in bytes. A span ends at a newline or at this length.
const SPAN_BYTES: u32 = 64;
/// Span hashes are residues modulo this prime. Spans whose hashes collide count as equal, as in git.
const HASH_BASE: u32 = 107_927;
/// Number of bytes at the start of a file in which a zero byte means that the file is binary.
const BINARY_PROBE: usize = 8_000;

/// The spans of a file, each with its hash and its number of bytes, sorted by hash.
pub(crate) struct SpanHashes(Vec<(u32, u32)>);

impl SpanHashes {
    /// Splits `bytes` into spans. In text, a carriage return before a newline is skipped.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let is_text = memchr::memchr(0, &bytes[..bytes.len().min(BINARY_PROBE)]).is_none();
        let mut spans = Vec::with_capacity(bytes.len() / 24 + 1);
        let (mut low, mut high, mut len) = (0u32, 0u32, 0u32);
        for (at, &byte) in bytes.iter().enumerate() {
            if is_text && byte == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
                continue;
            }
            (low, high) = ((low << 7) ^ (high >> 25), (high << 7) ^ (low >> 25));
            low = low.wrapping_add(u32::from(byte));
            len += 1;
            if len == SPAN_BYTES || byte == b'\n' {
                spans.push((span_hash(low, high), len));
                (low, high, len) = (0, 0, 0);
            }
        }
        if len > 0 {
            spans.push((span_hash(low, high), len));
        }
        spans.sort_unstable_by_key(|&(hash, _)| hash);
        spans.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        spans.shrink_to_fit();
        Self(spans)
    }

    /// Returns the memory that the spans use, in bytes.
    pub(crate) fn weight(&self) -> usize {
        self.0.len() * 8 + 64
    }

    /// Returns the number of bytes of `self` in spans that `other` also has.
    fn copied_to(&self, other: &Self) -> u64 {
        let mut others = other.0.iter().peekable();
        let mut copied = 0;
        for &(hash, bytes) in &self.0 {
            while others.next_if(|other| other.0 < hash).is_some() {}
            if let Some(other) = others.next_if(|other| other.0 == hash) {
                copied += u64::from(bytes.min(other.1));
            }
        }
        copied
    }
}

/// Returns the score of two files with these spans. `larger` is the size of the larger file in bytes.
pub(crate) fn score(source: &SpanHashes, target: &SpanHashes, larger: u64) -> u64 {
    (source.copied_to(target) * MAX_SCORE).checked_div(larger).unwrap_or(0)
}

/// Whether the sizes alone rule out a score of `minimum`.
pub(crate) fn sizes_rule_out(source: u64, target: u64, minimum: u64) -> bool {
    let larger = source.max(target);
    larger * (MAX_SCORE - minimum) < source.abs_diff(target) * MAX_SCORE
}

fn span_hash(low: u32, high: u32) -> u32 {
    low.wrapping_add(high.wrapping_mul(0x61)) % HASH_BASE
}

#[cfg(test)]
mod tests {
    use super::{MAX_SCORE, SpanHashes, score, sizes_rule_out};

    #[test]
    fn the_score_is_the_common_share_of_the_larger_file() {
        let old = SpanHashes::new(b"one\ntwo\nsix\nten\n");
        let new = SpanHashes::new(b"one\r\ntwo\r\nfoo\nbar\n");
        assert_eq!(score(&old, &new, 16), MAX_SCORE / 2);
        assert_eq!(score(&old, &old, 16), MAX_SCORE);
        assert!(sizes_rule_out(10, 21, MAX_SCORE / 2));
        assert!(!sizes_rule_out(10, 20, MAX_SCORE / 2));
    }
}
