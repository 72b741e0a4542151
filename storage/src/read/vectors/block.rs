//! A block of vectors, stored as two values. A search reads the first value of every block, but only a few rows of the
//! second.
//!
//! Layout of the first value: number of dimensions (u32) · a bit for each of 1,024 ids, set if the id has a vector ·
//! the scale (f32) of each vector · the CRC-32 of each row of signed bytes · the code of each vector, which contains
//! the signs of the components. Layout of the second value: the other seven bits of each component ([`code::pack`]).

use std::ops::Range;

use aurora_lmdb_pages::{Damage, crc};

use super::code;
use crate::tables::{Operation, Table, block_key};

/// Number of chunk ids in a block.
pub(crate) const BLOCK_IDS: u32 = 1024;
/// Number of bytes of an index and a scale in an artefact.
const BARE_BYTES: usize = 2 + 4;
/// Number of bytes of the bit set of ids with vectors.
const PRESENCE_BYTES: usize = BLOCK_IDS as usize / 8;

/// Encoded vectors of a block, in the order of their ids.
#[derive(Debug, Default)]
pub(crate) struct EncodedVectors {
    scales: Vec<u8>,
    checksums: Vec<u8>,
    codes: Vec<u8>,
    packed: Vec<u8>,
}

impl EncodedVectors {
    /// Adds a vector. All vectors must have the same number of dimensions.
    pub(crate) fn push(&mut self, scale: f32, row: &[u8]) {
        self.scales.extend_from_slice(&scale.to_le_bytes());
        self.checksums.extend_from_slice(&crc(row).to_le_bytes());
        code::encode(&mut self.codes, row);
        code::pack(&mut self.packed, row);
    }

    /// Adds the vectors of `others` in a range. The vectors must have `dimensions` dimensions.
    fn extend(&mut self, others: &Self, range: Range<usize>, dimensions: usize) {
        let bytes = |width: usize| range.start * width..range.end * width;
        self.scales.extend_from_slice(&others.scales[bytes(4)]);
        self.checksums.extend_from_slice(&others.checksums[bytes(4)]);
        self.codes.extend_from_slice(&others.codes[bytes(code::length(dimensions))]);
        self.packed.extend_from_slice(&others.packed[bytes(code::packed_length(dimensions))]);
    }
}

/// Builds a block from vectors in the order of their ids.
#[derive(Debug)]
pub(crate) struct VectorBlockWriter {
    dimensions: usize,
    presence: [u8; PRESENCE_BYTES],
    vectors: EncodedVectors,
}

impl VectorBlockWriter {
    /// Creates a builder without vectors.
    pub(crate) fn new(dimensions: usize) -> Self {
        Self { dimensions, presence: [0; PRESENCE_BYTES], vectors: EncodedVectors::default() }
    }

    /// Adds the vector of an id, given the id's index in the block. `row` contains signed bytes.
    pub(crate) fn push(&mut self, index: usize, scale: f32, row: &[u8]) {
        self.presence[index / 8] |= 1 << (index % 8);
        self.vectors.push(scale, row);
    }

    /// Adds the vectors in a range of `vectors`. `indices` are the indices of their ids in the block.
    pub(super) fn extend(
        &mut self,
        indices: impl IntoIterator<Item = usize>,
        vectors: &EncodedVectors,
        range: Range<usize>,
    ) {
        indices.into_iter().for_each(|index| self.presence[index / 8] |= 1 << (index % 8));
        self.vectors.extend(vectors, range, self.dimensions);
    }

    /// Returns the operations that write the block; empty if no id has a vector.
    pub(crate) fn operations(self, block: u32) -> Vec<Operation> {
        let put = |table, value| Operation::put(table, block_key(block), value);
        match self.finish() {
            Some(EncodedBlock { codes, packed }) => vec![put(Table::Codes, codes), put(Table::Vectors, packed)],
            None => Vec::new(),
        }
    }

    /// Encodes the vectors for an artefact, without derived data. Layout: indices · scales · rows.
    pub(crate) fn bare(&self) -> Vec<u8> {
        let indices =
            (0..BLOCK_IDS as u16).filter(|index| self.presence[usize::from(index / 8)] >> (index % 8) & 1 != 0);
        let mut bytes: Vec<u8> = indices.flat_map(u16::to_le_bytes).collect();
        bytes.extend_from_slice(&self.vectors.scales);
        let codes = self.vectors.codes.chunks_exact(code::length(self.dimensions));
        let packed = self.vectors.packed.chunks_exact(code::packed_length(self.dimensions));
        for (code, packed) in codes.zip(packed) {
            let start = bytes.len();
            bytes.resize(start + self.dimensions, 0);
            aurora_kernels::unpack_signed(code, packed, &mut bytes[start..]);
        }
        bytes
    }

