//! The frequencies of one block, any of which can be read without unpacking those before it.
//!
//! Layout: for each posting a byte, the mask of the fields that hold the term, with [`ALL_ONE`] when each holds it once ·
//! for each field of the other masks a byte, the frequency, or 255 and more as [`MANY`] · those in full, two bytes each.

use std::ops::Range;

use super::batch::{Words, row_of, words_of};
use crate::codec::Reader;
use crate::field::FIELDS;

/// Set in a mask when every field of it holds the term once; nothing follows for it.
const ALL_ONE: u8 = 0x80;
/// Stands for a frequency that needs two bytes.
const MANY: u8 = u8::MAX;
/// Bytes from which the frequencies of one posting are picked: those of up to six fields, and a 0.
const PICK: usize = 8;

/// Appends the frequencies of a block.
pub(super) fn encode<'f>(out: &mut Vec<u8>, rows: impl Iterator<Item = &'f [u16; FIELDS]>) {
    let (mut counts, mut many) = (Vec::new(), Vec::new());
    for row in rows {
        let mask = (0..FIELDS).filter(|&field| row[field] > 0).fold(0u8, |mask, field| mask | 1 << field);
        if row.iter().all(|&count| count <= 1) {
            out.push(mask | ALL_ONE);
            continue;
        }
        out.push(mask);
        for &count in row.iter().filter(|&&count| count > 0) {
            counts.push(count.min(u16::from(MANY)) as u8);
            if count >= u16::from(MANY) {
                many.extend_from_slice(&count.to_le_bytes());
            }
        }
    }
    out.extend_from_slice(&counts);
    out.extend_from_slice(&many);
}

/// For each mask, the place in [`PICK`] bytes of each field's frequency; the last for a field that the mask lacks.
const PLACES: [[u8; FIELDS]; 1 << FIELDS] = {
    let mut table = [[PICK as u8 - 1; FIELDS]; 1 << FIELDS];
    let mut mask = 0;
    while mask < table.len() {
        let (mut field, mut place) = (0, 0);
        while field < FIELDS {
            if mask >> field & 1 != 0 {
                table[mask][field] = place;
                place += 1;
            }
            field += 1;
        }
        mask += 1;
    }
    table
};

/// For each mask, the words of a posting whose frequencies are 1 in the fields of the mask.
const ONES: [Words; 1 << FIELDS] = {
    let mut table = [[0; FIELDS / 2]; 1 << FIELDS];
    let mut mask = 0;
    while mask < table.len() {
        let mut field = 0;
        while field < FIELDS {
            table[mask][field / 2] |= ((mask >> field & 1) << (16 * (field % 2))) as u32;
            field += 1;
        }
        mask += 1;
    }
    table
};

/// For each mask, the bytes of counts that belong to it: none with [`ALL_ONE`].
const WIDTHS: [u8; 1 << 8] = {
    let mut table = [0; 1 << 8];
    let mut mask = 0;
    while mask < ALL_ONE {
        table[mask as usize] = mask.count_ones() as u8;
        mask += 1;
    }
    table
};

/// Reads the frequencies of a block by place; quickest where places ascend.
#[derive(Debug, Clone, Default)]
pub(super) struct Rows<'a> {
    masks: &'a [u8],
    counts: &'a [u8],
    /// A place, not above the one that is read next if places ascend, and the number of bytes in `counts` for the
    /// postings before it.
    at: usize,
    start: usize,
}

impl<'a> Rows<'a> {
    /// A block of `count` postings; nothing of one that is too short for their masks.
    pub(super) fn new(bytes: &'a [u8], count: usize) -> Self {
        let (masks, counts) = bytes.split_at_checked(count).unwrap_or_default();
        Self { masks, counts, at: 0, start: 0 }
    }

    /// The frequencies of the posting at a place; zeros where there is none.
    #[inline]
    pub(super) fn get(&mut self, index: usize) -> [u16; FIELDS] {
        let Some(&mask) = self.masks.get(index) else { return [0; FIELDS] };
        if mask & ALL_ONE == 0 {
            self.move_to(index);
        }
        row_of(self.row(mask, self.start))
    }

    /// Gives the frequencies of the postings at some places, in words.
    #[inline]
    pub(super) fn each(&mut self, places: Range<usize>, mut each: impl FnMut(usize, Words)) {
        let Some(masks) = self.masks.get(places.clone()) else {
            return places.for_each(|index| each(index, Words::default()));
        };
        self.move_to(places.start);
        let mut start = self.start;
        for (index, &mask) in places.clone().zip(masks) {
            each(index, self.row(mask, start));
            start += usize::from(WIDTHS[usize::from(mask)]);
        }
        (self.at, self.start) = (places.end, start);
    }

    /// Finds where the bytes in `counts` begin for a place.
    #[inline]
    fn move_to(&mut self, index: usize) {
        if index < self.at {
            (self.at, self.start) = (0, 0);
        }
        self.start += widths(&self.masks[self.at..index]);
        self.at = index;
    }

