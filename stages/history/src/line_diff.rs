//! Line diffs as git computes them: git trims the common tail in blocks, and then uses Myers' algorithm with the indent
//! heuristic.

use gix_imara_diff::{Algorithm, Diff, IndentHeuristic, IndentLevel, NoSliderHeuristic, SliderHeuristic as _, Token};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher as _;
use std::ops::Range;

use crate::common_affix::{common_prefix, common_suffix};

/// A hunk: the lines `before` of the old version were replaced by the lines `after` of the new version. Either range
/// may be empty.
pub(crate) use gix_imara_diff::Hunk;

/// Maximum size of a file that is compared, in bytes. A larger file is not attributed. A larger old version counts as
/// missing.
pub(crate) const MAX_FILE_BYTES: usize = 64 << 20;
/// The tab width that git's indent heuristic assumes.
const TAB_WIDTH: u8 = 8;
/// The size in bytes of the blocks in which git trims the common tail (`trim_common_tail` in `xdiff-interface.c`).
const TAIL_BLOCK: usize = 1024;

/// Interns the distinct lines of all versions of one file. Lines with equal 64-bit hashes count as equal.
#[derive(Default)]
pub(crate) struct LineInterner {
    ids: FxHashMap<u64, u32>,
    indents: Vec<IndentLevel>,
}

/// One version of a file: its bytes, and for each line, the offset and the token in the [`LineInterner`].
pub(crate) struct FileVersion {
    pub(crate) bytes: Vec<u8>,
    lines: Vec<Token>,
    starts: Vec<u32>,
}

impl FileVersion {
    /// Returns the number of lines, including a last line without a newline.
    pub(crate) fn len(&self) -> u32 {
        self.lines.len() as u32
    }

    /// Returns the memory that this version uses, in bytes.
    pub(crate) fn weight(&self) -> usize {
        self.bytes.len() + 8 * self.lines.len()
    }

    /// Returns the bytes of line `line`, with its newline.
    pub(crate) fn line(&self, line: u32) -> &[u8] {
        let end = self.starts.get(line as usize + 1).map_or(self.bytes.len(), |&end| end as usize);
        &self.bytes[self.starts[line as usize] as usize..end]
    }
}

impl LineInterner {
    /// Splits `bytes` into lines. `near` is another version of the same file. The lines of the common prefix and suffix
    /// are copied from `near`.
    pub(crate) fn version(&mut self, bytes: Vec<u8>, near: Option<&FileVersion>) -> FileVersion {
        let estimate = near.map_or(bytes.len() / 30 + 4, |near| near.lines.len() + 64);
        let mut version =
            FileVersion { bytes, lines: Vec::with_capacity(estimate), starts: Vec::with_capacity(estimate) };
        match near {
            None => self.append_lines(&mut version, 0, usize::MAX),
            Some(near) => self.append_around(&mut version, near),
        }
        version
    }

    fn append_around(&mut self, version: &mut FileVersion, near: &FileVersion) {
        let (old_len, new_len) = (near.bytes.len(), version.bytes.len());
        let shared = common_prefix(&near.bytes, &version.bytes);
        let head = near.starts.partition_point(|&start| start as usize <= shared).saturating_sub(1);
        let head_bytes = near.starts.get(head).map_or(0, |&start| start as usize);
        let room = old_len.min(new_len) - head_bytes;
        let shared = common_suffix(&near.bytes[old_len - room..], &version.bytes[new_len - room..]);
        let tail = near.starts.partition_point(|&start| start as usize <= old_len - shared).max(head);
        let tail_bytes = near.starts.get(tail).map_or(0, |&start| old_len - start as usize);
        version.lines.extend_from_slice(&near.lines[..head]);
        version.starts.extend_from_slice(&near.starts[..head]);
        self.append_lines(version, head_bytes, new_len - tail_bytes);
        version.lines.extend_from_slice(&near.lines[tail..]);
        let shift = |start: &u32| (*start as usize + new_len - old_len) as u32;
        version.starts.extend(near.starts[tail..].iter().map(shift));
    }

    /// Interns the lines of `version` in the byte range `from..to`. Both ends of the range are line starts or the end
    /// of the file.
    fn append_lines(&mut self, version: &mut FileVersion, from: usize, to: usize) {
        let FileVersion { bytes, lines, starts } = version;
        let mut start = from;
        let part = &bytes[from..to.min(bytes.len())];
        let ends = memchr::memchr_iter(b'\n', part).map(|newline| from + newline + 1);
        let last = (!part.is_empty() && part.last() != Some(&b'\n')).then_some(from + part.len());
        for end in ends.chain(last) {
            lines.push(self.intern(&bytes[start..end]));
            starts.push(start as u32);
            start = end;
        }
    }

    fn intern(&mut self, line: &[u8]) -> Token {
        let mut hasher = FxHasher::default();
        hasher.write(line);
        let indents = &mut self.indents;
        Token(*self.ids.entry(hasher.finish()).or_insert_with(|| {
            indents.push(IndentLevel::for_ascii_line(line.iter().copied(), TAB_WIDTH));
            indents.len() as u32 - 1
        }))
    }
}

