//! The embedder, which combines tokenizer and encoder.

use std::path::Path;

use tokenizers::Tokenizer;

use super::batches::{self, Sequence, batches, beginning};
use super::config::Config;
use super::encoder::Encoder;
use super::reader::Reader;
use super::{TOKENIZER, WEIGHTS, model_id};
use crate::embedder::{EmbedError, Embedder, QueryEmbedder};
use crate::inference_error::InferenceError;
use crate::model_error::ModelError;
use crate::passage::Passage;
use crate::static_model::normalise;

/// An [`Embedder`] that runs a BERT encoder, pools the vectors of the last layer and scales the result to unit length.
/// Depending on the model, pooling averages the vectors of all tokens or takes the vector of the first token.
///
/// With the same weights, the cosine between a vector of this embedder and the vector of sentence-transformers for the
/// same text is above 0.9999. A call runs on one core. Calls from several threads run in parallel.
pub struct BertEmbedder {
    id: String,
    config: Config,
    tokenizer: Tokenizer,
    encoder: Encoder,
}

impl BertEmbedder {
    /// Loads the model in `folder`, which contains `config.json`, `tokenizer.json` and `model.safetensors`, and
    /// optionally `sentence_bert_config.json` (truncation) and `1_Pooling/config.json` (mean or first token).
    ///
    /// # Errors
    /// Fails if a file is missing or invalid. The [`ModelError`] names the file and the expected content.
    pub fn load(folder: &Path, name: &str) -> Result<Self, ModelError> {
        Self::load_known(folder, &model_id(folder, name)?)
    }

    /// Like [`BertEmbedder::load`], but the caller already knows the id of the model.
    pub(crate) fn load_known(folder: &Path, id: &str) -> Result<Self, ModelError> {
        let config = Config::read(folder)?;
        let tokenizer = batches::tokenizer(&folder.join(TOKENIZER), &config)?;
        let encoder = Encoder::read(&mut Reader::open(&folder.join(WEIGHTS), &config)?)?;
        Ok(Self { id: id.to_owned(), config, tokenizer, encoder })
    }

    /// Returns the maximum number of tokens of a text that the model reads, including the two special tokens at its
    /// ends.
    pub fn max_tokens(&self) -> usize {
        self.config.max_tokens
    }

    /// Returns one result per text, or `None` if `is_stopped` returned true.
    fn embed_texts(
        &self,
        texts: Vec<String>,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Result<Vec<f32>, EmbedError>>> {
        let mut results: Vec<Result<Vec<f32>, EmbedError>> = Vec::with_capacity(texts.len());
        let mut tokens = Vec::with_capacity(texts.len());
        for text in texts {
            if is_stopped() {
                return None;
            }
            match self.tokenizer.encode_fast(beginning(&text, self.config.max_tokens), true) {
                Ok(encoding) => {
                    tokens.push(Sequence::single(results.len(), encoding.get_ids().to_vec()));
                    results.push(Ok(vec![0.0; self.config.hidden_size]));
                }
                Err(error) => {
                    let model = self.id.clone();
                    results.push(Err(InferenceError::Tokenize { model, reason: error.to_string() }.into()));
                }
            }
        }
        for batch in batches(tokens) {
            self.embed_batch(&batch, &mut results, is_stopped)?;
        }
        Some(results)
    }

    fn embed_batch(
        &self,
        batch: &[Sequence],
        results: &mut [Result<Vec<f32>, EmbedError>],
        is_stopped: &dyn Fn() -> bool,
    ) -> Option<()> {
        match self.encoder.forward(batch, is_stopped).transpose()? {
            Ok(vectors) => {
                for (sequence, vector) in batch.iter().zip(vectors.chunks_exact(self.config.hidden_size)) {
                    let mut vector = vector.to_vec();
                    results[sequence.text] = if vector.iter().all(|value| value.is_finite()) {
                        normalise(&mut vector);
                        Ok(vector)
                    } else {
                        Err(InferenceError::NotFinite { model: self.id.clone(), result: "vector" }.into())
                    };
                }
            }
            Err(error) => {
                for sequence in batch {
                    let model = self.id.clone();
                    results[sequence.text] = Err(InferenceError::Forward { model, reason: error.to_string() }.into());
                }
            }
        }
        Some(())
    }
}

impl QueryEmbedder for BertEmbedder {
    fn id(&self) -> &str {
        &self.id
    }

    fn dimensions(&self) -> usize {
        self.config.hidden_size
    }

    fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbedError> {
        let found = self.embed_texts(vec![text.to_owned()], &|| false).and_then(|mut found| found.pop());
        found.unwrap_or_else(|| Ok(vec![0.0; self.config.hidden_size]))
    }
}

impl Embedder for BertEmbedder {
    fn embed_unless(
        &self,
        passages: &[Passage<'_>],
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Result<Vec<f32>, EmbedError>>> {
        self.embed_texts(passages.iter().map(Passage::full).collect(), is_stopped)
    }
}
