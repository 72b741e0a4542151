//! The byte encoding that all files of an index use: variable-length and fixed-length integers, and a reader of bytes
//! that may be truncated anywhere.
//!
//! This crate does not compute checksums, does not access files, and does not interpret the bytes. There are two
//! integer encodings: LEB128 varints where most values are small, and little-endian integers elsewhere. Values of serde
//! types are written by postcard, which encodes numbers, texts and lists in the same way.
//!
//! ```
//! use aurora_codec::{ByteReader, put_sized, put_varint};
//!
//! let mut bytes = Vec::new();
//! put_varint(&mut bytes, 300);
//! put_sized(&mut bytes, b"name");
//! assert_eq!(bytes, b"\xac\x02\x04name");
//!
//! let mut reader = ByteReader::new(&bytes);
//! assert_eq!((reader.varint(), reader.sized()), (Some(300), Some(b"name".as_slice())));
//! assert_eq!((reader.is_empty(), reader.byte()), (true, None));
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

use serde::{Deserialize, Serialize};

/// Appends a number in LEB128: groups of 7 bits, lowest first.
#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Appends a signed number in zigzag encoding. Numbers of small magnitude take few bytes, whatever their sign.
pub fn put_zigzag(out: &mut Vec<u8>, value: i64) {
    put_varint(out, ((value << 1) ^ (value >> 63)) as u64);
}

/// Appends bytes, preceded by their length.
pub fn put_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// Appends the number of items, then the items.
pub fn put_list<T>(out: &mut Vec<u8>, list: &[T], put: impl Fn(&mut Vec<u8>, &T)) {
    put_varint(out, list.len() as u64);
    list.iter().for_each(|item| put(out, item));
}

/// Appends a value, field by field. Numbers are encoded as by [`put_varint`] and [`put_zigzag`]; single bytes and
/// floats are copied; a text or list follows its length. An optional value is encoded as a list with at most one item.
/// An enum is encoded as the number of its variant, followed by the fields of the variant.
pub fn put<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) {
    postcard::to_io(value, out).expect("the lengths of all lists are known, and writing to a vector cannot fail");
}

/// Length in bytes of a number as [`put_varint`] encodes it.
#[inline]
pub fn varint_length(value: u64) -> usize {
    (64 - (value | 1).leading_zeros()).div_ceil(7) as usize
}

/// Reads a slice from its beginning. Every read returns `None` if too few bytes are left.
#[derive(Debug, Clone, Copy)]
pub struct ByteReader<'a> {
    bytes: &'a [u8],
}

impl<'a> ByteReader<'a> {
    /// Creates a reader at the beginning of `bytes`.
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// The bytes that have not been read.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether everything has been read.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next byte.
    #[inline]
    pub fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(first)
    }

    /// The next `len` bytes.
    #[inline]
    pub fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        Some(taken)
    }

    /// A number written by [`put_varint`].
    #[inline]
    pub fn varint(&mut self) -> Option<u64> {
        match self.bytes.split_first() {
            // Most numbers are small.
            Some((&byte, rest)) if byte < 0x80 => {
                self.bytes = rest;
                Some(u64::from(byte))
            }
            _ => self.long_varint(),
        }
    }

    // Inlined across the crate boundary because loops over postings call it.
    #[inline]
    fn long_varint(&mut self) -> Option<u64> {
        let mut value = 0u64;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// The next two bytes as a little-endian number.
    #[inline]
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// The next four bytes as a little-endian number.
    #[inline]
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// The next eight bytes as a little-endian number.
    #[inline]
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// The next eight bytes as a signed little-endian number.
    #[inline]
    pub fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    #[inline]
    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*taken)
    }

    /// A number written by [`put_zigzag`].
    #[inline]
    pub fn zigzag(&mut self) -> Option<i64> {
        let value = self.varint()?;
        Some((value >> 1) as i64 ^ -((value & 1) as i64))
    }

    /// Bytes written by [`put_sized`].
    #[inline]
    pub fn sized(&mut self) -> Option<&'a [u8]> {
        let length = self.length()?;
        self.take(length)
    }

    /// Text written by [`put_sized`].
    #[inline]
    pub fn text(&mut self) -> Option<&'a str> {
        std::str::from_utf8(self.sized()?).ok()
    }

    /// A copy of text written by [`put_sized`].
    pub fn string(&mut self) -> Option<String> {
        self.text().map(str::to_owned)
    }

    /// A value written by [`put`].
    pub fn read<T: Deserialize<'a>>(&mut self) -> Option<T> {
        let (value, rest) = postcard::take_from_bytes(self.bytes).ok()?;
        self.bytes = rest;
        Some(value)
    }

    /// Items written by [`put_list`]. `read` must consume at least one byte for each item, so that a damaged length
    /// cannot make the list endless.
    pub fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let length = self.length()?;
        let mut list = Vec::with_capacity(length.min(self.bytes.len()));
        for _ in 0..length {
            list.push(read(self)?);
        }
        Some(list)
    }

    /// A number written by [`put_varint`] that fits in 32 bits.
    #[inline]
    pub fn varint32(&mut self) -> Option<u32> {
        self.varint()?.try_into().ok()
    }

    /// A number written by [`put_varint`] that fits in a `usize`.
    #[inline]
    pub fn length(&mut self) -> Option<usize> {
        self.varint()?.try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn varints_round_trip(values in prop::collection::vec((any::<u64>(), 0..64).prop_map(|(value, bits)| value >> bits), 0..20)) {
            let mut bytes = Vec::new();
            values.iter().for_each(|&value| put_varint(&mut bytes, value));
            prop_assert_eq!(values.iter().map(|&value| varint_length(value)).sum::<usize>(), bytes.len());
            let mut reader = ByteReader::new(&bytes);
            for value in &values {
                prop_assert_eq!(reader.varint(), Some(*value));
            }
            prop_assert!(reader.is_empty() && reader.varint().is_none());
        }
    }

    proptest! {
        #[test]
        fn values_are_encoded_field_by_field(texts in prop::collection::vec(".{0,9}", 0..4), number in any::<u64>(), time in any::<i64>(), hash in prop::option::of(any::<[u8; 16]>())) {
            let (mut whole, mut fields) = (Vec::new(), Vec::new());
            put(&mut whole, &(&texts, number, time, hash, texts.join("").as_bytes()));
            put_list(&mut fields, &texts, |out, text| put_sized(out, text.as_bytes()));
            put_varint(&mut fields, number);
            put_zigzag(&mut fields, time);
            put_list(&mut fields, hash.as_slice(), |out, hash| out.extend_from_slice(hash));
            put_sized(&mut fields, texts.join("").as_bytes());
            prop_assert_eq!(&whole, &fields);
            let mut reader = ByteReader::new(&whole);
            let bytes = texts.join("").into_bytes();
            prop_assert_eq!(reader.read(), Some((texts, number, time, hash, bytes.as_slice())));
            prop_assert!(reader.is_empty() && reader.read::<u8>().is_none());
        }
    }

    #[test]
    fn reads_stop_at_the_end() {
        let mut reader = ByteReader::new(&[1, 2, 0, 3, 0, 0, 0, 9]);
        assert_eq!((reader.byte(), reader.u16(), reader.u32()), (Some(1), Some(2), Some(3)));
        assert_eq!((reader.u16(), reader.rest()), (None, [9].as_slice()));
        assert_eq!((reader.take(2), reader.take(1), reader.byte()), (None, Some([9].as_slice()), None));
        assert_eq!(ByteReader::new(&[0x80; 11]).varint(), None);
    }
}