/// The kind of a region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum RegionKind {
    /// The lines are unchanged. The number is the first of these lines in the old version.
    Unchanged(u32),
    /// The lines replaced this range of lines of the old version, which may be empty.
    Changed(Range<u32>),
}

/// Consecutive lines of the new version, up to the start of the next region.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct DiffRegion {
    pub(crate) start: u32,
    pub(crate) kind: RegionKind,
}

/// Compares versions of files. Reuses its buffers between comparisons.
pub(crate) struct LineDiffer {
    diff: Diff,
    indent_heuristic: bool,
}

impl LineDiffer {
    /// Creates a differ. `indent_heuristic` is the value of git's `diff.indentHeuristic`.
    pub(crate) fn new(indent_heuristic: bool) -> Self {
        Self { diff: Diff::default(), indent_heuristic }
    }

    /// Returns the regions of `new` for blame. The regions cover all lines of `new` in order. Both versions must come
    /// from `table`.
    pub(crate) fn compare(&mut self, table: &LineInterner, old: &FileVersion, new: &FileVersion) -> Vec<DiffRegion> {
        self.run(table, old, new, self.indent_heuristic);
        self.regions(new.len())
    }

    /// Returns the hunks from `old` to `new`, in order, as `git log -L` computes them. The indent heuristic, which may
    /// shift a hunk between equal lines, is not used.
    pub(crate) fn hunks(&mut self, table: &LineInterner, old: &FileVersion, new: &FileVersion) -> Vec<Hunk> {
        self.run(table, old, new, false);
        self.diff.hunks().collect()
    }

    /// Returns the results of [`Self::compare`] and [`Self::hunks`], at little more than the cost of one of these
    /// methods.
    pub(crate) fn compare_with_hunks(
        &mut self,
        table: &LineInterner,
        old: &FileVersion,
        new: &FileVersion,
    ) -> (Vec<DiffRegion>, Vec<Hunk>) {
        let shifted = self.run(table, old, new, self.indent_heuristic);
        let regions = self.regions(new.len());
        if shifted {
            self.run(table, old, new, false);
        }
        (regions, self.diff.hunks().collect())
    }

    /// Compares two versions. Returns whether the indent heuristic shifted a hunk.
    fn run(&mut self, table: &LineInterner, old: &FileVersion, new: &FileVersion, indent_heuristic: bool) -> bool {
        let tail = common_tail_lines(old, new);
        let old_lines = &old.lines[..old.lines.len() - tail];
        let new_lines = &new.lines[..new.lines.len() - tail];
        self.diff.compute_with(Algorithm::Myers, old_lines, new_lines, table.indents.len() as u32);
        if !indent_heuristic {
            self.diff.postprocess_with(old_lines, new_lines, NoSliderHeuristic);
            return false;
        }
        let mut shifted = false;
        let mut heuristic = IndentHeuristic::new(|line: Token| table.indents[line.0 as usize]);
        self.diff.postprocess_with(old_lines, new_lines, |lines: &[Token], change: Range<u32>, earliest_end: u32| {
            let end = heuristic.best_slider_end(lines, change.clone(), earliest_end);
            shifted |= end != change.end;
            end
        });
        shifted
    }

    /// Returns the regions of the last comparison. `lines` is the number of lines of the new version.
    fn regions(&self, lines: u32) -> Vec<DiffRegion> {
        let mut regions = Vec::new();
        let (mut old_line, mut new_line) = (0, 0);
        for hunk in self.diff.hunks() {
            if hunk.after.start > new_line {
                regions.push(DiffRegion { start: new_line, kind: RegionKind::Unchanged(old_line) });
            }
            if !hunk.after.is_empty() {
                regions.push(DiffRegion { start: hunk.after.start, kind: RegionKind::Changed(hunk.before.clone()) });
            }
            (old_line, new_line) = (hunk.before.end, hunk.after.end);
        }
        if new_line < lines {
            regions.push(DiffRegion { start: new_line, kind: RegionKind::Unchanged(old_line) });
        }
        regions
    }
}

/// Returns the number of lines at the end that git excludes from the comparison. These are the lines after the first
/// newline in the equal blocks at the end of both files.
///
/// This number affects which of several equally short diffs git finds.
fn common_tail_lines(old: &FileVersion, new: &FileVersion) -> usize {
    let blocks = old.bytes.rchunks_exact(TAIL_BLOCK).zip(new.bytes.rchunks_exact(TAIL_BLOCK));
    let equal = blocks.take_while(|(old, new)| old == new).count() * TAIL_BLOCK;
    let tail = &old.bytes[old.bytes.len() - equal..];
    let Some(newline) = memchr::memchr(b'\n', tail) else { return 0 };
    let cut = old.bytes.len() - equal + newline + 1;
    old.starts.len() - old.starts.partition_point(|&start| (start as usize) < cut)
}
