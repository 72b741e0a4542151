//! Finds the lines to blame instead of lines that the commits listed in `blame.ignoreRevsFile` changed. Each line that
//! such a commit changed is passed to the most similar line of the parent, as in git's `guess_line_blames`.
//!
//! The similarity of two lines is the number of byte pairs that their fingerprints share. Within a changed block, the
//! match with the highest certainty is fixed first. Later matches must not cross a fixed match, so all matches are in
//! the same order in both versions. A line without a match in its block is passed to the most similar line of the whole
//! file in the parent, if the two lines share at least [`MIN_SHARED_PAIRS`] byte pairs.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::line_diff::{DiffRegion, FileVersion, RegionKind};

/// Maximum distance of a match from the line's proportional position in the old block, in lines.
const SEARCH_DISTANCE: u32 = 10;
/// Minimum number of shared byte pairs for a match outside the changed block.
const MIN_SHARED_PAIRS: u32 = 10;
/// Within a block, the number of shared byte pairs is multiplied by `DISTANCE_SCALE - distance`, so among equally
/// similar lines the nearest line wins.
const DISTANCE_SCALE: i64 = 1_000;

/// Returns, for each line of `new`, the line of `old` to which it is passed. Contains `None` for unchanged lines and
/// lines without a match.
pub(crate) fn guess_line_blames(old: &FileVersion, new: &FileVersion, regions: &[DiffRegion]) -> Vec<Option<u32>> {
    let mut old_prints: Vec<LineFingerprint> =
        (0..old.len()).map(|line| LineFingerprint::new(old.line(line))).collect();
    let mut sources = vec![None; new.len() as usize];
    for (at, region) in regions.iter().enumerate() {
        let RegionKind::Changed(old_block) = &region.kind else { continue };
        let end = regions.get(at + 1).map_or(new.len(), |next| next.start);
        let new_block = region.start..end;
        let new_prints: Vec<LineFingerprint> =
            new_block.clone().map(|line| LineFingerprint::new(new.line(line))).collect();
        let mut matcher = LineMatcher::new(&mut old_prints, &new_prints, old_block.clone());
        if !old_block.is_empty() {
            matcher.match_within(old_block.clone(), 0..new_prints.len() as u32);
        }
        let matches = matcher.matches;
        for ((line, pairs), matched_line) in new_block.zip(&new_prints).zip(matches) {
            let in_block = match matched_line {
                LineMatch::Found { best, .. } => Some(best),
                _ => None,
            };
            sources[line as usize] = in_block.or_else(|| most_similar(&old_prints, pairs, line));
        }
    }
    sources
}

/// Returns the line of the old version that shares the most byte pairs with the new line `line`. If there are several
/// such lines, returns the line nearest to `line`. Returns `None` if no line shares at least [`MIN_SHARED_PAIRS`] byte
/// pairs.
fn most_similar(old: &[LineFingerprint], pairs: &LineFingerprint, line: u32) -> Option<u32> {
    let mut best: Option<(u32, u32)> = None;
    for (candidate, old_prints) in (0u32..).zip(old) {
        let shared = pairs.shared_with(old_prints);
        let beats = best.is_none_or(|(most, position)| {
            shared > most || (shared == most && candidate.abs_diff(line) <= position.abs_diff(line))
        });
        if shared >= MIN_SHARED_PAIRS && beats {
            best = Some((shared, candidate));
        }
    }
    best.map(|(_, position)| position)
}

/// The number of occurrences of each pair of adjacent bytes in a line. Corresponds to git's `struct fingerprint`. Case
/// is ignored, and all white-space characters count as the same byte.
#[derive(Default)]
struct LineFingerprint(FxHashMap<u16, u32>);

impl LineFingerprint {
    fn new(line: &[u8]) -> Self {
        let mut pairs = Self::default();
        let mut previous = 0u8;
        for &byte in line.iter().chain(b" ") {
            let is_space = matches!(byte, b' ' | b'\t'..=b'\r');
            let byte = if is_space { 0 } else { byte.to_ascii_lowercase() };
            if (previous, byte) != (0, 0) {
                *pairs.0.entry(u16::from_le_bytes([previous, byte])).or_insert(0) += 1;
            }
            previous = byte;
        }
        pairs
    }

    fn shared_with(&self, other: &Self) -> u32 {
        self.0.iter().filter_map(|(pair, count)| other.0.get(pair).map(|other| *count.min(other))).sum()
    }

    fn subtract(&mut self, other: &Self) {
        for (pair, taken) in &other.0 {
            if let Some(count) = self.0.get_mut(pair) {
                *count = count.saturating_sub(*taken);
            }
        }
    }
}

