//! Encoding of access records.
//!
//! Layout of a record without judgements: count · last time · recent times, at least one. The count is not zero. A
//! record with judgements starts with a zero, followed by the counts and the last time of the judgements, and then by
//! the same fields as in a record without judgements.

use aurora_codec::{ByteReader, put_varint};
use serde::Serialize;

use super::verdict::{Judgements, Verdict};

/// Maximum number of recent times in a record.
const MAX_RECENT_TIMES: usize = 32;

/// The accesses to one chunk, and the judgements of the chunk.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AccessRecord {
    /// Number of accesses. A search that shows the chunk counts as an access.
    pub count: u64,
    /// Unix seconds of the last access; meaningless if `count` is 0.
    pub last: i64,
    /// Unix seconds of up to 32 recent accesses, ascending.
    pub recent: Vec<i64>,
    /// Judgements by users and agents.
    pub judgements: Judgements,
}

impl AccessRecord {
    /// Returns the Unix seconds of the newest access or judgement.
    pub fn newest(&self) -> Option<i64> {
        self.last_access().max(self.judgements.last())
    }

    /// Returns the Unix seconds of the newest access.
    fn last_access(&self) -> Option<i64> {
        (self.count > 0).then_some(self.last)
    }

    /// Counts an access.
    pub(super) fn add(&mut self, time: i64) {
        self.last = self.last_access().map_or(time, |last| last.max(time));
        self.count = self.count.saturating_add(1);
        self.recent.push(time);
        self.trim();
    }

    /// Counts a judgement.
    pub(super) fn judge(&mut self, verdict: Verdict, time: i64) {
        self.judgements.add(verdict, time);
    }

    /// Adds the counts and times of another record.
    pub(super) fn absorb(&mut self, other: Self) {
        self.last = self.last_access().max(other.last_access()).unwrap_or(self.last);
        self.count = self.count.saturating_add(other.count);
        self.recent.extend(other.recent);
        self.judgements.merge(other.judgements, u32::saturating_add);
        self.trim();
    }

    /// Merges another copy of this record. Keeps the greater of the two counts, and the recent times of both copies. An
    /// access that is in both copies counts once, so merging the same copy again changes nothing.
    pub(super) fn raise(&mut self, other: &Self) {
        self.last = self.last_access().max(other.last_access()).unwrap_or(self.last);
        self.recent = merge_times(&self.recent, &other.recent);
        self.trim();
        self.count = self.count.max(other.count).max(self.recent.len() as u64);
        self.judgements.merge(other.judgements, u32::max);
    }

    fn trim(&mut self) {
        self.recent.sort_unstable();
        self.recent.drain(..self.recent.len().saturating_sub(MAX_RECENT_TIMES));
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(40 + 8 * self.recent.len());
        if !self.judgements.is_empty() {
            bytes.push(0);
            self.judgements.encode(&mut bytes);
        }
        put_varint(&mut bytes, self.count);
        for time in std::iter::once(&self.last).chain(&self.recent) {
            bytes.extend_from_slice(&time.to_le_bytes());
        }
        bytes
    }

    /// Reads a record. Returns `None` if the bytes are invalid.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let mut count = reader.varint()?;
        let mut judgements = Judgements::default();
        if count == 0 {
            judgements = Judgements::decode(&mut reader)?;
            count = reader.varint()?;
        }
        let (times, rest) = reader.rest().as_chunks();
        let mut times = times.iter().map(|&time| i64::from_le_bytes(time));
        let last = times.next()?;
        let recent: Vec<i64> = times.collect();
        (rest.is_empty() && recent.len() <= MAX_RECENT_TIMES).then_some(Self { count, last, recent, judgements })
    }
}

