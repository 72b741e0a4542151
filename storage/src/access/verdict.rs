//! What users and agents say of a chunk that they were shown.

use aurora_codec::{ByteReader, put_varint};
use serde::Serialize;

/// A judgement of one chunk.
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It was what was looked for.
    Good,
    /// It helped, in a task that succeeded in part.
    Helpful,
    /// It did not help, in a task that succeeded in part.
    Unhelpful,
    /// It led astray.
    Bad,
}

impl Verdict {
    /// Every verdict, the best first.
    pub const ALL: [Self; 4] = [Self::Good, Self::Helpful, Self::Unhelpful, Self::Bad];
}

/// How often each verdict was given, and when last. What they are worth is for the ranking to say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Judgements {
    /// In the order of [`Verdict::ALL`].
    counts: [u32; 4],
    /// Unix seconds; 0 without judgements.
    last: i64,
}

impl Judgements {
    /// How often a verdict was given.
    pub fn count(&self, verdict: Verdict) -> u32 {
        self.counts[verdict as usize]
    }

    /// Whether nothing was said.
    pub fn is_empty(&self) -> bool {
        self.counts == [0; 4]
    }

    /// Unix seconds of the last verdict; `None` without one.
    pub fn last(&self) -> Option<i64> {
        (!self.is_empty()).then_some(self.last)
    }

    /// Counts in the order of [`Verdict::ALL`], the last of which was given at `last`, in Unix seconds.
    pub fn of(counts: [u32; 4], last: i64) -> Self {
        let is_empty = counts == [0; 4];
        Self { counts, last: if is_empty { 0 } else { last } }
    }

    /// Takes of each count the greater one of both.
    pub(super) fn raise(&mut self, other: Self) {
        self.last = self.last().max(other.last()).unwrap_or_default();
        for (count, least) in self.counts.iter_mut().zip(other.counts) {
            *count = (*count).max(least);
        }
    }

    pub(super) fn add(&mut self, verdict: Verdict, time: i64) {
        self.last = self.last().map_or(time, |last| last.max(time));
        let count = &mut self.counts[verdict as usize];
        *count = count.saturating_add(1);
    }

    pub(super) fn absorb(&mut self, other: Self) {
        self.last = self.last().max(other.last()).unwrap_or_default();
        for (count, more) in self.counts.iter_mut().zip(other.counts) {
            *count = count.saturating_add(more);
        }
    }

    pub(super) fn encode(&self, bytes: &mut Vec<u8>) {
        self.counts.iter().for_each(|&count| put_varint(bytes, u64::from(count)));
        bytes.extend_from_slice(&self.last.to_le_bytes());
    }

    pub(super) fn decode(reader: &mut ByteReader<'_>) -> Option<Self> {
        let mut counts = [0; 4];
        for count in &mut counts {
            *count = reader.varint32()?;
        }
        let last = i64::from_le_bytes(*reader.take(8)?.as_array()?);
        Some(Self { counts, last })
    }
}
