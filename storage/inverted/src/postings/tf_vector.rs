//! Tf vectors, which hold the frequencies of a term in the fields of a chunk, and their encoding in the term
//! dictionary.
//!
//! Encoding: a mask of the fields that contain the term · the frequency in each of these fields, unless all are 1.

use crate::field::FIELDS;
use aurora_codec::{ByteReader, put_varint};

/// The frequencies of a term in the fields of a chunk, in the order of [`crate::Field`].
pub type TfVector = [u16; FIELDS];

/// Flag in the mask byte: every field that contains the term contains it once.
const ALL_ONE: u8 = 0x80;

/// For each mask, the vector with a frequency of 1 in all fields of the mask.
static ONCE_IN: [TfVector; 1 << FIELDS] = {
    let mut vectors = [[0; FIELDS]; 1 << FIELDS];
    let mut at = 0;
    while at < FIELDS << FIELDS {
        let (mask, field) = (at / FIELDS, at % FIELDS);
        vectors[mask][field] = (mask >> field & 1) as u16;
        at += 1;
    }
    vectors
};

/// Appends a vector.
#[inline]
pub(crate) fn encode(out: &mut Vec<u8>, frequencies: &TfVector) {
    let mut mask = 0u8;
    let mut all_one = true;
    for (field, &count) in frequencies.iter().enumerate() {
        if count > 0 {
            mask |= 1 << field;
            all_one &= count == 1;
        }
    }
    if all_one {
        out.push(mask | ALL_ONE);
        return;
    }
    out.push(mask);
    for &count in frequencies.iter().filter(|&&count| count > 0) {
        put_varint(out, u64::from(count));
    }
}

/// Reads a vector.
#[inline]
pub(crate) fn decode(reader: &mut ByteReader<'_>) -> Option<TfVector> {
    let mask = reader.byte()?;
    if mask & ALL_ONE != 0 {
        return Some(ONCE_IN[usize::from(mask) % ONCE_IN.len()]);
    }
    let mut frequencies = [0; FIELDS];
    let mut left = mask & ((1 << FIELDS) - 1);
    while left != 0 {
        frequencies[left.trailing_zeros() as usize] = reader.varint()?.try_into().ok()?;
        left &= left - 1;
    }
    Some(frequencies)
}

/// Length in bytes of the encoded vector at the beginning of `bytes`.
#[inline]
pub(crate) fn encoded_length(bytes: &[u8]) -> usize {
    match bytes.first() {
        None => 0,
        Some(mask) if mask & ALL_ONE != 0 => 1,
        Some(mask) => {
            let numbers = mask.count_ones() as usize;
            let ends = bytes[1..].iter().enumerate().filter(|(_, byte)| **byte < 0x80);
            numbers.checked_sub(1).and_then(|last| ends.map(|(at, _)| at).nth(last)).map_or(1, |at| at + 2)
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn frequencies_round_trip(rows in prop::collection::vec(
            prop::array::uniform7(prop_oneof![Just(0u16), Just(1u16), any::<u16>()]), 0..50)) {
            let mut bytes = Vec::new();
            rows.iter().for_each(|row| encode(&mut bytes, row));
            let mut reader = ByteReader::new(&bytes);
            for row in &rows {
                let own = encoded_length(reader.rest());
                let mut alone = Vec::new();
                encode(&mut alone, row);
                prop_assert_eq!(own, alone.len());
                prop_assert_eq!(decode(&mut reader), Some(*row));
            }
            prop_assert!(reader.is_empty());
        }
    }
}
