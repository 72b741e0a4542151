//! Reads and validates the shape of a model from its JSON files.

use std::path::Path;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::CONFIG;
use crate::model_error::ModelError;
use crate::model_file;

/// The shape of a supported encoder.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Config {
    pub(super) hidden_size: usize,
    pub(super) intermediate_size: usize,
    pub(super) heads: usize,
    pub(super) layers: usize,
    pub(super) vocabulary: usize,
    pub(super) positions: usize,
    pub(super) epsilon: f64,
    pub(super) max_tokens: usize,
    pub(super) pooling: Pooling,
    pub(super) architectures: Vec<String>,
}

/// Method that combines the vectors of a text's tokens into one vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pooling {
    Mean,
    FirstToken,
}

#[derive(Deserialize)]
struct ConfigFile {
    model_type: String,
    hidden_size: usize,
    intermediate_size: usize,
    num_attention_heads: usize,
    num_hidden_layers: usize,
    vocab_size: usize,
    max_position_embeddings: usize,
    layer_norm_eps: f64,
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
    #[serde(default)]
    architectures: Vec<String>,
}

fn absolute() -> String {
    "absolute".to_owned()
}

#[derive(Deserialize)]
struct SentenceFile {
    max_seq_length: Option<usize>,
}

#[derive(Deserialize)]
struct PoolingFile {
    #[serde(default)]
    pooling_mode_mean_tokens: bool,
    #[serde(default)]
    pooling_mode_cls_token: bool,
}

impl Config {
    pub(super) fn read(folder: &Path) -> Result<Self, ModelError> {
        let path = folder.join(CONFIG);
        let file: ConfigFile = json(&path)?;
        let unsupported = |what, found: &str, supported| {
            Err(ModelError::Unsupported { path: path.clone(), what, found: found.to_owned(), supported })
        };
        if file.model_type != "bert" {
            return unsupported("model_type", &file.model_type, "bert");
        }
        if file.hidden_act != "gelu" {
            return unsupported("hidden_act", &file.hidden_act, "gelu");
        }
        if file.position_embedding_type != "absolute" {
            return unsupported("position_embedding_type", &file.position_embedding_type, "absolute");
        }
        let heads = file.num_attention_heads;
        if heads == 0
            || file.hidden_size == 0
            || file.intermediate_size == 0
            || !file.hidden_size.is_multiple_of(heads)
            || file.max_position_embeddings < 3
        {
            let reason = format!(
                "hidden_size {} with {heads} heads, intermediate_size {} and {} positions are an invalid combination",
                file.hidden_size, file.intermediate_size, file.max_position_embeddings
            );
            return Err(ModelError::Damaged { path, reason });
        }
        let limit =
            optional::<SentenceFile>(&folder.join("sentence_bert_config.json"))?.and_then(|file| file.max_seq_length);
        Ok(Self {
            hidden_size: file.hidden_size,
            intermediate_size: file.intermediate_size,
            heads,
            layers: file.num_hidden_layers,
            vocabulary: file.vocab_size,
            positions: file.max_position_embeddings,
            epsilon: file.layer_norm_eps,
            max_tokens: limit.unwrap_or(usize::MAX).clamp(3, file.max_position_embeddings),
            pooling: pooling(&folder.join("1_Pooling").join("config.json"))?,
            architectures: file.architectures,
        })
    }
}

fn pooling(path: &Path) -> Result<Pooling, ModelError> {
    match optional(path)? {
        None | Some(PoolingFile { pooling_mode_mean_tokens: true, pooling_mode_cls_token: false }) => Ok(Pooling::Mean),
        Some(PoolingFile { pooling_mode_mean_tokens: false, pooling_mode_cls_token: true }) => Ok(Pooling::FirstToken),
        Some(_) => Err(ModelError::Unsupported {
            path: path.to_owned(),
            what: "pooling",
            found: "another mode or several modes".to_owned(),
            supported: "either the mean of the tokens or the first token",
        }),
    }
}

fn json<T: DeserializeOwned>(path: &Path) -> Result<T, ModelError> {
    let bytes = model_file::read(path)?;
    serde_json::from_slice(&bytes)
        .map_err(|error| ModelError::Damaged { path: path.to_owned(), reason: error.to_string() })
}

fn optional<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, ModelError> {
    if path.is_file() { json(path).map(Some) } else { Ok(None) }
}
