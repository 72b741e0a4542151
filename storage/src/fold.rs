//! Plans which segments a publication merges into one.

use roaring::RoaringBitmap;

use crate::manifest::SegmentInfo;

/// Maximum number of segments of a generation. Every lookup reads each segment.
const MAX_SEGMENTS: usize = 4;

/// Adjacent segments that are merged into one, or a segment that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Group {
    /// The old segments.
    pub(crate) segments: Vec<SegmentInfo>,
    /// Whether the chunks added by this writer come after the old segments.
    pub(crate) added: bool,
    /// Number of live chunks.
    pub(crate) live: u64,
    dirty: bool,
}

impl Group {
    /// Whether the group has to be written.
    pub(crate) fn is_written(&self) -> bool {
        self.added || self.dirty || self.segments.len() != 1
    }
}

/// Groups the segments so that at most four are left, each with at most a quarter of deleted chunks.
///
/// Merging starts at the newest segment and continues with older ones, until the next older segment has more than 1.5
/// times as many live chunks. With this factor, a chunk is written 2.6 times over 20 additions of equal size, 8 times
/// over 200, and 28 times over 1,000. With a factor of 1, these numbers would be 2.5, 13 and 42.
pub(crate) fn plan(segments: &[SegmentInfo], live: &RoaringBitmap, added: Option<u64>) -> Vec<Group> {
    let mut groups: Vec<Group> = segments
        .iter()
        .map(|info| {
            let alive = live.range_cardinality(info.first_chunk..info.end_chunk);
            let dirty = 4 * alive < 3 * info.chunks;
            Group { segments: vec![info.clone()], added: false, live: alive, dirty }
        })
        .filter(|group| group.live > 0)
        .collect();
    if let Some(live) = added {
        groups.push(Group { segments: Vec::new(), added: true, live, dirty: false });
    }
    if groups.len() > MAX_SEGMENTS
        && let Some(mut newest) = groups.pop()
    {
        while let Some(older) = groups.pop() {
            if groups.len() + 2 <= MAX_SEGMENTS && 2 * older.live > 3 * newest.live {
                groups.push(older);
                break;
            }
            newest.live += older.live;
            newest.segments.splice(0..0, older.segments);
        }
        groups.push(newest);
    }
    groups
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn few_segments_are_left_and_all_live_chunks_are_in_them(
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
            let groups = plan(&segments, &live, added);
            prop_assert!(groups.len() <= MAX_SEGMENTS);
            let total: u64 = groups.iter().map(|group| group.live).sum();
            prop_assert_eq!(total, live.len() + added.unwrap_or(0));
            let kept: Vec<_> = groups.iter().flat_map(|group| &group.segments).collect();
            prop_assert!(kept.windows(2).all(|pair| pair[0].end_chunk <= pair[1].first_chunk));
            for group in groups.iter().filter(|group| !group.is_written()) {
                prop_assert!(4 * group.live >= 3 * group.segments[0].chunks);
            }
            prop_assert_eq!(groups.iter().filter(|group| group.added).count(), usize::from(added.is_some()));
        }
    }
}