/// The state of matching a new line.
#[derive(Clone, Copy)]
enum LineMatch {
    /// The match is not computed yet, or was discarded because it would cross a fixed match.
    Unknown,
    /// No old line within the search distance shares a byte pair with the new line.
    None,
    /// The two most similar old lines, and the certainty of the match with `best`.
    Found { best: u32, second: u32, certainty: i64 },
}

/// Matches the new lines of one changed block with old lines. Old lines are numbered within the file, and new lines
/// within the block.
struct LineMatcher<'a> {
    old: &'a mut [LineFingerprint],
    new: &'a [LineFingerprint],
    /// The old lines of the whole block.
    block: Range<u32>,
    distance: u32,
    /// Maximum distance between new lines that may be compared with the same old line.
    influence: u32,
    matches: Vec<LineMatch>,
}

impl<'a> LineMatcher<'a> {
    fn new(old: &'a mut [LineFingerprint], new: &'a [LineFingerprint], block: Range<u32>) -> Self {
        let old_len = block.len() as u32;
        let distance = SEARCH_DISTANCE.min(old_len.saturating_sub(1));
        let influence = ((2 * distance + 1) * new.len() as u32).saturating_sub(1) / old_len.max(1);
        Self { old, new, block, distance, influence, matches: vec![LineMatch::Unknown; new.len()] }
    }

    /// Fixes the most certain match between the lines in `old` and `new`. Then processes the lines before and after the
    /// match in the same way.
    fn match_within(&mut self, old: Range<u32>, new: Range<u32>) {
        let mut open = vec![(old, new)];
        while let Some((old, new)) = open.pop() {
            let Some((line, best)) = self.most_certain_match(&old, &new) else { continue };
            self.old[best as usize].subtract(&self.new[line as usize]);
            self.invalidate_crossing_matches(line, best, &new);
            if line + 1 < new.end {
                open.push((best..old.end, line + 1..new.end));
            }
            if line > new.start {
                open.push((old.start..best + 1, new.start..line));
            }
        }
    }

    /// Returns the first line of `new` whose match has the highest certainty, and the old line that it matches.
    fn most_certain_match(&mut self, old: &Range<u32>, new: &Range<u32>) -> Option<(u32, u32)> {
        let mut most_certain: Option<(i64, u32, u32)> = None;
        for line in new.clone() {
            if matches!(self.matches[line as usize], LineMatch::Unknown) {
                self.matches[line as usize] = self.best_match(line, old);
            }
            if let LineMatch::Found { best, certainty, .. } = self.matches[line as usize]
                && most_certain.is_none_or(|(most, ..)| certainty > most)
            {
                most_certain = Some((certainty, line, best));
            }
        }
        most_certain.map(|(_, line, best)| (line, best))
    }

    fn best_match(&self, line: u32, old: &Range<u32>) -> LineMatch {
        let near = self.proportional_position(line);
        let reach = near.saturating_sub(self.distance).max(old.start)..(near + self.distance + 1).min(old.end);
        let (mut best, mut second) = ((0, old.start), (0, old.start));
        for candidate in reach {
            let shared = self.new[line as usize].shared_with(&self.old[candidate as usize]);
            let similarity = i64::from(shared) * (DISTANCE_SCALE - i64::from(candidate.abs_diff(near)));
            if similarity > best.0 {
                second = best;
                best = (similarity, candidate);
            } else if similarity > second.0 {
                second = (similarity, candidate);
            }
        }
        match best.0 {
            0 => LineMatch::None,
            similarity => LineMatch::Found { best: best.1, second: second.1, certainty: 2 * similarity - second.0 },
        }
    }

    /// Returns the position of `line`, scaled from the size of the new block to the size of the old block.
    fn proportional_position(&self, line: u32) -> u32 {
        let (old_len, new_len) = (self.block.len() as u64, self.new.len() as u64);
        self.block.start + ((u64::from(line) * 2 + 1) * old_len / (new_len * 2)) as u32
    }

    /// Discards matches that would cross the match of `line` with `matched_line`.
    fn invalidate_crossing_matches(&mut self, line: u32, matched_line: u32, new: &Range<u32>) {
        let first = line.saturating_sub(self.influence).max(new.start);
        let end = (line + self.influence + 1).min(new.end);
        for other in first..end {
            if let LineMatch::Found { best, second, .. } = self.matches[other as usize] {
                let crosses = match other.cmp(&line) {
                    std::cmp::Ordering::Less => best >= matched_line || second >= matched_line,
                    std::cmp::Ordering::Equal => false,
                    std::cmp::Ordering::Greater => best <= matched_line || second <= matched_line,
                };
                if crosses {
                    self.matches[other as usize] = LineMatch::Unknown;
                }
            }
        }
    }
}
