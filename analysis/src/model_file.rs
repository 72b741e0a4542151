//! The files of a model.

use std::path::Path;

use aurora_confined::read_regular;
use serde::{Deserialize, Serialize};

use crate::model_error::ModelError;

/// Most bytes of a file of a model.
pub(crate) const MOST_BYTES: u64 = 16 << 30;

/// A file of a model, as it was when the model was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFile {
    /// Path relative to the model's folder, with `/`.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// BLAKE3 of the contents, hexadecimal.
    pub blake3: String,
}

/// The content of a model's file.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, ModelError> {
    read_regular(path, MOST_BYTES).map_err(ModelError::io(path))
}
