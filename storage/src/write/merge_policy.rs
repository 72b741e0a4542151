//! The merge policy, which selects the segments that a publication merges, like the merge policies of tantivy and
//! Lucene.

use roaring::RoaringBitmap;

use crate::manifest::SegmentInfo;

/// Maximum number of segments of a generation. Every lookup reads each segment.
const MAX_SEGMENTS: usize = 4;

/// Adjacent segments to merge into one, or one segment that stays unchanged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MergeCandidate {
    /// The old segments.
    pub(crate) segments: Vec<SegmentInfo>,
    /// Whether the new chunks of the writer are merged too. They come after the old segments.
    pub(crate) has_new: bool,
    /// Number of live chunks.
    pub(crate) live: u64,
    /// Whether more than a quarter of the segment's chunks are deleted.
    has_many_deleted: bool,
}

impl MergeCandidate {
    /// Whether a new segment must be written. Otherwise, the only segment stays unchanged.
    pub(crate) fn needs_merge(&self) -> bool {
        self.has_new || self.has_many_deleted || self.segments.len() != 1
    }
}

/// Groups the segments so that at most [`MAX_SEGMENTS`] are left, and at most a quarter of the chunks of each segment
/// are deleted. `added` is the number of live chunks that the writer adds; `None` if it adds none.
///
/// If there are at most [`MAX_SEGMENTS`] segments, only segments with many deleted chunks are rewritten. Otherwise,
/// merging starts at the newest segment and continues with older segments, until few enough are left and the next older
/// segment has more than 1.5 times as many live chunks as the merged segment. With this factor, a chunk is written 2.6
/// times over 20 additions of equal size, 8 times over 200, and 28 times over 1,000. With a factor of 1, these numbers
/// would be 2.5, 13 and 42.
pub(crate) fn merge_candidates(
    segments: &[SegmentInfo],
    live: &RoaringBitmap,
    added: Option<u64>,
) -> Vec<MergeCandidate> {
    let mut candidates: Vec<MergeCandidate> = segments
        .iter()
        .map(|info| {
            let alive = live.range_cardinality(info.first_chunk..info.end_chunk);
            let has_many_deleted = 4 * alive < 3 * info.chunks;
            MergeCandidate { segments: vec![info.clone()], has_new: false, live: alive, has_many_deleted }
        })
        .filter(|candidate| candidate.live > 0)
        .collect();
    if let Some(live) = added {
        candidates.push(MergeCandidate { segments: Vec::new(), has_new: true, live, has_many_deleted: false });
    }
    if candidates.len() > MAX_SEGMENTS
        && let Some(mut newest) = candidates.pop()
    {
        while let Some(older) = candidates.pop() {
            if candidates.len() + 2 <= MAX_SEGMENTS && 2 * older.live > 3 * newest.live {
                candidates.push(older);
                break;
            }
            newest.live += older.live;
            newest.segments.splice(0..0, older.segments);
        }
        candidates.push(newest);
    }
    candidates
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_live_chunks_are_in_few_segments(
            sizes in prop::collection::vec((1u32..50, 0u32..60), 0..8),
            added in prop::option::of(1u64..50),
        ) {
            let (mut segments, mut live, mut next) = (Vec::new(), RoaringBitmap::new(), 0);
            for (number, &(size, alive)) in sizes.iter().enumerate() {
                live.insert_range(next..next + alive.min(size));
                segments.push(SegmentInfo {
                    id: number as u32, first_chunk: next, end_chunk: next + size,
                    chunks: u64::from(size), terms: 0, postings: 0, bytes: 0,
                });
                next += size;
            }
            let candidates = merge_candidates(&segments, &live, added);
            prop_assert!(candidates.len() <= MAX_SEGMENTS);
            let total: u64 = candidates.iter().map(|candidate| candidate.live).sum();
            prop_assert_eq!(total, live.len() + added.unwrap_or(0));
            let kept: Vec<_> = candidates.iter().flat_map(|candidate| &candidate.segments).collect();
            prop_assert!(kept.windows(2).all(|pair| pair[0].end_chunk <= pair[1].first_chunk));
            for candidate in candidates.iter().filter(|candidate| !candidate.needs_merge()) {
                prop_assert!(4 * candidate.live >= 3 * candidate.segments[0].chunks);
            }
            prop_assert_eq!(candidates.iter().filter(|candidate| candidate.has_new).count(), usize::from(added.is_some()));
        }
    }
}
