//! Parts and the objects with their bytes.
//!
//! A part is identified by the BLAKE3 hash of its bytes. The object `parts/HASH` has these bytes, compressed by zstd.
//! The object `parts/HASH-BASE` has them as well, compressed with the bytes of the part `BASE` as the dictionary. If a
//! few rows of a part change, such an object is little larger than these rows. The base always has an object without a
//! dictionary, so no object depends on more than one other.

use std::cell::RefCell;
use std::io;

use serde::{Deserialize, Serialize};
use zstd::zstd_safe::{CCtx, CParameter, DCtx, ErrorCode, compress_bound, get_error_name, get_frame_content_size};

/// Compression level.
const LEVEL: i32 = 6;
/// Maximum size of a part in bytes. Only a part with a single row is nearly as large.
const MAX_PART_BYTES: u64 = 72 << 20;
/// Base-2 logarithm of the minimum and the maximum size of the window in bytes, within which zstd finds repetitions.
const WINDOW_BITS: (u32, u32) = (10, 27);
/// Base-2 logarithm of the minimum and the maximum number of positions at which zstd finds repetitions. A position
/// takes four bytes. If a dictionary has more bytes, repetitions of its first bytes are not found.
const POSITION_BITS: (u32, u32) = (17, 22);

thread_local! {
    /// Decompresses objects without a dictionary. Its creation takes as long as the decompression of a small part.
    static WITHOUT_BASE: RefCell<DCtx<'static>> = RefCell::new(DCtx::create());
}

/// The bytes of a part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    /// BLAKE3 hash in hexadecimal.
    pub(crate) hash: String,
    /// Size in bytes.
    pub(crate) length: u64,
    /// Size of the object in bytes. Another version of zstd may write an object of another size.
    pub(crate) compressed: u64,
}

/// A part in a remote.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredPart {
    /// Name of the group to which the part belongs.
    pub(crate) group: String,
    /// Identifies the end of the part in its group, see [`aurora_storage::DividedPart`].
    pub(crate) end: u32,
    /// The bytes.
    pub(crate) part: Part,
    /// The part whose bytes are the dictionary of the object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) base: Option<Part>,
}

impl Part {
    /// Computes the hash of bytes. The size of the object is not known yet.
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Self { hash: blake3::hash(bytes).to_hex().to_string(), length: bytes.len() as u64, compressed: 0 }
    }

    fn is_valid(&self) -> bool {
        self.hash.len() == 64
            && self.hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
            && self.length <= MAX_PART_BYTES
            && self.compressed <= compress_bound(MAX_PART_BYTES as usize) as u64
    }
}

impl StoredPart {
    /// Returns the name of the object below `parts`.
    pub(crate) fn object(&self) -> String {
        match &self.base {
            Some(base) => format!("{}-{}", self.part.hash, base.hash),
            None => self.part.hash.clone(),
        }
    }

    /// Returns the part that is the base.
    pub(crate) fn base(&self) -> Option<Self> {
        let base = self.base.clone();
        base.map(|part| Self { group: self.group.clone(), end: self.end, part, base: None })
    }

    /// Returns the parts whose objects are necessary, the base first.
    pub(crate) fn with_base(&self) -> impl Iterator<Item = Self> + use<> {
        self.base().into_iter().chain([self.clone()])
    }

    /// Whether the hashes and sizes are possible.
    pub(crate) fn is_valid(&self) -> bool {
        let is_base = |base: &Part| base.is_valid() && base.hash != self.part.hash;
        self.part.is_valid() && self.base.as_ref().is_none_or(is_base)
    }

    /// Returns the maximum size of an object with the part in bytes.
    pub(crate) fn max_bytes(&self) -> u64 {
        compress_bound(self.part.length.min(MAX_PART_BYTES) as usize) as u64
    }

    /// Returns the maximum memory in bytes for the object, the part and its base.
    pub(crate) fn memory(&self) -> u64 {
        self.max_bytes() + self.part.length + self.base.as_ref().map_or(0, |base| base.length)
    }

