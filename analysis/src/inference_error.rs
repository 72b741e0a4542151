//! Errors of a model on a text.

/// Error of a model on a text.
#[derive(Debug, Clone, thiserror::Error)]
pub enum InferenceError {
    /// The model's tokenizer refused the text.
    #[error("model {model}: the tokenizer failed: {reason}")]
    Tokenize {
        /// Id of the model.
        model: String,
        /// The message of the tokenizer.
        reason: String,
    },
    /// The forward pass failed.
    #[error("model {model}: the forward pass failed: {reason}")]
    Forward {
        /// Id of the model.
        model: String,
        /// Describes the token that has no embedding.
        reason: String,
    },
    /// The result contains a NaN or an infinity: the weights are damaged.
    #[error("model {model} returned a {result} that is not finite; its weights are damaged, add the model again")]
    NotFinite {
        /// Id of the model.
        model: String,
        /// The kind of result: a vector or a score.
        result: &'static str,
    },
}
