//! Blocks of vectors in an artefact: places, scales, and rows. The codes are computed from the rows.

use crate::read::vectors::BLOCK_IDS;
use crate::read::vectors::VectorBlockWriter;

/// Number of bytes of a place and a scale.
const FIXED_BYTES: usize = 2 + 4;

/// Rebuilds a block from its bare form ([`VectorBlockWriter::bare`]). Returns the block and its number of vectors, or
/// `None` if the bytes are invalid.
pub(super) fn restore(bytes: &[u8], dimensions: usize) -> Option<(VectorBlockWriter, u64)> {
    let count = bytes.len() / (FIXED_BYTES + dimensions);
    if count == 0 || !bytes.len().is_multiple_of(FIXED_BYTES + dimensions) {
        return None;
    }
    let (places, rest) = bytes.split_at(2 * count);
    let (scales, rows) = rest.split_at(4 * count);
    let mut writer = VectorBlockWriter::new(dimensions);
    let mut next = 0;
    let vectors = places.as_chunks().0.iter().zip(scales.as_chunks().0).zip(rows.chunks(dimensions));
    for ((&place, &scale), row) in vectors {
        let (index, scale) = (u16::from_le_bytes(place), f32::from_le_bytes(scale));
        let sound = index >= next && u32::from(index) < BLOCK_IDS && scale.is_finite() && scale >= 0.0;
        if !sound {
            return None;
        }
        next = index + 1;
        writer.push(usize::from(index), scale, row);
    }
    Some((writer, count as u64))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_round_trip(
            rows in prop::collection::btree_map(0..1024usize, (0f32..2.0, prop::array::uniform5(any::<u8>())), 1..40),
        ) {
            let mut writer = VectorBlockWriter::new(5);
            for (&index, &(scale, row)) in &rows {
                writer.push(index, scale, &row);
            }
            let stripped = writer.bare();
            let (restored, count) = restore(&stripped, 5).expect("sound");
            prop_assert_eq!((restored.bare(), count), (stripped.clone(), rows.len() as u64));
            prop_assert_eq!(restored.finish(), writer.finish());
            prop_assert!(restore(&stripped[1..], 5).is_none());
            let mut doubled = stripped.clone();
            doubled.copy_within(0..2, if rows.len() > 1 { 2 } else { 0 });
            prop_assert!(rows.len() == 1 || restore(&doubled, 5).is_none());
            let mut infinite = stripped;
            infinite[2 * rows.len()..2 * rows.len() + 4].copy_from_slice(&f32::INFINITY.to_le_bytes());
            prop_assert!(restore(&infinite, 5).is_none());
        }
    }
}
