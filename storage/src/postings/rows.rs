//! The frequencies of a part, any of which can be read without unpacking those before it.
//!
//! Most postings of a list have one of a few rows of frequencies: once in the body, twice in the body, once each in name,
//! path and body. So a part has a palette of its most frequent rows, and for each posting the number of its row there, in 0,
//! 1, 2, 4 or 8 bits, whichever costs least with the palette and what is not in it.
//!
//! Layout: length of the palette · its rows · bits of a code · codes, lowest bits first · rows that are not in the palette, in the
//! order of their postings. A row is as in the dictionary.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::frequencies::{decode, encode as encode_row, encoded_length};
use super::groups::usual_weight;
use super::window::{Coded, Row};
use crate::codec::{Reader, put_varint};

/// Bits that a code may have.
const WIDTHS: [u32; 5] = [0, 1, 2, 4, 8];

/// Bytes that it is worth to have a row in the palette: others take longer to read.
const RARE: usize = 6;

/// Rows that are looked for one by one.
const FEW: usize = 8;

/// Codes that are unpacked together.
const GROUP: usize = 32;

/// Writes the frequencies of one part.
#[derive(Debug, Default)]
pub(super) struct RowsWriter {
    bytes: Vec<u8>,
    palette: Numbered,
    width: u32,
    /// Bits of codes that do not fill a byte yet.
    bits: u32,
    held: u32,
    escapes: Vec<u8>,
}

impl RowsWriter {
    /// Chooses palette and width for the rows that will be pushed.
    pub(super) fn new<'r>(rows: impl Iterator<Item = &'r Row>) -> Self {
        let (mut distinct, mut counts, mut total) = (Numbered::default(), Vec::new(), 0);
        for row in rows {
            let number = distinct.find(row).unwrap_or_else(|| {
                counts.push((*row, 0));
                distinct.push(row)
            });
            counts[number].1 += 1;
            total += 1;
        }
        counts.sort_unstable_by(|a: &(Row, usize), b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let (width, palette) = cheapest(&counts, total);
        // By what they are about worth: a search mostly wants the codes from one on.
        counts[..palette].sort_unstable_by(|(a, _), (b, _)| usual_weight(a).total_cmp(&usual_weight(b)).then(a.cmp(b)));
        let mut bytes = Vec::new();
        put_varint(&mut bytes, palette as u64);
        counts[..palette].iter().for_each(|(row, _)| encode_row(&mut bytes, row));
        bytes.push(width as u8);
        let mut numbered = Numbered::default();
        counts[..palette].iter().for_each(|(row, _)| _ = numbered.push(row));
        Self { bytes, palette: numbered, width, bits: 0, held: 0, escapes: Vec::new() }
    }

    /// Adds the row of the next posting.
    pub(super) fn push(&mut self, row: &Row) {
        let code = self.palette.find(row).unwrap_or_else(|| {
            encode_row(&mut self.escapes, row);
            self.palette.rows.len()
        });
        self.bits |= (code as u32) << self.held;
        self.held += self.width;
        if self.held == 8 {
            self.bytes.push(self.bits as u8);
            (self.bits, self.held) = (0, 0);
        }
    }

    /// Bytes that rows beyond the palette have taken so far.
    pub(super) fn escaped(&self) -> usize {
        self.escapes.len()
    }

    /// Ends the part.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if self.held > 0 {
            self.bytes.push(self.bits as u8);
        }
        self.bytes.append(&mut self.escapes);
        self.bytes
    }
}

/// Different rows, by number.
#[derive(Debug, Default)]
struct Numbered {
    rows: Vec<Row>,
    /// Where those behind the first [`FEW`] are.
    others: FxHashMap<Row, usize>,
}

impl Numbered {
    /// The number of a row: most lists have few different ones.
    #[inline]
    fn find(&self, row: &Row) -> Option<usize> {
        let number = self.rows.iter().take(FEW).position(|known| known == row);
        number.or_else(|| if self.rows.len() > FEW { self.others.get(row).copied() } else { None })
    }

    /// Adds a row that is not there, and gives its number.
    fn push(&mut self, row: &Row) -> usize {
        let number = self.rows.len();
        if number >= FEW {
            self.others.insert(*row, number);
        }
        self.rows.push(*row);
        number
    }
}

