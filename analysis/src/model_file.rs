//! The files of a model.

use std::path::Path;

use aurora_confined::read_regular;
use serde::{Deserialize, Serialize};

use crate::model_error::ModelError;

/// Maximum size of a model file in bytes.
pub(crate) const MAX_MODEL_FILE_BYTES: u64 = 16 << 30;

/// A file of a model, as it was when the model was added.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFile {
    /// Path relative to the model's folder, with `/` as separator.
    pub path: String,
    /// Size in bytes.
    pub bytes: u64,
    /// BLAKE3 hash of the contents, in hexadecimal.
    pub blake3: String,
}

/// Reads a file of a model.
pub(crate) fn read(path: &Path) -> Result<Vec<u8>, ModelError> {
    read_regular(path, MAX_MODEL_FILE_BYTES).map_err(ModelError::io(path))
}
