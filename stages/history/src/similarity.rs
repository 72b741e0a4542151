//! How much of one file is found in another, in the units that git's rename detection counts in.

/// The score of equal files. A score is the share of the larger file that was copied, in these units.
pub(crate) const MAX_SCORE: u64 = 60_000;

/// A chunk ends at a newline or after this many bytes.
const CHUNK_BYTES: u32 = 64;
/// Chunk hashes are residues of this prime; chunks that collide count as equal, which takes part in git's scores.
const HASH_BASE: u32 = 107_927;
/// A NUL within this many bytes makes a file binary.
const BINARY_PROBE: usize = 8_000;

/// The chunks of a file: how many bytes there are of each, sorted by hash.
pub(crate) struct SpanHashes(Vec<(u32, u32)>);

impl SpanHashes {
    /// Cuts `bytes` into chunks. In text, a carriage return before a newline is left out.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let is_text = memchr::memchr(0, &bytes[..bytes.len().min(BINARY_PROBE)]).is_none();
        let mut chunks = Vec::with_capacity(bytes.len() / 24 + 1);
        let (mut low, mut high, mut len) = (0u32, 0u32, 0u32);
        for (at, &byte) in bytes.iter().enumerate() {
            if is_text && byte == b'\r' && bytes.get(at + 1) == Some(&b'\n') {
                continue;
            }
            (low, high) = ((low << 7) ^ (high >> 25), (high << 7) ^ (low >> 25));
            low = low.wrapping_add(u32::from(byte));
            len += 1;
            if len == CHUNK_BYTES || byte == b'\n' {
                chunks.push((chunk_hash(low, high), len));
                (low, high, len) = (0, 0, 0);
            }
        }
        if len > 0 {
            chunks.push((chunk_hash(low, high), len));
        }
        chunks.sort_unstable_by_key(|&(hash, _)| hash);
        chunks.dedup_by(|next, kept| {
            let same = next.0 == kept.0;
            if same {
                kept.1 = kept.1.saturating_add(next.1);
            }
            same
        });
        chunks.shrink_to_fit();
        Self(chunks)
    }

    /// The memory the counts take, in bytes.
    pub(crate) fn weight(&self) -> usize {
        self.0.len() * 8 + 64
    }

    /// How many bytes of `self` are also in `other`.
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

/// The score of files with these chunks, of which the larger one has `larger` bytes.
pub(crate) fn score(source: &SpanHashes, target: &SpanHashes, larger: u64) -> u64 {
    (source.copied_to(target) * MAX_SCORE).checked_div(larger).unwrap_or(0)
}

/// Whether the sizes alone rule out a score of `minimum`.
pub(crate) fn sizes_rule_out(source: u64, target: u64, minimum: u64) -> bool {
    let larger = source.max(target);
    larger * (MAX_SCORE - minimum) < source.abs_diff(target) * MAX_SCORE
}

fn chunk_hash(low: u32, high: u32) -> u32 {
    low.wrapping_add(high.wrapping_mul(0x61)) % HASH_BASE
}

#[cfg(test)]
mod tests {
    use super::{MAX_SCORE, SpanHashes, score, sizes_rule_out};

    #[test]
    fn scores_the_share_of_the_larger_file() {
        let old = SpanHashes::of(b"one\ntwo\nsix\nten\n");
        let new = SpanHashes::of(b"one\r\ntwo\r\nfoo\nbar\n");
        assert_eq!(score(&old, &new, 16), MAX_SCORE / 2);
        assert_eq!(score(&old, &old, 16), MAX_SCORE);
        assert!(sizes_rule_out(10, 21, MAX_SCORE / 2));
        assert!(!sizes_rule_out(10, 20, MAX_SCORE / 2));
    }
}