/// Merges two lists of times. Each time occurs in the result as often as in the list that contains it more often.
fn merge_times(first: &[i64], second: &[i64]) -> Vec<i64> {
    let (mut merged, mut left) = (first.to_vec(), first.to_vec());
    for time in second {
        match left.iter().position(|known| known == time) {
            Some(at) => _ = left.swap_remove(at),
            None => merged.push(*time),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn judgements() -> impl Strategy<Value = Vec<(Verdict, i64)>> {
        prop::collection::vec((prop::sample::select(Verdict::ALL.to_vec()), any::<i64>()), 0..10)
    }

    proptest! {
        #[test]
        fn records_round_trip_and_keep_the_newest_times(
            times in prop::collection::vec(any::<i64>(), 0..100), judged in judgements(),
        ) {
            prop_assume!(!(times.is_empty() && judged.is_empty()));
            let mut record = AccessRecord::default();
            times.iter().for_each(|&time| record.add(time));
            judged.iter().for_each(|&(verdict, time)| record.judge(verdict, time));
            let mut sorted = times.clone();
            sorted.sort_unstable();
            prop_assert_eq!(record.count, times.len() as u64);
            prop_assert!(times.is_empty() || Some(&record.last) == sorted.last());
            prop_assert!(record.recent.len() == times.len().min(MAX_RECENT_TIMES));
            prop_assert!(record.recent.is_sorted());
            for verdict in Verdict::ALL {
                let expected = judged.iter().filter(|(other, _)| *other == verdict).count();
                prop_assert_eq!(record.judgements.count(verdict) as usize, expected);
            }
            prop_assert_eq!(record.newest(), times.iter().chain(judged.iter().map(|(_, time)| time)).max().copied());
            let bytes = record.encode();
            prop_assert_eq!(AccessRecord::decode(&bytes), Some(record));
            prop_assert_eq!(AccessRecord::decode(&bytes[..bytes.len() - 1]), None);
        }

        #[test]
        fn absorbing_a_record_adds_its_accesses_and_judgements(
            first in prop::collection::vec(any::<i64>(), 0..40), second in prop::collection::vec(any::<i64>(), 0..40),
            judged in judgements(), cut in 0..10_usize,
        ) {
            let record = |times: &[i64], judged: &[(Verdict, i64)]| {
                let mut record = AccessRecord::default();
                times.iter().for_each(|&time| record.add(time));
                judged.iter().for_each(|&(verdict, time)| record.judge(verdict, time));
                record
            };
            let (before, after) = judged.split_at(cut.min(judged.len()));
            let mut merged = record(&first, before);
            merged.absorb(record(&second, after));
            prop_assert_eq!(merged, record(&[first, second].concat(), &judged));
        }

        #[test]
        fn accesses_in_both_copies_count_once(
            common in prop::collection::vec(0..1_000_i64, 0..40), first in prop::collection::vec(0..1_000_i64, 0..40),
            second in prop::collection::vec(0..1_000_i64, 0..40), judged in judgements(), cut in 0..10_usize,
        ) {
            let record = |times: &[i64], judged: &[(Verdict, i64)]| {
                let mut record = AccessRecord::default();
                times.iter().for_each(|&time| record.add(time));
                judged.iter().for_each(|&(verdict, time)| record.judge(verdict, time));
                record
            };
            let (before, _) = judged.split_at(cut.min(judged.len()));
            let one = record(&[&common[..], &first].concat(), before);
            let other = record(&[&common[..], &second].concat(), &judged);
            let raised = |record: &AccessRecord, by: &AccessRecord| {
                let mut raised = record.clone();
                raised.raise(by);
                raised
            };
            let both = raised(&one, &other);
            prop_assert_eq!(&both, &raised(&other, &one));
            for known in [&one, &other, &both] {
                prop_assert_eq!(&raised(&both, known), &both);
                prop_assert!(both.count >= known.count && both.newest() >= known.newest());
            }
            prop_assert_eq!(&raised(&one, &one), &one);
            prop_assert_eq!(raised(&AccessRecord::default(), &one), one);
            prop_assert!(both.recent.is_sorted() && both.recent.len() <= MAX_RECENT_TIMES);
            if both.newest().is_some() {
                prop_assert_eq!(AccessRecord::decode(&both.encode()), Some(both));
            }
        }
    }
}
