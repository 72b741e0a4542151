//! The access record as bytes: count, last time, then the recent times.

use serde::Serialize;

use crate::codec::{Reader, put_varint};

/// Most times that a record keeps.
const RECENT: usize = 32;

/// How often and when a chunk was shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AccessRecord {
    /// Number of times.
    pub count: u64,
    /// Unix seconds of the last time.
    pub last: i64,
    /// Unix seconds of up to 32 recent times, ascending.
    pub recent: Vec<i64>,
}

impl AccessRecord {
    /// Counts one more time.
    pub(super) fn add(&mut self, time: i64) {
        self.last = if self.count == 0 { time } else { self.last.max(time) };
        self.count = self.count.saturating_add(1);
        self.recent.push(time);
        self.trim();
    }

    /// Takes over what another record has counted.
    pub(super) fn absorb(&mut self, other: Self) {
        if other.count > 0 {
            self.last = if self.count == 0 { other.last } else { self.last.max(other.last) };
        }
        self.count = self.count.saturating_add(other.count);
        self.recent.extend(other.recent);
        self.trim();
    }

    fn trim(&mut self) {
        self.recent.sort_unstable();
        self.recent.drain(..self.recent.len().saturating_sub(RECENT));
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(20 + 8 * self.recent.len());
        put_varint(&mut bytes, self.count);
        for time in std::iter::once(&self.last).chain(&self.recent) {
            bytes.extend_from_slice(&time.to_le_bytes());
        }
        bytes
    }

    /// `None` when the bytes are no valid record.
    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let count = reader.varint()?;
        let (times, rest) = reader.rest().as_chunks();
        let mut times = times.iter().map(|&time| i64::from_le_bytes(time));
        let last = times.next()?;
        let recent: Vec<i64> = times.collect();
        (rest.is_empty() && recent.len() <= RECENT).then_some(Self { count, last, recent })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn records_come_back_and_keep_the_newest(times in prop::collection::vec(any::<i64>(), 1..100)) {
            let mut record = AccessRecord::default();
            times.iter().for_each(|&time| record.add(time));
            let mut sorted = times.clone();
            sorted.sort_unstable();
            prop_assert_eq!(record.count, times.len() as u64);
            prop_assert_eq!(Some(&record.last), sorted.last());
            prop_assert!(record.recent.len() == times.len().min(RECENT));
            prop_assert!(record.recent.is_sorted());
            let bytes = record.encode();
            prop_assert_eq!(AccessRecord::decode(&bytes), Some(record));
            prop_assert_eq!(AccessRecord::decode(&bytes[..bytes.len() - 1]), None);
        }
    }
}
