//! Sentence transformers of the BERT family, run on the CPU from a local folder.
//!
//! Everything that needs the tensor library and the tokenizers is behind the cargo feature `bert`. Without it `without.rs`
//! stands in for `embedder.rs`, so that no caller is compiled differently.

#[cfg(feature = "bert")]
mod batches;
#[cfg(feature = "bert")]
mod config;
#[cfg(feature = "bert")]
mod embedder;
#[cfg(feature = "bert")]
mod encoder;
#[cfg(feature = "bert")]
mod fused;
#[cfg(feature = "bert")]
mod weights;
#[cfg(not(feature = "bert"))]
mod without;

#[cfg(feature = "bert")]
pub use embedder::BertEmbedder;
#[cfg(not(feature = "bert"))]
pub(crate) use without::BertEmbedder;

/// Files without which a folder is no model.
pub(crate) const REQUIRED: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];
/// Every file that a model is read from, in order of name.
pub(crate) const FILES: [&str; 5] =
    ["1_Pooling/config.json", "config.json", "model.safetensors", "sentence_bert_config.json", "tokenizer.json"];
