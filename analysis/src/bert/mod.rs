//! Models of the BERT family, run on the CPU from a local folder: sentence transformers and cross-encoders.
//!
//! Code that needs matrix products or the tokenizers is behind the cargo feature `bert`. Without the feature,
//! `without.rs` replaces `embedder.rs` and `cross_encoder.rs`, so that callers compile unchanged.

#[cfg(feature = "bert")]
mod batches;
#[cfg(feature = "bert")]
mod config;
#[cfg(feature = "bert")]
mod cross_encoder;
#[cfg(feature = "bert")]
mod embedder;
#[cfg(feature = "bert")]
mod encoder;
#[cfg(feature = "bert")]
mod fused;
#[cfg(feature = "bert")]
mod head;
#[cfg(feature = "bert")]
mod reader;
#[cfg(feature = "bert")]
mod weights;
#[cfg(not(feature = "bert"))]
mod without;

#[cfg(feature = "bert")]
pub use cross_encoder::CrossEncoder;
#[cfg(feature = "bert")]
pub use embedder::BertEmbedder;
#[cfg(not(feature = "bert"))]
pub(crate) use without::{MissingModel as BertEmbedder, MissingModel as CrossEncoder};

#[cfg(feature = "bert")]
use crate::model_error::ModelError;

const CONFIG: &str = "config.json";
const TOKENIZER: &str = "tokenizer.json";
const WEIGHTS: &str = "model.safetensors";

/// Files that every model folder must contain.
pub(crate) const REQUIRED: [&str; 3] = [CONFIG, TOKENIZER, WEIGHTS];
/// All files that a model may consist of, in order of name.
pub(crate) const FILES: [&str; 5] = ["1_Pooling/config.json", CONFIG, WEIGHTS, "sentence_bert_config.json", TOKENIZER];

/// Returns the id of the model in `folder`, in the form `name@digest`. The digest covers the model's files.
#[cfg(feature = "bert")]
fn model_id(folder: &std::path::Path, name: &str) -> Result<String, ModelError> {
    let mut hasher = blake3::Hasher::new();
    for file in FILES {
        let path = folder.join(file);
        if path.is_file() {
            let bytes = crate::model_file::read(&path)?;
            hasher.update(format!("{file}\0{}\n", blake3::hash(&bytes).to_hex()).as_bytes());
        }
    }
    Ok(format!("{name}@{}", &hasher.finalize().to_hex()[..16]))
}
