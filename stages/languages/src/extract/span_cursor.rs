//! Tests whether offsets, in ascending order, are inside spans.

use std::ops::Range;

/// A cursor over spans that are ordered by start. Queries must use ascending offsets.
pub(super) struct SpanCursor<I: Iterator<Item = Range<u32>>> {
    spans: std::iter::Peekable<I>,
    end: u32,
}

impl<I: Iterator<Item = Range<u32>>> SpanCursor<I> {
    pub(super) fn new(spans: I) -> Self {
        Self { spans: spans.peekable(), end: 0 }
    }

    /// Whether a span covers `at`, which must not be smaller than in the previous call.
    pub(super) fn covers(&mut self, at: u32) -> bool {
        while let Some(span) = self.spans.next_if(|span| span.start <= at) {
            self.end = self.end.max(span.end);
        }
        at < self.end
    }
}
