//! Turns text into terms and vectors. Indexing and searching both use this crate, so they always treat a text in the
//! same way.
//!
//! - [`Analyzer`] splits text into the terms of the keyword index: identifiers and their parts, lower-cased.
//! - [`Embedder`] turns a [`Passage`] or a query into a vector. [`StaticModel`] is a table of token vectors inside the
//!   program: it needs no file and no download. `BertEmbedder` (cargo feature `bert`, on by default) runs a sentence
//!   transformer (`all-MiniLM-L6-v2`) from a local folder.
//! - [`Reranker`] scores how well passages answer a query by reading the query and a passage together. `CrossEncoder`
//!   (the same feature) runs a BERT model with a classification head.
//! - [`ModelDirectory`] manages the folder of added models (`~/.aurora/models`). It checks models before it adds them.
//!
//! The crate deliberately has no stop words and no stemming, which do not help with code. It does not access the
//! network, because models are read from folders. It does not train models (see `xtask/model`), store terms or vectors,
//! or rank results.
//!
//! ```
//! use aurora_analysis::Analyzer;
//!
//! let mut terms = Vec::new();
//! Analyzer.terms("new HTTPSConnection(user_id)", &mut |term| terms.push(term.to_owned()));
//! assert_eq!(terms, ["new", "httpsconnection", "https", "connection", "user_id", "user", "id"]);
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod analyzer;
mod bert;
mod embedder;
mod inference_error;
mod model_dir;
mod model_entry;
mod model_error;
mod model_file;
mod model_use;
mod passage;
mod reranker;
mod static_model;
mod tokenizer;

pub use analyzer::{ANALYZER_VERSION, Analyzer, MAX_TERM_BYTES, composed};
#[cfg(feature = "bert")]
pub use bert::{BertEmbedder, CrossEncoder};
pub use embedder::{EmbedError, Embedder, QueryEmbedder, STATIC};
pub use inference_error::InferenceError;
pub use model_dir::{ModelDirectory, embedder, is_model_name, reranker};
pub use model_entry::ModelEntry;
pub use model_error::ModelError;
pub use model_file::ModelFile;
pub use model_use::ModelUse;
pub use passage::Passage;
pub use reranker::Reranker;
pub use static_model::{LateInteraction, PassageReader, PassageTokens, StaticModel, TokenSets};
pub use tokenizer::is_unspaced;
