//! The tf vectors of one part of a posting list: a dictionary-encoded column with random access.
//!
//! Most postings of a list have one of a few tf vectors: once in the body, twice in the body, once each in name, path
//! and body. A part therefore has a dictionary of its most frequent vectors, and a code of 0, 1, 2, 4 or 8 bits for
//! each posting. If some vectors are not in the dictionary, the code after the last dictionary code marks them. These
//! exceptions are stored separately in the order of their postings, as in patched coding. The writer chooses the code
//! width and the dictionary size with the lowest cost.
//!
//! Layout: size of the dictionary · vectors of the dictionary · bits of a code · codes, lowest bits first · exceptions.
//! A vector is encoded as in the term dictionary (`tf_vector`).

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::impact_groups::usual_weight;
use super::tf_vector::{TfVector, decode, encode as encode_vector, encoded_length};
use super::window::TfCode;
use aurora_codec::{ByteReader, put_varint};

/// The widths of a code, in bits.
const WIDTHS: [u32; 5] = [0, 1, 2, 4, 8];

/// Cost of an exception in bytes, in addition to its size. It accounts for the longer time to decode an exception.
const EXCEPTION_COST_BYTES: usize = 6;

/// The first vectors, up to this number, are found by linear search, all others by hash.
const LINEAR_SEARCH_VECTORS: usize = 8;

/// Number of codes that are unpacked by one loop of fixed length.
const GROUP: usize = 32;

/// Writes the column of one part.
#[derive(Debug, Default)]
pub(super) struct TfColumnWriter {
    bytes: Vec<u8>,
    dictionary: DistinctVectors,
    width: u32,
    /// The byte that is being filled.
    bits: u32,
    bit_count: u32,
    exceptions: Vec<u8>,
}

impl TfColumnWriter {
    /// Chooses the dictionary and the code width for `vectors`, which will be pushed in the same order.
    pub(super) fn new<'r>(vectors: impl Iterator<Item = &'r TfVector>) -> Self {
        let (mut distinct, mut counts, mut total) = (DistinctVectors::default(), Vec::new(), 0);
        for vector in vectors {
            let number = distinct.find(vector).unwrap_or_else(|| {
                counts.push((*vector, 0));
                distinct.push(vector)
            });
            counts[number].1 += 1;
            total += 1;
        }
        counts.sort_unstable_by(|a: &(TfVector, usize), b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let (width, dictionary) = cheapest(&counts, total);
        // Codes ascend with the approximate weight of their vectors, so that a search can skip all postings below a
        // code without decoding them.
        counts[..dictionary]
            .sort_unstable_by(|(a, _), (b, _)| usual_weight(a).total_cmp(&usual_weight(b)).then(a.cmp(b)));
        let mut bytes = Vec::new();
        put_varint(&mut bytes, dictionary as u64);
        counts[..dictionary].iter().for_each(|(vector, _)| encode_vector(&mut bytes, vector));
        bytes.push(width as u8);
        let mut codes = DistinctVectors::default();
        counts[..dictionary].iter().for_each(|(vector, _)| _ = codes.push(vector));
        Self { bytes, dictionary: codes, width, bits: 0, bit_count: 0, exceptions: Vec::new() }
    }

    /// Adds the vector of the next posting.
    pub(super) fn push(&mut self, vector: &TfVector) {
        let code = self.dictionary.find(vector).unwrap_or_else(|| {
            encode_vector(&mut self.exceptions, vector);
            self.dictionary.vectors.len()
        });
        self.bits |= (code as u32) << self.bit_count;
        self.bit_count += self.width;
        if self.bit_count == 8 {
            self.bytes.push(self.bits as u8);
            (self.bits, self.bit_count) = (0, 0);
        }
    }

    /// Size of the exceptions so far, in bytes.
    pub(super) fn exception_bytes(&self) -> usize {
        self.exceptions.len()
    }

    /// Completes the column and returns its bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if self.bit_count > 0 {
            self.bytes.push(self.bits as u8);
        }
        self.bytes.append(&mut self.exceptions);
        self.bytes
    }
}

/// Distinct vectors, numbered in order of first occurrence.
#[derive(Debug, Default)]
struct DistinctVectors {
    vectors: Vec<TfVector>,
    /// Numbers of the vectors after the first [`LINEAR_SEARCH_VECTORS`].
    others: FxHashMap<TfVector, usize>,
}

impl DistinctVectors {
    /// Returns the number of a vector. Most lists have so few distinct vectors that no hash is computed.
    #[inline]
    fn find(&self, vector: &TfVector) -> Option<usize> {
        let number = self.vectors.iter().take(LINEAR_SEARCH_VECTORS).position(|known| known == vector);
        number.or_else(
            || if self.vectors.len() > LINEAR_SEARCH_VECTORS { self.others.get(vector).copied() } else { None },
        )
    }

