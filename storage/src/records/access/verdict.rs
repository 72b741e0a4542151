//! Verdicts of users and agents on chunks that a search has shown.

use aurora_codec::{ByteReader, put};
use serde::{Deserialize, Serialize};

/// A judgement of one chunk.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The chunk was the one that was looked for.
    Good,
    /// The chunk helped in a task that succeeded in part.
    Helpful,
    /// The chunk did not help in a task that succeeded in part.
    Unhelpful,
    /// The chunk was misleading.
    Bad,
}

impl Verdict {
    /// All verdicts, best first.
    pub const ALL: [Self; 4] = [Self::Good, Self::Helpful, Self::Unhelpful, Self::Bad];
}

/// Number of verdicts of each kind, and the time of the last verdict. The ranking assigns weights to them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Judgements {
    /// Number of verdicts of each kind, in the order of [`Verdict::ALL`].
    counts: [u32; 4],
    /// Unix seconds of the last verdict; 0 if there are no verdicts.
    last: i64,
}

impl Judgements {
    /// Number of verdicts of a kind.
    pub fn count(&self, verdict: Verdict) -> u32 {
        self.counts[verdict as usize]
    }

    /// Whether there are no verdicts.
    pub fn is_empty(&self) -> bool {
        self.counts == [0; 4]
    }

    /// Unix seconds of the last verdict; `None` if there are no verdicts.
    pub fn last(&self) -> Option<i64> {
        (!self.is_empty()).then_some(self.last)
    }

    /// Creates judgements from counts in the order of [`Verdict::ALL`]. `last` is the time of the last verdict in Unix
    /// seconds.
    pub fn from_counts(counts: [u32; 4], last: i64) -> Self {
        let is_empty = counts == [0; 4];
        Self { counts, last: if is_empty { 0 } else { last } }
    }

    /// Combines each count with the count in `other`, and keeps the later time.
    pub(super) fn merge(&mut self, other: Self, combine: fn(u32, u32) -> u32) {
        self.last = self.last().max(other.last()).unwrap_or_default();
        self.counts.iter_mut().zip(other.counts).for_each(|(count, other)| *count = combine(*count, other));
    }

    pub(super) fn add(&mut self, verdict: Verdict, time: i64) {
        self.last = self.last().map_or(time, |last| last.max(time));
        let count = &mut self.counts[verdict as usize];
        *count = count.saturating_add(1);
    }

    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        put(bytes, &self.counts);
        bytes.extend_from_slice(&self.last.to_le_bytes());
    }

    pub(super) fn decode(reader: &mut ByteReader<'_>) -> Option<Self> {
        Some(Self { counts: reader.read()?, last: reader.i64()? })
    }
}