    /// Rebuilds a block from its form in an artefact. Returns the block and its number of vectors; `None` if the bytes
    /// are invalid.
    pub(crate) fn from_bare(bytes: &[u8], dimensions: usize) -> Option<(Self, u64)> {
        let count = bytes.len() / (BARE_BYTES + dimensions);
        if count == 0 || !bytes.len().is_multiple_of(BARE_BYTES + dimensions) {
            return None;
        }
        let (indices, rest) = bytes.split_at(2 * count);
        let (scales, rows) = rest.split_at(4 * count);
        let mut writer = Self::new(dimensions);
        let mut next = 0;
        let vectors = indices.as_chunks().0.iter().zip(scales.as_chunks().0).zip(rows.chunks(dimensions));
        for ((&index, &scale), row) in vectors {
            let (index, scale) = (u16::from_le_bytes(index), f32::from_le_bytes(scale));
            let is_valid = index >= next && u32::from(index) < BLOCK_IDS && scale.is_finite() && scale >= 0.0;
            if !is_valid {
                return None;
            }
            next = index + 1;
            writer.push(usize::from(index), scale, row);
        }
        Some((writer, count as u64))
    }

    /// Returns both values of the block; `None` if no id has a vector.
    pub(crate) fn finish(self) -> Option<EncodedBlock> {
        let EncodedVectors { scales, checksums, codes, .. } = &self.vectors;
        if scales.is_empty() {
            return None;
        }
        let dimensions = (self.dimensions as u32).to_le_bytes();
        let codes = [&dimensions[..], &self.presence, scales, checksums, codes].concat();
        Some(EncodedBlock { codes, packed: self.vectors.packed })
    }
}

/// The two values of a block.
#[derive(Debug, PartialEq)]
pub(crate) struct EncodedBlock {
    /// All data except the lower bits of the components.
    pub(crate) codes: Vec<u8>,
    /// The lower bits of the components.
    pub(crate) packed: Vec<u8>,
}

/// A vector: its scale and signed bytes.
pub(crate) type StoredVector = (f32, Vec<u8>);

/// A stored block.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VectorBlock<'a> {
    /// Number of dimensions of the vectors.
    pub(crate) dimensions: usize,
    presence: &'a [u8; PRESENCE_BYTES],
    scales: &'a [[u8; 4]],
    checksums: &'a [[u8; 4]],
    codes: &'a [u8],
    packed: &'a [u8],
}

impl<'a> VectorBlock<'a> {
    /// Reads a block from its two values. Returns `None` if they are damaged.
    pub(crate) fn decode(codes: &'a [u8], packed: &'a [u8]) -> Option<Self> {
        let (dimensions, rest) = codes.split_first_chunk()?;
        let (presence, rest) = rest.split_first_chunk::<PRESENCE_BYTES>()?;
        let dimensions = u32::from_le_bytes(*dimensions) as usize;
        let count = presence.iter().map(|byte| byte.count_ones() as usize).sum::<usize>();
        let (scales, rest) = rest.split_at_checked(4 * count)?;
        let (checksums, codes) = rest.split_at_checked(4 * count)?;
        let is_valid = dimensions > 0
            && code::length(dimensions).checked_mul(count)? == codes.len()
            && code::packed_length(dimensions).checked_mul(count)? == packed.len();
        let (scales, checksums) = (scales.as_chunks().0, checksums.as_chunks().0);
        is_valid.then_some(Self { dimensions, presence, scales, checksums, codes, packed })
    }

    /// Number of vectors.
    pub(crate) fn len(&self) -> usize {
        self.scales.len()
    }

    /// Returns the vector of an id, given the id's index in the block; `None` if the id has no vector.
    pub(crate) fn get(&self, index: usize) -> Result<Option<StoredVector>, Damage> {
        self.order_of(index).map(|order| self.row(order)).transpose()
    }

    /// Returns the index of an id's vector among the stored vectors, given the index of the id in the block; `None` if
    /// the id has no vector.
    pub(super) fn order_of(&self, index: usize) -> Option<usize> {
        let byte = self.presence.get(index / 8).copied().filter(|byte| byte >> (index % 8) & 1 != 0)?;
        let before = self.presence[..index / 8].iter().map(|byte| byte.count_ones()).sum::<u32>()
            + (byte & ((1 << (index % 8)) - 1)).count_ones();
        Some(before as usize)
    }