    /// Adds a new vector and returns its number.
    fn push(&mut self, vector: &TfVector) -> usize {
        let number = self.vectors.len();
        if number >= LINEAR_SEARCH_VECTORS {
            self.others.insert(*vector, number);
        }
        self.vectors.push(*vector);
        number
    }
}

/// Returns the code width and the dictionary size with the lowest cost. `counts` must be in descending order of count.
fn cheapest(counts: &[(TfVector, usize)], total: usize) -> (u32, usize) {
    let mut scratch = Vec::new();
    let mut bytes_of = |vector: &TfVector| {
        scratch.clear();
        encode_vector(&mut scratch, vector);
        scratch.len()
    };
    let sizes: Vec<usize> = counts.iter().map(|(vector, _)| bytes_of(vector)).collect();
    let cost = |&(width, dictionary): &(u32, usize)| {
        let exceptions = counts[dictionary..].iter().zip(&sizes[dictionary..]);
        let exceptions: usize = exceptions.map(|((_, count), size)| count * (size + EXCEPTION_COST_BYTES)).sum();
        (total * width as usize).div_ceil(8) + sizes[..dictionary].iter().sum::<usize>() + exceptions
    };
    let choices = WIDTHS.iter().filter_map(|&width| {
        let codes = (1usize << width).min(u8::MAX.into());
        // If there are exceptions, one code is reserved for them.
        let dictionary = if counts.len() <= codes { counts.len() } else { codes - 1 };
        (dictionary > 0).then_some((width, dictionary))
    });
    choices.min_by_key(cost).unwrap_or((8, 0))
}

/// The encoded column of a part.
#[derive(Debug)]
pub(super) struct TfColumn<'a> {
    dictionary: Vec<TfVector>,
    width: u32,
    codes: &'a [u8],
    exceptions: &'a [u8],
}

impl<'a> TfColumn<'a> {
    /// Reads the column of `count` postings; `None` if the bytes are truncated.
    pub(super) fn decode(bytes: &'a [u8], count: usize) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let length = reader.length().filter(|&length| length <= u8::MAX.into())?;
        let dictionary = (0..length).map(|_| decode(&mut reader)).collect::<Option<_>>()?;
        let width = u32::from(reader.byte()?);
        let codes = reader.take((count * width as usize).div_ceil(8))?;
        WIDTHS.contains(&width).then_some(Self { dictionary, width, codes, exceptions: reader.rest() })
    }

    /// Returns the most frequent vectors, by code.
    pub(super) fn dictionary(&self) -> &[TfVector] {
        &self.dictionary
    }

    /// Returns the code of exceptions.
    pub(super) fn exception_code(&self) -> u8 {
        self.dictionary.len() as u8
    }

    /// Returns the code of the posting at an index.
    #[inline]
    pub(super) fn code(&self, index: usize) -> u8 {
        let bit = index * self.width as usize;
        let byte = self.codes.get(bit / 8).map_or(0, |byte| u32::from(*byte));
        (byte >> (bit % 8) & ((1 << self.width) - 1)) as u8
    }

    /// Unpacks the codes of the postings from `start` on into `codes`.
    pub(super) fn unpack(&self, start: usize, codes: &mut [u8]) {
        match self.width {
            1 => self.unpack_as::<1, 8>(start, codes),
            2 => self.unpack_as::<2, 4>(start, codes),
            4 => self.unpack_as::<4, 2>(start, codes),
            8 => {
                let packed = self.codes.get(start..start + codes.len()).unwrap_or_default();
                codes.iter_mut().zip(packed).for_each(|(code, packed)| *code = *packed);
            }
            _ => codes.fill(0),
        }
    }

    fn unpack_as<const WIDTH: usize, const PER_BYTE: usize>(&self, start: usize, codes: &mut [u8]) {
        let mask = ((1u32 << WIDTH) - 1) as u8;
        let head = (start.next_multiple_of(PER_BYTE) - start).min(codes.len());
        let (first, rest) = codes.split_at_mut(head);
        first.iter_mut().enumerate().for_each(|(at, code)| *code = self.code(start + at));
        let packed = self.codes.get((start + head) / PER_BYTE..).unwrap_or_default();
        // Loops of fixed length, which the compiler vectorises.
        let (groups, last) = rest.as_chunks_mut::<GROUP>();
        let packed = packed.chunks_exact(GROUP / PER_BYTE);
        for (codes, packed) in groups.iter_mut().zip(packed) {
            for (codes, packed) in codes.as_chunks_mut::<PER_BYTE>().0.iter_mut().zip(packed) {
                for (at, code) in codes.iter_mut().enumerate() {
                    *code = packed >> (at * WIDTH) & mask;
                }
            }
        }
        let start = start + head + groups.len() * GROUP;
        last.iter_mut().enumerate().for_each(|(at, code)| *code = self.code(start + at));
    }

