//! Why a model gave no result for a text.

/// Why a model gave no result for a text.
#[derive(Debug, Clone, thiserror::Error)]
pub enum InferenceError {
    /// The model's tokenizer refused the text.
    #[error("model {model}: the tokenizer failed: {reason}")]
    Tokenize {
        /// Id of the model.
        model: String,
        /// What the tokenizer said.
        reason: String,
    },
    /// The forward pass failed.
    #[error("model {model}: the forward pass failed: {reason}")]
    Forward {
        /// Id of the model.
        model: String,
        /// The token that has no embedding.
        reason: String,
    },
    /// The result holds a NaN or an infinity: the weights are damaged.
    #[error("model {model} returned a {result} that is not finite; its weights are damaged, add the model again")]
    NotFinite {
        /// Id of the model.
        model: String,
        /// What it should return: a vector or a score.
        result: &'static str,
    },
}