    /// Returns every vector with the index of its id in the block.
    pub(crate) fn iter(&self) -> impl Iterator<Item = Result<(usize, StoredVector), Damage>> + '_ {
        self.stored_indices().map(|(order, index)| self.row(order).map(|row| (index, row)))
    }

    /// Returns the index of every vector among the stored vectors, with the index of its id in the block.
    pub(crate) fn stored_indices(&self) -> impl Iterator<Item = (usize, usize)> + use<'a> {
        let presence = self.presence;
        (0..BLOCK_IDS as usize).filter(move |index| presence[index / 8] >> (index % 8) & 1 != 0).enumerate()
    }

    /// Returns the codes, one after another.
    pub(super) fn codes(&self) -> &'a [u8] {
        self.codes
    }

    /// Returns the index of a vector's id in the block, given the index of the vector among the stored vectors.
    pub(super) fn index_of(&self, order: usize) -> usize {
        if self.len() == BLOCK_IDS as usize {
            return order;
        }
        let mut left = order as u32;
        for (at, byte) in self.presence.iter().enumerate() {
            let here = byte.count_ones();
            if left < here {
                let bits = (0..left).fold(*byte, |bits, _| bits & (bits - 1));
                return at * 8 + bits.trailing_zeros() as usize;
            }
            left -= here;
        }
        BLOCK_IDS as usize - 1
    }

    /// Reads a vector into `row`, given its index among the stored vectors, and returns its scale.
    pub(super) fn read(&self, order: usize, row: &mut Vec<u8>) -> Result<f32, Damage> {
        let (code, packed) = (code::length(self.dimensions), code::packed_length(self.dimensions));
        row.resize(self.dimensions, 0);
        let (code, packed) = (&self.codes[order * code..][..code], &self.packed[order * packed..][..packed]);
        aurora_kernels::unpack_signed(code, packed, row);
        if crc(row) != u32::from_le_bytes(self.checksums[order]) {
            return Err(Damage("a vector has a wrong checksum".to_owned()));
        }
        Ok(f32::from_le_bytes(self.scales[order]))
    }

    /// Prefetches the memory that [`Self::read`] will read.
    pub(super) fn prefetch(&self, order: usize) {
        let (code, packed) = (code::length(self.dimensions), code::packed_length(self.dimensions));
        aurora_kernels::prefetch(&self.codes[order * code..][..code]);
        aurora_kernels::prefetch(&self.packed[order * packed..][..packed]);
    }

    fn row(&self, order: usize) -> Result<StoredVector, Damage> {
        let mut row = Vec::new();
        Ok((self.read(order, &mut row)?, row))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn vectors_round_trip(
            rows in prop::collection::btree_map(0..1024usize, (any::<u16>(), prop::array::uniform5(any::<u8>())), 0..40),
        ) {
            let mut writer = VectorBlockWriter::new(5);
            for (&index, &(scale, row)) in &rows {
                writer.push(index, f32::from(scale), &row);
            }
            let encoded = writer.finish();
            prop_assert_eq!(encoded.is_none(), rows.is_empty());
            if let Some(EncodedBlock { codes, packed: bytes }) = encoded {
                let block = VectorBlock::decode(&codes, &bytes).expect("the block is valid");
                let read: BTreeMap<_, _> = block
                    .iter()
                    .map(|row| row.expect("the block is valid"))
                    .map(|(index, (scale, row))| (index, (scale as u16, row.try_into().expect("the row has five components"))))
                    .collect();
                prop_assert_eq!(&read, &rows);
                for (order, row) in block.iter().enumerate() {
                    prop_assert_eq!(block.index_of(order), row.expect("the block is valid").0);
                }
                for index in 0..1024 {
                    let one = block.get(index).expect("the block is valid");
                    let one = one.map(|(scale, row)| (scale as u16, row.try_into().expect("the row has five components")));
                    prop_assert_eq!(one, rows.get(&index).copied());
                }
                prop_assert!(VectorBlock::decode(&codes[..codes.len() - 1], &bytes).is_none());
                prop_assert!(VectorBlock::decode(&codes, &bytes[1..]).is_none());
                let mut damaged = bytes.clone();
                damaged[0] ^= 1;
                prop_assert!(VectorBlock::decode(&codes, &damaged).expect("the lengths are unchanged").row(0).is_err());
            }
        }

        #[test]
        fn bare_blocks_round_trip(
            rows in prop::collection::btree_map(0..1024usize, (0f32..2.0, prop::array::uniform5(any::<u8>())), 1..40),
        ) {
            let mut writer = VectorBlockWriter::new(5);
            for (&index, &(scale, row)) in &rows {
                writer.push(index, scale, &row);
            }
            let stripped = writer.bare();
            let (restored, count) = VectorBlockWriter::from_bare(&stripped, 5).expect("the block is valid");
            prop_assert_eq!((restored.bare(), count), (stripped.clone(), rows.len() as u64));
            prop_assert_eq!(restored.finish(), writer.finish());
            prop_assert!(VectorBlockWriter::from_bare(&stripped[1..], 5).is_none());
            let mut doubled = stripped.clone();
            doubled.copy_within(0..2, if rows.len() > 1 { 2 } else { 0 });
            prop_assert!(rows.len() == 1 || VectorBlockWriter::from_bare(&doubled, 5).is_none());
            let mut infinite = stripped;
            infinite[2 * rows.len()..2 * rows.len() + 4].copy_from_slice(&f32::INFINITY.to_le_bytes());
            prop_assert!(VectorBlockWriter::from_bare(&infinite, 5).is_none());
        }
    }
}