    /// Selects, among the `count` postings from `start` on, the postings whose code is at least `min_code`. Writes
    /// their indexes, counted from `start`, and their codes. Returns their number, which is at most the length of
    /// `found`.
    pub(super) fn select(
        &self,
        start: usize,
        count: usize,
        min_code: u8,
        found: &mut [u16],
        codes: &mut [u8],
    ) -> usize {
        match self.width {
            1 => self.select_as::<1>(start, count, min_code, found, codes),
            2 => self.select_as::<2>(start, count, min_code, found, codes),
            4 => self.select_as::<4>(start, count, min_code, found, codes),
            8 => self.select_as::<8>(start, count, min_code, found, codes),
            _ => 0,
        }
    }

    fn select_as<const WIDTH: usize>(
        &self,
        start: usize,
        count: usize,
        min_code: u8,
        found: &mut [u16],
        codes: &mut [u8],
    ) -> usize {
        let mask = ((1u32 << WIDTH) - 1) as u8;
        let skip = start % (8 / WIDTH);
        let end = skip + count;
        let packed = self.codes.get((start - skip) * WIDTH / 8..).unwrap_or_default();
        let (words, rest) = packed.as_chunks();
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        let mut room = found.iter_mut().zip(codes);
        let mut selected = 0;
        for (word, first) in words.iter().chain([&last]).zip((0..end).step_by(64 / WIDTH)) {
            let word = u64::from_le_bytes(*word);
            let mut left = lanes_at_least::<WIDTH>(word, min_code);
            if first == 0 {
                left &= u64::MAX << (skip * WIDTH);
            }
            if end - first < 64 / WIDTH {
                left &= (1 << ((end - first) * WIDTH)) - 1;
            }
            while left != 0 {
                let bit = left.trailing_zeros() as usize;
                let Some((found, code)) = room.next() else { return selected };
                *found = (first + bit / WIDTH - skip) as u16;
                *code = (word >> bit) as u8 & mask;
                selected += 1;
                left &= left - 1;
            }
        }
        selected
    }

    /// Decodes the exceptions from a byte offset on.
    pub(super) fn exceptions(&self, from: usize) -> impl Iterator<Item = TfVector> + 'a {
        let mut reader = ByteReader::new(self.exceptions.get(from..).unwrap_or_default());
        std::iter::from_fn(move || decode(&mut reader))
    }

    /// Counts the exceptions among the postings of a range.
    pub(super) fn count_exceptions(&self, range: Range<usize>) -> usize {
        let (dictionary, mut codes, mut count) = (self.dictionary.len(), [0; 64], 0);
        for start in range.clone().step_by(codes.len()) {
            let codes = &mut codes[..(range.end - start).min(64)];
            self.unpack(start, codes);
            count += usize::from(codes.iter().map(|code| u8::from(usize::from(*code) >= dictionary)).sum::<u8>());
        }
        count
    }

    /// Creates a cursor over the postings from `start` on. `exceptions` is the byte offset of the first exception among
    /// these postings.
    pub(super) fn cursor(&self, start: usize, exceptions: usize) -> TfCursor<'_> {
        let exceptions = ByteReader::new(self.exceptions.get(exceptions..).unwrap_or_default());
        TfCursor { column: self, at: start, exceptions }
    }

    /// Whether the column contains one vector for each of `count` postings and nothing else.
    pub(super) fn is_consistent(&self, count: usize) -> bool {
        let exceptions = self.count_exceptions(0..count);
        let mut left = self.exceptions;
        let occurs = |vector: &TfVector| vector.iter().any(|&count| count > 0);
        let are_valid = (0..exceptions).all(|_| {
            let whole = decode(&mut ByteReader::new(left)).is_some_and(|vector| occurs(&vector));
            left = left.get(encoded_length(left)..).unwrap_or_default();
            whole
        });
        let are_in_range = (0..count).all(|index| self.code(index) <= self.exception_code());
        are_valid && are_in_range && left.is_empty() && self.dictionary.iter().all(occurs)
    }
}