/// Width and length of the palette that cost least, in bytes and what they are worth; rows come by falling count.
fn cheapest(counts: &[(Row, usize)], total: usize) -> (u32, usize) {
    let mut scratch = Vec::new();
    let mut bytes_of = |row: &Row| {
        scratch.clear();
        encode_row(&mut scratch, row);
        scratch.len()
    };
    let sizes: Vec<usize> = counts.iter().map(|(row, _)| bytes_of(row)).collect();
    let cost = |&(width, palette): &(u32, usize)| {
        let rare: usize =
            counts[palette..].iter().zip(&sizes[palette..]).map(|((_, count), size)| count * (size + RARE)).sum();
        (total * width as usize).div_ceil(8) + sizes[..palette].iter().sum::<usize>() + rare
    };
    let choices = WIDTHS.iter().filter_map(|&width| {
        let codes = (1usize << width).min(u8::MAX.into());
        // One code is that of rows beyond the palette, if there are any.
        let palette = if counts.len() <= codes { counts.len() } else { codes - 1 };
        (palette > 0).then_some((width, palette))
    });
    choices.min_by_key(cost).unwrap_or((8, 0))
}

/// The frequencies of a part, still as bytes.
#[derive(Debug)]
pub(crate) struct Rows<'a> {
    palette: Vec<Row>,
    width: u32,
    codes: &'a [u8],
    escapes: &'a [u8],
}

impl<'a> Rows<'a> {
    /// The frequencies of `count` postings; `None` when the bytes end too early.
    pub(super) fn decode(bytes: &'a [u8], count: usize) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        let length = reader.length().filter(|&length| length <= u8::MAX.into())?;
        let palette = (0..length).map(|_| decode(&mut reader)).collect::<Option<_>>()?;
        let width = u32::from(reader.byte()?);
        let codes = reader.take((count * width as usize).div_ceil(8))?;
        WIDTHS.contains(&width).then_some(Self { palette, width, codes, escapes: reader.rest() })
    }

    /// The most frequent rows, by code.
    pub(super) fn palette(&self) -> &[Row] {
        &self.palette
    }

    /// The code of rows that are not in the palette.
    pub(super) fn rare_code(&self) -> u8 {
        self.palette.len() as u8
    }

    /// The code of the posting at an index.
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
        // Some bytes at a time, in loops of a fixed length, so that they are unpacked together.
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

    /// Finds the codes of at least `least` among those of `count` postings from `start` on: which of these postings they
    /// are of, and the codes. Returns how many there are, no more than there is room for.
    pub(super) fn select(&self, start: usize, count: usize, least: u8, found: &mut [u16], codes: &mut [u8]) -> usize {
        match self.width {
            1 => self.select_as::<1>(start, count, least, found, codes),
            2 => self.select_as::<2>(start, count, least, found, codes),
            4 => self.select_as::<4>(start, count, least, found, codes),
            8 => self.select_as::<8>(start, count, least, found, codes),
            _ => 0,
        }
    }

    fn select_as<const WIDTH: usize>(
        &self,
        start: usize,
        count: usize,
        least: u8,
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
            let mut left = at_least::<WIDTH>(word, least);
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

    /// The rows beyond the palette from a place in their bytes on.
    pub(super) fn rare(&self, from: usize) -> impl Iterator<Item = Row> + 'a {
        let mut reader = Reader::new(self.escapes.get(from..).unwrap_or_default());
        std::iter::from_fn(move || decode(&mut reader))
    }

    /// Number of postings in a range whose rows are not in the palette.
    pub(super) fn count_rare(&self, range: Range<usize>) -> usize {
        let (palette, mut codes, mut count) = (self.palette.len(), [0; 64], 0);
        for start in range.clone().step_by(codes.len()) {
            let codes = &mut codes[..(range.end - start).min(64)];
            self.unpack(start, codes);
            count += usize::from(codes.iter().map(|code| u8::from(usize::from(*code) >= palette)).sum::<u8>());
        }
        count
    }

    /// Begins to read rows of postings from `start` on; the bytes of those that are not in the palette begin at `escaped`.
    pub(super) fn probe(&self, start: usize, escaped: usize) -> RowsProbe<'_> {
        RowsProbe { rows: self, at: start, rare: Reader::new(self.escapes.get(escaped..).unwrap_or_default()) }
    }

    /// Whether there is a row for each of `count` postings, and nothing else.
    pub(super) fn is_exact(&self, count: usize) -> bool {
        let rare = self.count_rare(0..count);
        let mut left = self.escapes;
        let held = |row: &Row| row.iter().any(|&count| count > 0);
        let sound = (0..rare).all(|_| {
            let whole = decode(&mut Reader::new(left)).is_some_and(|row| held(&row));
            left = left.get(encoded_length(left)..).unwrap_or_default();
            whole
        });
        let known = (0..count).all(|index| self.code(index) <= self.rare_code());
        sound && known && left.is_empty() && self.palette.iter().all(held)
    }
}

