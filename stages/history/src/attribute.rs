//! Attribution of one file: its blame and its touch counts, computed in one walk of the history.

use std::ops::Range;

use crate::attribution::{FileAttribution, WorktreeBlame};
use crate::blame::CachedAttribution;
use crate::event_key::EventKey;
use crate::events::EventIndex;
use crate::history::History;
use crate::line_diff::LineInterner;
use crate::line_map::LineMap;
use crate::outcome::{AttributedFile, Outcome};
use crate::touch::{CachedTouches, RangeCounts, TouchQuery};
use crate::working_copy::WorkingCopy;

impl History {
    /// Attributes the lines of `copy`, the content of `path` in the working tree. Also counts the commits that touched
    /// each range of lines in `ranges`. If `copy` is `None`, attributes the file at HEAD. Uncommitted changes do not
    /// count as a touch.
    ///
    /// Ranges are half-open and count lines from 0. Lines after the end of the file are ignored. The walk does not go
    /// beyond events for which `cached` returns an attribution. One call costs much less than calling both
    /// [`History::blame`] and [`History::touch_counts`].
    ///
    /// # Errors
    /// Fails if HEAD has no such file, or its content is missing or too large.
    pub fn attribute(
        &self,
        index: &EventIndex,
        cached: &CachedAttribution<'_>,
        path: impl AsRef<[u8]>,
        copy: Option<WorkingCopy<'_>>,
        ranges: &[Range<u32>],
    ) -> Outcome {
        let cached_touches = |path: &[u8], key: &EventKey, lines: &Range<u32>| {
            cached(path, key).and_then(|attribution| attribution.touches_of(lines))
        };
        let cached_touches = Some(&cached_touches as &CachedTouches<'_>);
        let query = TouchQuery { ranges, copy, prefix: &self.prefix, cached: cached_touches };
        let (id, blob) = self.file_at_head(index, path.as_ref())?;
        self.with_blamer(|blamer| {
            let found = blamer.attribute((index, id, blob), &self.config.ignored, cached, Some(&query));
            let (lines, counts) = found.ok_or_else(|| blamer.failure(&blob))?;
            let blame = self.file_blame(index, &lines);
            let committed = FileAttribution { blame, touches: counts.at_head() };
            let lines = match copy {
                Some(copy) => copy.line_map(&lines.text, &mut blamer.differ),
                None => LineMap::identity(committed.blame.line_count()),
            };
            Ok(AttributedFile { blame: WorktreeBlame { committed, lines }, touches: counts.of_ranges })
        })
    }

    /// Attributes the lines of `copy`, a file in the working tree, without an event index. `committed` is the stored
    /// attribution of the file at HEAD, and `key` is the key of the file at HEAD, under which `committed` was stored.
    /// Returns `None` if `committed` has no touch count for one of the ranges.
    ///
    /// # Errors
    /// Fails if the content at HEAD is missing or too large.
    pub fn carry_over(
        &self,
        committed: &FileAttribution,
        key: &EventKey,
        copy: WorkingCopy<'_>,
        ranges: &[Range<u32>],
    ) -> Outcome<Option<AttributedFile>> {
        let blob = key.blob();
        let query = TouchQuery { ranges, copy: Some(copy), prefix: &self.prefix, cached: None };
        self.with_blamer(|blamer| {
            let committed_text = blamer.read_file(&blob).ok_or_else(|| blamer.failure(&blob))?;
            let lines = copy.line_map(&committed_text, &mut blamer.differ);
            let parts = query.parts(&LineInterner::default().version(committed_text, None));
            let mut counts = RangeCounts { of_ranges: vec![0; ranges.len()], parts };
            for part in &counts.parts {
                let Some(count) = committed.touches_of(&(part.start..part.end)) else { return Ok(None) };
                counts.of_ranges[part.range as usize] = count;
            }
            let committed = FileAttribution { blame: committed.blame.clone(), touches: counts.at_head() };
            Ok(Some(AttributedFile { blame: WorktreeBlame { committed, lines }, touches: counts.of_ranges }))
        })
    }

    /// Counts the commits that touched each range, as listed by `git log -L`. Ranges refer to lines of `path` at HEAD,
    /// in the form that [`History::attribute`] expects.
    ///
    /// Counts that `cached` returns shorten the walk but do not change the result.
    ///
    /// # Errors
    /// Fails if HEAD has no such file, or its content is missing or too large.
    pub fn touch_counts(
        &self,
        index: &EventIndex,
        path: impl AsRef<[u8]>,
        ranges: &[Range<u32>],
        cached: Option<&CachedTouches<'_>>,
    ) -> Outcome<Vec<u32>> {
        let (id, blob) = self.file_at_head(index, path.as_ref())?;
        let query = TouchQuery { ranges, copy: None, prefix: &self.prefix, cached };
        self.with_blamer(|blamer| {
            let counts = blamer.count_touches(index, id, blob, &query);
            counts.ok_or_else(|| blamer.failure(&blob))
        })
    }
}
