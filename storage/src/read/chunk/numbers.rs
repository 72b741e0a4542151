//! Packed numbers of a chunk record: token sets and commit times.
//!
//! Layout: number of code tokens · number of documentation tokens · the tokens of each set, as differences from the
//! previous token. For a chunk with a history, these follow: time of the newest commit · number of commit times · the
//! commit times, as differences from the previous time. All numbers are variable-length integers, and times are
//! zigzag-coded.

use aurora_codec::{ByteReader, put, put_varint, put_zigzag};

use super::record::{ChunkHistory, StoredTokens};

/// Appends the token sets of a chunk and the times of its history, if it has one.
pub(crate) fn encode(out: &mut Vec<u8>, tokens: &StoredTokens, git: &ChunkHistory) {
    out.reserve(2 * (tokens.code.len() + tokens.doc.len()) + 8);
    put(out, &(tokens.code.len(), tokens.doc.len()));
    for set in [&tokens.code, &tokens.doc] {
        let mut before = 0;
        for &token in set {
            // Tokens of a set should ascend. If they do not, the difference wraps around.
            put_varint(out, u64::from(token.wrapping_sub(before)));
            before = token;
        }
    }
    if let ChunkHistory::Tracked(history) = git {
        put(out, &(history.newest_time, history.commit_times.len()));
        let mut before = 0i64;
        for &time in &history.commit_times {
            put_zigzag(out, time.wrapping_sub(before));
            before = time;
        }
    }
}

/// The packed numbers of a chunk.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers<'a> {
    code: u32,
    doc: u32,
    rest: ByteReader<'a>,
}

impl<'a> Numbers<'a> {
    /// Reads the counts of tokens. Returns `None` if they are invalid.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        let mut rest = ByteReader::new(bytes);
        Some(Self { code: rest.varint32()?, doc: rest.varint32()?, rest })
    }

    /// Whether all numbers can be read, and no bytes are left over.
    pub(crate) fn is_valid(self, has_history: bool) -> bool {
        let check = || {
            let mut rest = self.rest;
            for _ in 0..u64::from(self.code) + u64::from(self.doc) {
                u16::try_from(rest.varint()?).ok()?;
            }
            if has_history {
                rest.varint()?;
                for _ in 0..rest.varint()? {
                    rest.varint()?;
                }
            }
            Some(rest.is_empty())
        };
        check() == Some(true)
    }

    /// Returns the tokens of the code, ascending.
    pub(crate) fn code(self) -> TokenIter<'a> {
        TokenIter { left: self.code, last: 0, rest: self.rest }
    }

    /// Returns the tokens of the documentation, ascending.
    pub(crate) fn doc(self) -> TokenIter<'a> {
        TokenIter { left: self.doc, last: 0, rest: self.after(u64::from(self.code)) }
    }

    /// Returns the time of the newest commit and the times of all commits, in Unix seconds.
    pub(crate) fn times(self) -> Option<(i64, Vec<i64>)> {
        let mut rest = self.after(u64::from(self.code) + u64::from(self.doc));
        let (newest, count): (_, usize) = rest.read()?;
        let mut times = Vec::with_capacity(count.min(rest.rest().len()));
        let mut time = 0i64;
        for _ in 0..count {
            time = time.wrapping_add(rest.zigzag()?);
            times.push(time);
        }
        Some((newest, times))
    }

    fn after(self, count: u64) -> ByteReader<'a> {
        let mut rest = self.rest;
        for _ in 0..count {
            if rest.varint().is_none() {
                break;
            }
        }
        rest
    }
}

/// Iterator over the tokens of a set.
#[derive(Debug, Clone)]
pub(crate) struct TokenIter<'a> {
    left: u32,
    last: u16,
    rest: ByteReader<'a>,
}

impl Iterator for TokenIter<'_> {
    type Item = u16;

    #[inline]
    fn next(&mut self) -> Option<u16> {
        self.left = self.left.checked_sub(1)?;
        self.last = self.last.wrapping_add(self.rest.varint()? as u16);
        Some(self.last)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::read::chunk::GitHistory;

    proptest! {
        #[test]
        fn numbers_round_trip(
            code in prop::collection::vec(any::<u16>(), 0..9),
            doc in prop::collection::vec(any::<u16>(), 0..9),
            times in prop::option::of((any::<i64>(), prop::collection::vec(any::<i64>(), 0..9))),
        ) {
            let history = times.clone().map_or(ChunkHistory::None, |(newest_time, commit_times)| {
                ChunkHistory::Tracked(GitHistory { newest_time, commit_times, ..GitHistory::default() })
            });
            let mut bytes = Vec::new();
            encode(&mut bytes, &StoredTokens { code: code.clone(), doc: doc.clone() }, &history);
            let numbers = Numbers::new(&bytes).expect("the bytes begin with the counts of tokens");
            prop_assert!(numbers.is_valid(times.is_some()));
            prop_assert_eq!(numbers.code().collect::<Vec<_>>(), code);
            prop_assert_eq!(numbers.doc().collect::<Vec<_>>(), doc);
            if times.is_some() {
                prop_assert_eq!(numbers.times(), times);
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(numbers) = Numbers::new(&bytes) {
                prop_assert!(numbers.code().count() <= bytes.len() && numbers.doc().count() <= bytes.len());
                let is_valid = numbers.is_valid(true);
                prop_assert!(!is_valid || numbers.times().is_some());
            }
        }
    }
}