/// The lanes of a word that are at least `least`: the lowest bit of each is set.
#[inline]
fn at_least<const WIDTH: usize>(word: u64, least: u8) -> u64 {
    // Every other lane at a time, with as much room above it, where the sum arrives if it is great enough.
    let every_other = u64::MAX / ((1 << WIDTH) + 1);
    let ones = every_other / ((1 << WIDTH) - 1);
    let top = 2 * WIDTH - 1;
    let missing = ones * ((1 << top) - u64::from(least));
    let of = |lanes: u64| (((lanes & every_other) + missing) >> top) & ones;
    of(word) | of(word >> WIDTH) << WIDTH
}

/// Reads rows of postings whose indexes ascend.
#[derive(Debug)]
pub(super) struct RowsProbe<'r> {
    rows: &'r Rows<'r>,
    /// The posting behind the last whose row was not in the palette, and what is left of such rows.
    at: usize,
    rare: Reader<'r>,
}

impl RowsProbe<'_> {
    /// The row of a posting.
    #[inline]
    pub(super) fn row(&mut self, index: usize) -> Coded {
        let code = self.rows.code(index);
        match usize::from(code) < self.rows.palette.len() {
            true => Coded::Code(code),
            false => Coded::Rare(self.rare(index)),
        }
    }

    fn rare(&mut self, index: usize) -> Row {
        for _ in 0..self.rows.count_rare(self.at.min(index)..index) {
            decode(&mut self.rare);
        }
        self.at = index + 1;
        decode(&mut self.rare).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn count() -> impl Strategy<Value = u16> {
        prop_oneof![Just(0u16), Just(1), Just(1), 2u16..300, any::<u16>()]
    }

    /// Few different rows, or many.
    fn rows() -> impl Strategy<Value = Vec<Row>> {
        let row = prop::array::uniform6(count())
            .prop_filter("a posting has a frequency", |row| row.iter().any(|&count| count > 0));
        (prop::collection::vec(row, 1..400), prop::collection::vec((any::<prop::sample::Index>(), 1usize..400), 1..400))
            .prop_map(|(rows, picks)| picks.iter().map(|(pick, of)| rows[pick.index((*of).min(rows.len()))]).collect())
    }

    proptest! {
        #[test]
        fn every_row_comes_back(rows in rows(), starts in prop::collection::vec(any::<prop::sample::Index>(), 1..4)) {
            let mut writer = RowsWriter::new(rows.iter());
            let mut escaped = Vec::new();
            for row in &rows {
                escaped.push(writer.escaped());
                writer.push(row);
            }
            let bytes = writer.finish();
            let read = Rows::decode(&bytes, rows.len()).expect("sound");
            prop_assert!(read.is_exact(rows.len()));
            prop_assert!(Rows::decode(&bytes[..bytes.len() - 1], rows.len()).is_none_or(|read| !read.is_exact(rows.len())));
            for start in starts.iter().map(|start| start.index(rows.len())) {
                let mut codes = vec![0; rows.len() - start];
                read.unpack(start, &mut codes);
                for least in [1, codes[0], read.rare_code()] {
                    let (mut found, mut selected) = (vec![0; codes.len()], vec![0; codes.len()]);
                    let count = read.select(start, codes.len(), least, &mut found, &mut selected);
                    let expected = (0u16..).zip(&codes).filter(|(_, code)| **code >= least && read.width > 0);
                    prop_assert!(found[..count].iter().copied().zip(&selected).eq(expected));
                }
                let mut rare = read.rare(escaped[start]);
                let mut probe = read.probe(start, escaped[start]);
                for (at, row) in rows.iter().enumerate().skip(start).step_by(3) {
                    let code = |code: u8| read.palette()[usize::from(code)];
                    prop_assert_eq!(match probe.row(at) { Coded::Code(at) => code(at), Coded::Rare(row) => row }, *row);
                }
                for (at, (code, row)) in codes.iter().zip(&rows[start..]).enumerate() {
                    prop_assert_eq!(*code, read.code(start + at));
                    let found = read.palette().get(usize::from(*code)).copied().or_else(|| rare.next());
                    prop_assert_eq!(found, Some(*row));
                }
            }
        }

        #[test]
        fn whatever_the_bytes_say_rows_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..80), count in 0usize..100) {
            if let Some(rows) = Rows::decode(&bytes, count) {
                (0..count + 3).for_each(|at| assert_ne!(rows.probe(0, 0).row(at), Coded::Code(u8::MAX)));
                rows.is_exact(count);
                rows.unpack(count / 2, &mut vec![0; count]);
                rows.select(count / 2, count, 1, &mut vec![0; count / 3], &mut vec![0; count]);
            }
        }
    }
}
