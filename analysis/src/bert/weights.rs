//! Tensors out of a `safetensors` file, each read once and straight into place.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use aurora_confined::open_regular;
use candle_core::{DType, Device, Tensor};
use safetensors::tensor::Metadata;

use crate::model_error::ModelError;

/// No header of a real model comes near this many bytes.
const MAX_HEADER_BYTES: u64 = 64 << 20;

pub(super) struct TensorFile {
    path: PathBuf,
    file: File,
    metadata: Metadata,
    /// Where the tensors' bytes begin.
    start: u64,
    /// What stands before the names of the encoder's tensors: nothing, or `bert.`.
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
            return Err(damaged(format!("it is no safetensors file: its header would have {length} bytes")));
        }
        let mut header = Vec::new();
        file.by_ref().take(length).read_to_end(&mut header).map_err(ModelError::io(path))?;
        let metadata: Metadata =
            serde_json::from_slice(&header).map_err(|error| damaged(format!("its header: {error}")))?;
        let prefix = if metadata.info("bert.embeddings.word_embeddings.weight").is_some() { "bert." } else { "" };
        Ok(Self { path: path.to_owned(), file, metadata, start: 8 + length, prefix })
    }

    /// The full name of a tensor of the encoder.
    pub(super) fn name_in_encoder(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    /// The shape of the tensor called `name`, if there is one.
    pub(super) fn shape(&self, name: &str) -> Option<&[usize]> {
        self.metadata.info(name).map(|info| info.shape.as_slice())
    }

    /// The tensor called `name`, which must have this shape, as `f32`.
    pub(super) fn tensor(&mut self, name: &str, shape: &[usize]) -> Result<Tensor, ModelError> {
        let damaged = |reason: String| ModelError::Damaged { path: self.path.clone(), reason };
        let old = name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta");
        let info = self.metadata.info(name).or_else(|| self.metadata.info(&old));
        let info = info.ok_or_else(|| damaged(format!("it has no tensor `{name}`")))?;
        if info.shape != shape {
            return Err(damaged(format!(
                "tensor `{name}` has shape {:?} where config.json asks for {shape:?}",
                info.shape
            )));
        }
        let (from, to) = info.data_offsets;
        let length = shape.iter().product::<usize>() * info.dtype.bitsize() / 8;
        if to.checked_sub(from) != Some(length) {
            return Err(damaged(format!(
                "tensor `{name}` of {shape:?} must have {length} bytes and lies at {from}..{to}"
            )));
        }
        let mut bytes = Vec::with_capacity(length);
        self.file.seek(SeekFrom::Start(self.start.saturating_add(from as u64))).map_err(ModelError::io(&self.path))?;
        self.file.by_ref().take(length as u64).read_to_end(&mut bytes).map_err(ModelError::io(&self.path))?;
        if bytes.len() != length {
            return Err(damaged(format!("it ends inside tensor `{name}`")));
        }
        let kind = DType::try_from(info.dtype).map_err(|error| damaged(format!("tensor `{name}`: {error}")))?;
        let tensor =
            Tensor::from_raw_buffer(&bytes, kind, shape, &Device::Cpu).and_then(|tensor| tensor.to_dtype(DType::F32));
        tensor.map_err(|error| damaged(format!("tensor `{name}`: {error}")))
    }
}
