//! The record of an added model.

use serde::{Deserialize, Serialize};

use crate::model_file::ModelFile;
use crate::model_use::ModelUse;

/// The record of an added model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelEntry {
    /// Name of the model in configurations.
    pub name: String,
    /// Purpose of the model. Records of earlier versions do not have this field, because those versions supported only
    /// embedding models.
    #[serde(default, rename = "use")]
    pub model_use: ModelUse,
    /// First 16 hexadecimal digits of the BLAKE3 hash over the names and contents of the files.
    pub digest: String,
    /// Length of the vectors, or 0 for a reranker.
    pub dimensions: usize,
    /// Maximum number of tokens of a text, or of a pair of texts, that the model reads.
    pub max_tokens: usize,
    /// Files of the model, relative to its folder, in order of name.
    pub files: Vec<ModelFile>,
}
