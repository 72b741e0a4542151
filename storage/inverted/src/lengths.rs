//! Field lengths of chunks. Each window of chunk ids has one column per field, with one byte per chunk.
//!
//! A byte encodes a number of terms as a floating-point number with five bits of mantissa. Lengths up to 63 are exact;
//! longer lengths are rounded down by less than 1/32. The maximum is 4,032.
//!
//! Layout of a block: a mask of the fields that have terms · [`WINDOW`] bytes for each of these fields.

use crate::chunk_id::{ChunkId, WINDOW};
use crate::field::FIELDS;

/// Size of a column in bytes.
const COLUMN_BYTES: usize = WINDOW as usize;
/// A column without terms.
static EMPTY_COLUMN: [u8; COLUMN_BYTES] = [0; COLUMN_BYTES];

/// Length codes of the fields of a chunk.
pub type LengthCodes = [u8; FIELDS];

/// Encodes a number of terms in a byte, rounded down.
///
/// ```
/// use aurora_inverted::{length_code, length_from_code};
/// assert_eq!(length_from_code(length_code(63)), 63);
/// assert_eq!(length_from_code(length_code(1_000)), 992);
/// ```
#[inline]
pub fn length_code(length: u32) -> u8 {
    let octave = length.checked_ilog2().unwrap_or(0).saturating_sub(5);
    let places = length >> octave;
    u8::try_from((octave << 5) + places).unwrap_or(u8::MAX)
}

/// Decodes the number of terms from a byte.
#[inline]
pub const fn length_from_code(code: u8) -> u32 {
    match code as u32 {
        exact @ 0..64 => exact,
        code => (32 + code % 32) << (code / 32 - 1),
    }
}

/// Adds the lengths of a chunk to the totals of the fields.
pub fn add_lengths(totals: &mut [u64; FIELDS], codes: LengthCodes) {
    totals.iter_mut().zip(codes).for_each(|(total, code)| *total += u64::from(length_from_code(code)));
}

/// The field lengths of one window.
#[derive(Debug, Clone, Copy)]
pub struct LengthColumns<'s> {
    columns: [&'s [u8; COLUMN_BYTES]; FIELDS],
}

impl<'s> LengthColumns<'s> {
    /// The field lengths of a window without terms.
    pub const NONE: Self = Self { columns: [&EMPTY_COLUMN; FIELDS] };

    /// Reads a block; `None` if its size does not match its mask.
    pub fn decode(block: &'s [u8]) -> Option<Self> {
        let (&mask, mut left) = block.split_first()?;
        let mut columns = [&EMPTY_COLUMN; FIELDS];
        for (_, column) in columns.iter_mut().enumerate().filter(|(field, _)| mask >> field & 1 != 0) {
            (*column, left) = left.split_first_chunk()?;
        }
        (left.is_empty() && u32::from(mask) < 1 << FIELDS).then_some(Self { columns })
    }

    /// Returns the length codes of a field, by offset in the window.
    #[inline]
    pub fn column(&self, field: usize) -> &'s [u8; COLUMN_BYTES] {
        self.columns[field]
    }

    /// Returns the length codes of the chunk at an offset.
    #[inline]
    pub fn at(&self, offset: u16) -> LengthCodes {
        self.columns.map(|column| column[usize::from(offset) % COLUMN_BYTES])
    }
}

/// The field lengths of all windows.
#[derive(Debug)]
pub struct FieldLengths<'s> {
    windows: Vec<LengthColumns<'s>>,
}

impl<'s> FieldLengths<'s> {
    /// Joins the columns of all windows, in order.
    pub fn new(windows: Vec<LengthColumns<'s>>) -> Self {
        Self { windows }
    }

    /// Returns the length codes of a chunk; zeros if the chunk does not exist.
    #[inline]
    pub fn of(&self, id: ChunkId) -> LengthCodes {
        let window = self.windows.get((id.0 / WINDOW) as usize);
        window.map_or([0; FIELDS], |window| window.at((id.0 % WINDOW) as u16))
    }
}

/// Encodes the block of a window. `rows` contains the length codes of the window's chunks, in order of ids.
pub fn encode_lengths(rows: &[LengthCodes]) -> Vec<u8> {
    let mut block = vec![0];
    for field in (0..FIELDS).filter(|&field| rows.iter().any(|row| row[field] > 0)) {
        block[0] |= 1 << field;
        let end = block.len() + COLUMN_BYTES;
        block.extend(rows.iter().take(COLUMN_BYTES).map(|row| row[field]));
        block.resize(end, 0);
    }
    block
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn length_codes_are_monotonic_and_have_a_small_error() {
        let lengths: Vec<u32> = (0..=u8::MAX).map(length_from_code).collect();
        assert!(lengths.is_sorted_by(|a, b| a < b));
        assert!((0..=u8::MAX).all(|code| length_code(length_from_code(code)) == code));
        assert_eq!(length_code(u32::MAX), u8::MAX);
        for length in 0..4_096 {
            let near = length_from_code(length_code(length));
            assert!(near <= length && (length - near) * 32 < length.max(1));
        }
    }

    proptest! {
        #[test]
        fn rows_round_trip(rows in prop::collection::vec(prop::array::uniform7(prop_oneof![Just(0u8), any::<u8>()]), 0..40), blank in 0..FIELDS) {
            let rows: Vec<LengthCodes> = rows.into_iter().map(|mut row| { row[blank] = 0; row }).collect();
            let block = encode_lengths(&rows);
            let read = LengthColumns::decode(&block).expect("the bytes are valid");
            for offset in 0..60 {
                prop_assert_eq!(read.at(offset), rows.get(usize::from(offset)).copied().unwrap_or_default());
            }
            prop_assert!(LengthColumns::decode(&block[..block.len() - 1]).is_none());
        }
    }
}
