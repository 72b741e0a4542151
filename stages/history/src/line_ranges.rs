//! Follows ranges of lines from one version of a file to an older version.
//!
//! A range starts as lines of the newest version. In an older version, the range covers the same unchanged lines and,
//! for each overlapping hunk, all lines that the hunk replaced. A range can therefore grow. At a merge, a range follows
//! several parents. It may arrive at a common ancestor of the parents in several parts, and overlapping parts are
//! merged.

use crate::line_diff::Hunk;

/// Consecutive lines of one version that belong to a range.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct RangePart {
    /// The number of the range.
    pub(crate) range: u32,
    pub(crate) start: u32,
    /// The line after the last line. Larger than `start`.
    pub(crate) end: u32,
}

/// Sorts parts by range and line, and merges overlapping or adjoining parts of the same range.
pub(crate) fn merge_adjacent(parts: &mut Vec<RangePart>) {
    if !parts.is_sorted() {
        parts.sort_unstable();
    }
    parts.dedup_by(|next, kept| {
        let is_one = next.range == kept.range && next.start <= kept.end;
        if is_one {
            kept.end = kept.end.max(next.end);
        }
        is_one
    });
}

/// Returns the lines of the old version from which `part` of the new version came, and whether a hunk touched `part`.
///
/// The result is empty if the whole part was added. A deletion touches a part only if the lines were deleted inside the
/// part. Lines deleted right before or after the part do not count, as with `git log -L`.
pub(crate) fn map_to_parent(part: RangePart, hunks: &[Hunk]) -> (RangePart, bool) {
    let first = hunks.partition_point(|hunk| hunk.after.end <= part.start);
    let end_hunk = first + hunks[first..].partition_point(|hunk| hunk.after.start < part.end);
    let touching = &hunks[first..end_hunk];
    let before = first.checked_sub(1).map(|at| &hunks[at]);
    let start = match touching.first() {
        Some(hunk) if hunk.after.start <= part.start => hunk.before.start,
        _ => shift(part.start, before),
    };
    let end = match touching.last() {
        Some(hunk) if hunk.after.end >= part.end => hunk.before.end,
        last => shift(part.end, last.or(before)),
    };
    (RangePart { start, end, ..part }, !touching.is_empty())
}

/// Converts a line number at a border between unchanged lines to the line number in the old version. `hunk` is the last
/// change before the border.
fn shift(border: u32, hunk: Option<&Hunk>) -> u32 {
    hunk.map_or(border, |hunk| border - hunk.after.end + hunk.before.end)
}

#[cfg(test)]
mod tests {
    use super::{Hunk, RangePart, map_to_parent, merge_adjacent};

    fn part(range: u32, start: u32, end: u32) -> RangePart {
        RangePart { range, start, end }
    }

    #[test]
    fn adjoining_parts_of_a_range_are_merged() {
        let mut parts = vec![part(1, 8, 9), part(0, 4, 6), part(1, 2, 5), part(0, 1, 4), part(1, 3, 4), part(2, 9, 12)];
        merge_adjacent(&mut parts);
        assert_eq!(parts, [part(0, 1, 6), part(1, 2, 5), part(1, 8, 9), part(2, 9, 12)]);
    }

    #[test]
    fn changes_touch_a_part_that_they_overlap() {
        // Lines 2..4 are new, lines 10..15 replace 8..9, and ten lines were removed before line 20.
        let hunks = [
            Hunk { before: 2..2, after: 2..4 },
            Hunk { before: 8..9, after: 10..15 },
            Hunk { before: 14..24, after: 20..20 },
        ];
        let cases = [
            ((0, 2), (0, 2, false)),
            ((0, 3), (0, 2, true)),
            ((2, 4), (2, 2, true)),
            ((4, 10), (2, 8, false)),
            ((3, 11), (2, 9, true)),
            ((12, 13), (8, 9, true)),
            ((15, 20), (9, 14, false)),
            ((20, 30), (24, 34, false)),
            ((19, 21), (13, 25, true)),
            ((0, 30), (0, 34, true)),
        ];
        for ((start, end), (old_start, old_end, touched)) in cases {
            assert_eq!(
                map_to_parent(part(7, start, end), &hunks),
                (part(7, old_start, old_end), touched),
                "{start}..{end}"
            );
        }
        assert_eq!(map_to_parent(part(0, 3, 9), &[]), (part(0, 3, 9), false));
    }
}