    /// The row of a mask; its bytes in `counts` begin at `start`.
    #[inline(always)]
    fn row(&self, mask: u8, start: usize) -> Words {
        if mask & ALL_ONE != 0 {
            return ONES[usize::from(mask) % ONES.len()];
        }
        let width = usize::from(WIDTHS[usize::from(mask)]);
        let counts = self.counts.get(start..).unwrap_or_default();
        let counts = counts.first_chunk().copied().unwrap_or_else(|| padded(counts));
        // The bytes behind the posting's own are those of the next.
        let counts = u64::from_le_bytes(counts) & ((1 << (8 * width)) - 1);
        let words = pick(mask, counts.to_le_bytes());
        if has_many(counts) { self.with_many(start, row_of(words)) } else { words }
    }

    /// The row with its full frequencies where it has [`MANY`]; its bytes in `counts` begin at `start`.
    #[cold]
    fn with_many(&self, start: usize, mut row: [u16; FIELDS]) -> Words {
        let end = widths(self.masks);
        let Some((counts, many)) = self.counts.split_at_checked(end) else { return words_of(row) };
        let before = counts[..start].iter().filter(|count| **count == MANY).count();
        let mut many = many.as_chunks::<2>().0.iter().skip(before);
        for count in row.iter_mut().filter(|count| **count == u16::from(MANY)) {
            *count = many.next().map_or(0, |bytes| u16::from_le_bytes(*bytes));
        }
        words_of(row)
    }

    /// Whether the block's bytes are those of its masks, no more and no less.
    pub(super) fn is_exact(&self) -> bool {
        let mut reader = Reader::new(self.counts);
        let width = widths(self.masks);
        let sound = self.masks.iter().all(|mask| mask & !ALL_ONE != 0 && mask & !ALL_ONE < 1 << FIELDS);
        let counts = reader.take(width);
        let many = counts.map(|counts| counts.iter().filter(|count| **count == MANY).count());
        sound
            && !self.masks.is_empty()
            && counts.is_some_and(|counts| !counts.contains(&0))
            && many.is_some_and(|many| reader.rest().len() == 2 * many)
    }
}

/// Bytes of counts that belong to masks.
#[inline]
fn widths(masks: &[u8]) -> usize {
    masks.iter().map(|mask| usize::from(WIDTHS[usize::from(*mask)])).sum()
}

/// The frequencies of each field, from those of the fields of a mask and zeros behind them.
#[inline]
fn pick(mask: u8, counts: [u8; PICK]) -> Words {
    let places = &PLACES[usize::from(mask) % PLACES.len()];
    words_of(std::array::from_fn(|field| u16::from(counts[usize::from(places[field]) % PICK])))
}

/// Whether one of eight bytes is [`MANY`].
#[inline]
fn has_many(bytes: u64) -> bool {
    // A byte of the complement is 0: only there, and above such a one, a borrow meets a bit that was not set
    let complement = !bytes;
    complement.wrapping_sub(u64::from_le_bytes([1; 8])) & bytes & u64::from_le_bytes([0x80; 8]) != 0
}

/// The last bytes of a block, and zeros.
#[cold]
fn padded(counts: &[u8]) -> [u8; PICK] {
    let mut bytes = [0; PICK];
    bytes.iter_mut().zip(counts).for_each(|(byte, count)| *byte = *count);
    bytes
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn count() -> impl Strategy<Value = u16> {
        prop_oneof![Just(0u16), Just(1), Just(1), 2u16..300, any::<u16>()]
    }

    proptest! {
        #[test]
        fn every_row_comes_back_in_any_order(
            rows in prop::collection::vec(prop::array::uniform6(count()), 1..130),
            order in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
        ) {
            let rows: Vec<_> = rows.into_iter().filter(|row| row.iter().any(|&count| count > 0)).collect();
            prop_assume!(!rows.is_empty());
            let mut bytes = Vec::new();
            encode(&mut bytes, rows.iter());
            let mut reader = Rows::new(&bytes, rows.len());
            prop_assert!(reader.is_exact());
            for (at, row) in rows.iter().enumerate() {
                prop_assert_eq!(reader.get(at), *row);
            }
            for at in order.iter().map(|at| at.index(rows.len())) {
                prop_assert_eq!(reader.get(at), rows[at]);
                let mut run = Vec::new();
                reader.each(at..rows.len(), |at, words| run.push((at, row_of(words))));
                prop_assert!(run.into_iter().eq(rows.iter().copied().enumerate().skip(at)));
            }
            prop_assert_eq!(reader.get(rows.len()), [0; FIELDS]);
            prop_assert!(!Rows::new(&bytes[..bytes.len() - 1], rows.len()).is_exact());
        }

        #[test]
        fn whatever_the_bytes_say_rows_can_be_read(bytes in prop::collection::vec(any::<u8>(), 0..80), count in 0usize..100) {
            let mut rows = Rows::new(&bytes, count);
            (0..count + 3).rev().chain(0..count).for_each(|at| drop(std::hint::black_box(rows.get(at).to_vec())));
        }
    }
}
