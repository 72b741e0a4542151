//! Reads tensors from a `safetensors` file.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use aurora_confined::open_regular;
use safetensors::Dtype;
use safetensors::tensor::Metadata;

use crate::model_error::ModelError;

/// Maximum size of a file's header in bytes. Headers of real models are much smaller.
const MAX_HEADER_BYTES: u64 = 64 << 20;

pub(super) struct TensorFile {
    path: PathBuf,
    file: File,
    metadata: Metadata,
    /// Offset of the tensor data.
    start: u64,
    /// Prefix of the names of the encoder's tensors: `bert.`, or empty.
    prefix: &'static str,
}

impl TensorFile {
    pub(super) fn open(path: &Path) -> Result<Self, ModelError> {
        let damaged = |reason: String| ModelError::Damaged { path: path.to_owned(), reason };
        let mut file = open_regular(path).map_err(ModelError::io(path))?;
        let mut head = [0u8; 8];
        file.read_exact(&mut head).map_err(ModelError::io(path))?;
        let length = u64::from_le_bytes(head);
        if length > MAX_HEADER_BYTES {
            return Err(damaged(format!("it is not a safetensors file: its header would have {length} bytes")));
        }
        let mut header = Vec::new();
        file.by_ref().take(length).read_to_end(&mut header).map_err(ModelError::io(path))?;
        let metadata: Metadata =
            serde_json::from_slice(&header).map_err(|error| damaged(format!("its header: {error}")))?;
        let prefix = if metadata.info("bert.embeddings.word_embeddings.weight").is_some() { "bert." } else { "" };
        Ok(Self { path: path.to_owned(), file, metadata, start: 8 + length, prefix })
    }

    /// Returns the full name of a tensor of the encoder.
    pub(super) fn name_in_encoder(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// Returns the shape of the tensor called `name`, if it exists.
    pub(super) fn shape(&self, name: &str) -> Option<&[usize]> {
        self.metadata.info(name).map(|info| info.shape.as_slice())
    }

    /// Reads the values of the tensor called `name`, which must have the given shape.
    pub(super) fn tensor(&mut self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let damaged = |reason: String| ModelError::Damaged { path: self.path.clone(), reason };
        let old = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta");
        let info = self.metadata.info(name).or_else(|| self.metadata.info(&old));
        let info = info.ok_or_else(|| damaged(format!("it has no tensor `{name}`")))?;
        if info.shape != shape {
            return Err(damaged(format!(
                "tensor `{name}` has shape {:?}, but config.json requires {shape:?}",
                info.shape
            )));
        }
        let (from, to) = info.data_offsets;
        let length = shape.iter().try_fold(info.dtype.bitsize() / 8, |length, side| length.checked_mul(*side));
        let length = length.filter(|&length| to.checked_sub(from) == Some(length));
        let length = length.ok_or_else(|| {
            damaged(format!("tensor `{name}` of {shape:?} and type {} cannot occupy bytes {from}..{to}", info.dtype))
        })?;
        let start = self.start.saturating_add(from as u64);
        let size = self.file.metadata().map_err(ModelError::io(&self.path))?.len();
        if size.checked_sub(start).is_none_or(|rest| rest < length as u64) {
            return Err(damaged(format!("it ends inside tensor `{name}`")));
        }
        let mut bytes = vec![0; length];
        self.file.seek(SeekFrom::Start(start)).map_err(ModelError::io(&self.path))?;
        self.file.read_exact(&mut bytes).map_err(ModelError::io(&self.path))?;
        match info.dtype {
            Dtype::F64 => Ok(floats(&bytes, |bytes| f64::from_le_bytes(bytes) as f32)),
            Dtype::F32 => Ok(floats(&bytes, f32::from_le_bytes)),
            Dtype::F16 => Ok(floats(&bytes, |bytes| half(u16::from_le_bytes(bytes)))),
            Dtype::BF16 => Ok(floats(&bytes, |bytes: [u8; 2]| f32::from_le_bytes([0, 0, bytes[0], bytes[1]]))),
            other => {
                Err(damaged(format!("tensor `{name}` has type {other}, but only F64, F32, F16 and BF16 are supported")))
            }
        }
    }
}

fn floats<const BYTES: usize>(bytes: &[u8], float: impl Fn([u8; BYTES]) -> f32) -> Vec<f32> {
    bytes.as_chunks().0.iter().map(|&bytes| float(bytes)).collect()
}

/// Returns the value of an IEEE 754 half-precision number.
fn half(bits: u16) -> f32 {
    /// Corrects the exponent: the exponent bias of `f32` exceeds the exponent bias of half precision by 112.
    const REBIAS: f32 = (1u128 << 112) as f32;
    let magnitude = match u32::from(bits & 0x7fff) << 13 {
        magnitude @ ..0x0f80_0000 => f32::from_bits(magnitude) * REBIAS,
        magnitude => f32::from_bits(magnitude | f32::INFINITY.to_bits()),
    };
    if bits >> 15 == 0 { magnitude } else { -magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_precision_numbers_match_the_standard() {
        for bits in 0..=u16::MAX {
            let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
            let (exponent, fraction) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023) / 1024.0);
            let found = f64::from(half(bits));
            match exponent {
                31 if fraction > 0.0 => assert!(found.is_nan(), "{bits:x}"),
                31 => assert_eq!(found, sign * f64::INFINITY, "{bits:x}"),
                0 => assert_eq!(found, sign * fraction * 2f64.powi(-14), "{bits:x}"),
                _ => assert_eq!(found, sign * (1.0 + fraction) * 2f64.powi(exponent - 15), "{bits:x}"),
            }
        }
    }
}