/// Returns a word in which the lowest bit of each lane is 1 if the lane of `word` is at least `least`, and 0 otherwise.
#[inline]
fn lanes_at_least<const WIDTH: usize>(word: u64, least: u8) -> u64 {
    // Processes the even and the odd lanes separately, so that carries go to the unused lane above.
    let every_other = u64::MAX / ((1 << WIDTH) + 1);
    let ones = every_other / ((1 << WIDTH) - 1);
    let top = 2 * WIDTH - 1;
    let missing = ones * ((1 << top) - u64::from(least));
    let compare = |lanes: u64| (((lanes & every_other) + missing) >> top) & ones;
    compare(word) | compare(word >> WIDTH) << WIDTH
}

/// Reads the tf vectors of postings in ascending order.
#[derive(Debug)]
pub(super) struct TfCursor<'r> {
    column: &'r TfColumn<'r>,
    /// Index of the posting after the last decoded exception.
    at: usize,
    exceptions: ByteReader<'r>,
}

impl TfCursor<'_> {
    /// Returns the tf vector of the posting at an index. Indexes must ascend from call to call.
    #[inline]
    pub(super) fn get(&mut self, index: usize) -> TfCode {
        let code = self.column.code(index);
        if usize::from(code) < self.column.dictionary.len() {
            TfCode::Frequent(code)
        } else {
            TfCode::Exception(self.exception(index))
        }
    }

    fn exception(&mut self, index: usize) -> TfVector {
        for _ in 0..self.column.count_exceptions(self.at.min(index)..index) {
            decode(&mut self.exceptions);
        }
        self.at = index + 1;
        decode(&mut self.exceptions).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn count() -> impl Strategy<Value = u16> {
        prop_oneof![Just(0u16), Just(1), Just(1), 2u16..300, any::<u16>()]
    }

    /// Lists of vectors with few or with many distinct values.
    fn rows() -> impl Strategy<Value = Vec<TfVector>> {
        let row = prop::array::uniform7(count())
            .prop_filter("a posting has a frequency", |row| row.iter().any(|&count| count > 0));
        (prop::collection::vec(row, 1..400), prop::collection::vec((any::<prop::sample::Index>(), 1usize..400), 1..400))
            .prop_map(|(rows, picks)| {
                picks.iter().map(|(pick, limit)| rows[pick.index((*limit).min(rows.len()))]).collect()
            })
    }

    proptest! {
        #[test]
        fn rows_round_trip(rows in rows(), starts in prop::collection::vec(any::<prop::sample::Index>(), 1..4)) {
            let mut writer = TfColumnWriter::new(rows.iter());
            let mut exceptions = Vec::new();
            for row in &rows {
                exceptions.push(writer.exception_bytes());
                writer.push(row);
            }
            let bytes = writer.finish();
            let read = TfColumn::decode(&bytes, rows.len()).expect("the bytes are valid");
            prop_assert!(read.is_consistent(rows.len()));
            prop_assert!(TfColumn::decode(&bytes[..bytes.len() - 1], rows.len()).is_none_or(|read| !read.is_consistent(rows.len())));
            for start in starts.iter().map(|start| start.index(rows.len())) {
                let mut codes = vec![0; rows.len() - start];
                read.unpack(start, &mut codes);
                for least in [1, codes[0], read.exception_code()] {
                    let (mut found, mut selected) = (vec![0; codes.len()], vec![0; codes.len()]);
                    let count = read.select(start, codes.len(), least, &mut found, &mut selected);
                    let expected = (0u16..).zip(&codes).filter(|(_, code)| **code >= least && read.width > 0);
                    prop_assert!(found[..count].iter().copied().zip(&selected).eq(expected));
                }
                let mut rare = read.exceptions(exceptions[start]);
                let mut cursor = read.cursor(start, exceptions[start]);
                for (at, row) in rows.iter().enumerate().skip(start).step_by(3) {
                    let code = |code: u8| read.dictionary()[usize::from(code)];
                    prop_assert_eq!(match cursor.get(at) { TfCode::Frequent(at) => code(at), TfCode::Exception(row) => row }, *row);
                }
                for (at, (code, row)) in codes.iter().zip(&rows[start..]).enumerate() {
                    prop_assert_eq!(*code, read.code(start + at));
                    let found = read.dictionary().get(usize::from(*code)).copied().or_else(|| rare.next());
                    prop_assert_eq!(found, Some(*row));
                }
            }
        }

        #[test]
        fn reading_arbitrary_bytes_does_not_panic(bytes in prop::collection::vec(any::<u8>(), 0..80), count in 0usize..100) {
            if let Some(rows) = TfColumn::decode(&bytes, count) {
                (0..count + 3).for_each(|at| assert_ne!(rows.cursor(0, 0).get(at), TfCode::Frequent(u8::MAX)));
                rows.is_consistent(count);
                rows.unpack(count / 2, &mut vec![0; count]);
                rows.select(count / 2, count, 1, &mut vec![0; count / 3], &mut vec![0; count]);
            }
        }
    }
}
