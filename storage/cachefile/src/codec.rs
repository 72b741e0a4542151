//! Numbers and bytes in a segment: little-endian integers, and LEB128 varints where most values are small.

/// Reads values from the front of a slice. Every read returns `None` at the end of the slice instead of panicking, because
/// the bytes of a cache file may be anything.
#[derive(Debug, Clone)]
pub struct Decoder<'a> {
    bytes: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// A decoder at the start of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// What is left to read.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes
    }

    /// Whether nothing is left to read.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// The next `len` bytes.
    pub fn bytes(&mut self, len: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(len)?;
        self.bytes = rest;
        Some(taken)
    }

    /// The next byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.array().map(u8::from_le_bytes)
    }

    /// The next two bytes as a number.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// The next four bytes as a number.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// The next eight bytes as a number.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// The next eight bytes as a signed number.
    pub fn i64(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    /// The next number that [`put_varint`] has written.
    pub fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..u64::BITS).step_by(7) {
            let byte = self.u8()?;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (taken, rest) = self.bytes.split_first_chunk()?;
        self.bytes = rest;
        Some(*taken)
    }
}

/// Appends a number as a LEB128 varint: groups of 7 bits, the lowest first.
pub fn put_varint(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Decoder, put_varint};

    proptest! {
        #[test]
        fn numbers_are_read_as_they_were_written(number in any::<u64>()) {
            let mut out = Vec::new();
            put_varint(&mut out, number);
            let mut decoder = Decoder::new(&out);
            prop_assert_eq!(decoder.varint(), Some(number));
            prop_assert!(decoder.is_empty());
        }
    }

    #[test]
    fn reads_stop_at_the_end() {
        let mut decoder = Decoder::new(&[1, 2, 0, 3, 0, 0, 0, 9]);
        assert_eq!((decoder.u8(), decoder.u16(), decoder.u32()), (Some(1), Some(2), Some(3)));
        assert_eq!((decoder.u16(), decoder.rest()), (None, [9].as_slice()));
        assert_eq!((decoder.bytes(2), decoder.bytes(1), decoder.u8()), (None, Some([9].as_slice()), None));
        assert_eq!(Decoder::new(&[0x80; 11]).varint(), None);
    }
}