    /// Decompresses the part, given the bytes of its base, and checks the hash.
    pub(crate) fn decode(&self, object: &[u8], base: Option<&[u8]>) -> Result<Vec<u8>, String> {
        let length = self.part.length;
        // The length may be forged, so it must equal the length in the header before memory is allocated for it.
        if length > MAX_PART_BYTES || get_frame_content_size(object).ok().flatten() != Some(length) {
            return Err("it has the wrong length".to_owned());
        }
        let mut bytes = Vec::with_capacity(length as usize);
        let decompressed = match base {
            Some(base) => {
                let mut context = DCtx::create();
                context.ref_prefix(base).and_then(|_| context.decompress(&mut bytes, object))
            }
            None => WITHOUT_BASE.with_borrow_mut(|context| context.decompress(&mut bytes, object)),
        };
        decompressed.map_err(|code| get_error_name(code).to_owned())?;
        if bytes.len() as u64 != length || blake3::hash(&bytes).to_hex().as_str() != self.part.hash {
            return Err("its checksum is wrong".to_owned());
        }
        Ok(bytes)
    }
}

/// Compresses the bytes of a part, perhaps with the bytes of a base as the dictionary.
pub(crate) fn encode(bytes: &[u8], base: Option<&[u8]>) -> io::Result<Vec<u8>> {
    let error = |code: ErrorCode| io::Error::other(get_error_name(code));
    let mut object = Vec::with_capacity(compress_bound(bytes.len()));
    let mut context = CCtx::create();
    context.set_parameter(CParameter::CompressionLevel(LEVEL)).map_err(error)?;
    if let Some(base) = base {
        let bits = (base.len() + bytes.len()).next_power_of_two().ilog2();
        let (window, positions) = (
            CParameter::WindowLog(bits.clamp(WINDOW_BITS.0, WINDOW_BITS.1)),
            CParameter::HashLog(bits.clamp(POSITION_BITS.0, POSITION_BITS.1)),
        );
        context.set_parameter(window).map_err(error)?;
        context.set_parameter(positions).map_err(error)?;
        context.ref_prefix(base).map_err(error)?;
    }
    context.compress2(&mut object, bytes).map_err(error)?;
    object.shrink_to_fit();
    Ok(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns bytes that do not compress.
    fn noise(length: usize, seed: u64) -> Vec<u8> {
        let mut bytes = vec![0; length];
        blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
        bytes
    }

    fn stored(bytes: &[u8], base: Option<&[u8]>) -> StoredPart {
        StoredPart { group: String::new(), end: 0, part: Part::new(bytes), base: base.map(Part::new) }
    }

    #[test]
    fn a_change_in_a_part_of_any_size_costs_little() {
        for length in [1, 100, 5000, 300_000, 1 << 20, 5 << 20] {
            let base = noise(length, 1);
            let mut bytes = base.clone();
            let at = length / 2;
            bytes.splice(at..at, noise(50, 2));
            let object = encode(&bytes, Some(&base)).expect("the bytes can be compressed");
            assert!(object.len() < 100 + length / 500, "{} of {length}", object.len());
            let part = stored(&bytes, Some(&base));
            assert!(part.decode(&object, Some(&base)).is_ok_and(|decoded| decoded == bytes));
            for wrong in [None, Some(&[][..]), Some(&bytes[..]), Some(&base[..length - 1])] {
                let decoded = part.decode(&object, wrong);
                assert!(decoded.is_err() || length == 1, "{length}");
            }
        }
    }

    #[test]
    fn a_base_that_looks_like_a_trained_dictionary_is_plain_bytes() {
        let base = [&[0x37, 0xA4, 0x30, 0xEC][..], &noise(1000, 3)].concat();
        let bytes = [&base[..], b"end"].concat();
        let object = encode(&bytes, Some(&base)).expect("the bytes can be compressed");
        assert!(object.len() < 100);
        assert!(stored(&bytes, Some(&base)).decode(&object, Some(&base)).is_ok_and(|decoded| decoded == bytes));
    }

    #[test]
    fn forged_lengths_and_objects_are_refused() {
        let bytes = vec![7; 1 << 20];
        let object = encode(&bytes, None).expect("the bytes can be compressed");
        let part = stored(&bytes, None);
        for length in [0, 1, part.part.length - 1, part.part.length + 1, MAX_PART_BYTES, u64::MAX] {
            let mut forged = part.clone();
            forged.part.length = length;
            assert!(forged.decode(&object, None).is_err());
        }
        for damaged in [&object[1..], &object[..object.len() - 1], &[], &[object.clone(), object.clone()].concat()] {
            assert!(part.decode(damaged, None).is_err());
        }
        // A frame that announces few bytes, and a second one that has many.
        let small = encode(b"x", None).expect("the bytes can be compressed");
        assert!(stored(b"x", None).decode(&[small, object].concat(), None).is_err());
        assert!(!stored(&bytes, Some(&bytes)).is_valid());
    }
}
