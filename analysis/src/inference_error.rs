//! Errors that occur when a model processes a text.

/// Error that occurs when a model processes a text.
#[derive(Debug, Clone, thiserror::Error)]
pub enum InferenceError {
    /// The model's tokenizer failed on the text.
    #[error("model {model}: the tokenizer failed: {reason}")]
    Tokenize {
        /// Id of the model.
        model: String,
        /// The message of the tokenizer.
        reason: String,
    },
    /// The encoder failed on the tokens of the text.
    #[error("model {model}: the forward pass failed: {reason}")]
    Forward {
        /// Id of the model.
        model: String,
        /// The cause. The only known cause is a token without an embedding.
        reason: String,
    },
    /// The result contains a NaN or an infinity, because the weights are damaged.
    #[error("model {model} returned a {result} that is not finite; its weights are damaged, add the model again")]
    NotFinite {
        /// Id of the model.
        model: String,
        /// The kind of result: a vector or a score.
        result: &'static str,
    },
}
