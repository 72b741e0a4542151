//! The representation of a whole file in a search: all documentation tokens of the file, and the direction of the mean
//! of its chunks' vectors.
//!
//! Layout: number of tokens · the tokens, ascending, as differences from the previous token · the components of the
//! mean as signed bytes, or nothing if no chunk has a vector. Numbers are variable-length integers. The representation
//! is derived from the chunks, so the digest of an index does not include it.

use std::collections::BTreeSet;

use aurora_codec::{ByteReader, put_varint};
use aurora_kernels::{dot, squares_signed};

use crate::error::StorageError;
use crate::read::chunk::ChunkId;
use crate::read::snapshot::Snapshot;
use crate::read::vectors::quantise;
use crate::tables::{Table, chunk_key};

impl Snapshot {
    /// Returns the representation of a file, given the id of its first chunk.
    ///
    /// # Errors
    /// Fails if the index is damaged.
    pub fn representation(&self, first: ChunkId) -> Result<FileRepresentation<'_>, StorageError> {
        self.stored_representation(first).map(|(_, representation)| representation)
    }

    /// Returns the encoded representation, without a vector that belongs to an earlier model.
    pub(crate) fn encoded_representation(&self, first: ChunkId) -> Result<&[u8], StorageError> {
        let dimensions = self.manifest().model.as_ref().map(|model| model.dimensions);
        let (row, representation) = self.stored_representation(first)?;
        Ok(representation.bytes_for_model(row, dimensions))
    }

    fn stored_representation(&self, first: ChunkId) -> Result<(&[u8], FileRepresentation<'_>), StorageError> {
        let row = self.get(Table::Representations, &chunk_key(first.0))?;
        let read = row.and_then(|row| Some((row, FileRepresentation::decode(row)?)));
        read.ok_or_else(|| self.damaged(format!("the file of chunk {first} has no valid representation")))
    }
}

/// Builds the representation of a file from the file's chunks in order.
#[derive(Debug, Default)]
pub(crate) struct RepresentationBuilder {
    tokens: BTreeSet<u16>,
    sum: Vec<f32>,
}

impl RepresentationBuilder {
    /// Adds the documentation tokens of a chunk.
    pub(crate) fn add_tokens(&mut self, doc: impl IntoIterator<Item = u16>) {
        self.tokens.extend(doc);
    }

    /// Adds the stored vector of a chunk. All vectors of a file have the same number of dimensions.
    pub(crate) fn add_vector(&mut self, scale: f32, row: &[i8]) {
        self.sum.resize(row.len(), 0.0);
        self.sum.iter_mut().zip(row).for_each(|(sum, &value)| *sum += f32::from(value) * scale);
    }

    /// Returns the encoded representation of the chunks so far.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(2 * self.tokens.len() + self.sum.len() + 4);
        put_varint(&mut bytes, self.tokens.len() as u64);
        let mut before = 0;
        for &token in &self.tokens {
            put_varint(&mut bytes, u64::from(token - before));
            before = token;
        }
        // The sum of finite vectors overflows only for vector lengths that no model produces.
        let (_, row) = quantise(&self.sum).unwrap_or_default();
        bytes.extend(row.iter().map(|&value| value as u8));
        bytes
    }
}

/// The representation of a file, read in place.
#[derive(Debug, Clone)]
pub struct FileRepresentation<'s> {
    count: usize,
    tokens: ByteReader<'s>,
    row: &'s [u8],
}

impl<'s> FileRepresentation<'s> {
    /// Reads a representation. Returns `None` if the bytes are invalid.
    pub(crate) fn decode(bytes: &'s [u8]) -> Option<Self> {
        let mut reader = ByteReader::new(bytes);
        let count = usize::try_from(reader.varint()?).ok().filter(|&count| count <= bytes.len())?;
        let (tokens, mut last) = (reader, 0u64);
        for _ in 0..count {
            last = last.checked_add(reader.varint()?).filter(|&token| token <= u64::from(u16::MAX))?;
        }
        Some(Self { count, tokens, row: reader.rest() })
    }

    /// Returns the encoded representation. A vector with a different number of dimensions is omitted, because it
    /// belongs to an earlier model of the index.
    pub(crate) fn bytes_for_model(&self, bytes: &'s [u8], dimensions: Option<usize>) -> &'s [u8] {
        if Some(self.row.len()) == dimensions { bytes } else { &bytes[..bytes.len() - self.row.len()] }
    }

    /// Documentation tokens of all chunks without duplicates, ascending; see [`crate::StoredTokens`].
    pub fn doc_tokens(&self) -> impl Iterator<Item = u16> + use<'s> {
        let (mut reader, mut last) = (self.tokens, 0u64);
        (0..self.count).map_while(move |_| {
            last = last.saturating_add(reader.varint()?);
            Some(last as u16)
        })
    }

    /// Returns the cosine of a vector of length 1 and the mean of the chunks' vectors. Returns `None` if there is no
    /// mean, if it has a different number of dimensions, or if it is zero.
    pub fn cosine(&self, query: &[f32]) -> Option<f32> {
        let length = (squares_signed(self.row) as f32).sqrt();
        let comparable = length > 0.0 && self.row.len() == query.len();
        comparable.then(|| (dot(query, self.row) / length).clamp(-1.0, 1.0))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Computes the cosine by its definition, in `f64`.
    fn cosine(vectors: &[Vec<i8>], query: &[f32]) -> Option<f64> {
        let sum = |at: usize| vectors.iter().map(|vector| f64::from(vector[at])).sum::<f64>();
        let mean: Vec<f64> = (0..query.len()).map(sum).collect();
        let length = mean.iter().map(|x| x * x).sum::<f64>().sqrt();
        let product = mean.iter().zip(query).map(|(a, &b)| a * f64::from(b)).sum::<f64>();
        (length > 0.0).then(|| product / length)
    }

    proptest! {
        #[test]
        fn a_representation_combines_all_chunks(
            docs in prop::collection::vec(prop::collection::vec(any::<u16>(), 0..9), 0..5),
            vectors in prop::collection::vec(prop::collection::vec(any::<i8>(), 16), 0..5),
        ) {
            let mut builder = RepresentationBuilder::default();
            docs.iter().for_each(|doc| builder.add_tokens(doc.iter().copied()));
            for vector in &vectors {
                builder.add_vector(0.01, vector);
            }
            let bytes = builder.encode();
            let found = FileRepresentation::decode(&bytes).expect("the representation is valid");
            let tokens: BTreeSet<u16> = docs.into_iter().flatten().collect();
            prop_assert!(found.doc_tokens().eq(tokens));
            let query = [0.25; 16];
            match (found.cosine(&query), cosine(&vectors, &query)) {
                (Some(found), Some(expected)) => prop_assert!((f64::from(found) - expected).abs() < 0.02),
                (found, expected) => prop_assert_eq!(found.is_some(), expected.is_some()),
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(found) = FileRepresentation::decode(&bytes) {
                prop_assert!(found.doc_tokens().count() <= bytes.len());
                prop_assert!(found.cosine(&[0.5; 4]).is_none_or(f32::is_finite));
            }
        }
    }
}
