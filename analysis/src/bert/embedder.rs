//! The embedder over tokenizer and encoder.

use std::path::Path;
use std::sync::Mutex;

use tokenizers::Tokenizer;

use super::FILES;
use super::batches::{self, TokenBatch, batches};
use super::config::Config;
use super::encoder::Encoder;
use crate::embedder::{EmbedError, Embedder, QueryEmbedder};
use crate::model_error::ModelError;
use crate::model_file;
use crate::passage::Passage;
use crate::static_model::normalise;

/// The tokenizer sees this many bytes for each token that the model looks at, and need not read a huge chunk to its end:
/// real text, with indentation, has 3 to 12.
const BYTES_PER_TOKEN: usize = 64;

/// An [`Embedder`] that runs a BERT encoder, averages its last layer over the tokens and scales to unit length.
///
/// Agrees with sentence-transformers on the same weights to a cosine above 0.9999. A call runs on one core; several
/// threads may call at once and then run side by side.
pub struct BertEmbedder {
    id: String,
    config: Config,
    tokenizer: Tokenizer,
    encoder: Encoder,
    /// Pools of one thread each, lent to one call at a time: the tensor library takes as many threads as the pool that it
    /// is called in has, and callers that each use one core beat one that uses all.
    pools: Mutex<Vec<rayon::ThreadPool>>,
}

impl BertEmbedder {
    /// The model in `folder`, which holds `config.json`, `tokenizer.json` and `model.safetensors`, and where there are any
    /// `sentence_bert_config.json` (truncation) and `1_Pooling/config.json` (mean or first token).
    ///
    /// # Errors
    /// [`ModelError`] naming the file and what it should hold.
    pub fn load(folder: &Path, name: &str) -> Result<Self, ModelError> {
        let mut hasher = blake3::Hasher::new();
        for file in FILES {
            let path = folder.join(file);
            if path.is_file() {
                let bytes = model_file::read(&path)?;
                hasher.update(format!("{file}\0{}\n", blake3::hash(&bytes).to_hex()).as_bytes());
            }
        }
        Self::load_known(folder, &format!("{name}@{}", &hasher.finalize().to_hex()[..16]))
    }

    /// As [`BertEmbedder::load`], with an id that the caller has from when the files were last read.
    pub(crate) fn load_known(folder: &Path, id: &str) -> Result<Self, ModelError> {
        let config = Config::read(folder)?;
        let tokenizer = batches::tokenizer(&folder.join("tokenizer.json"), &config)?;
        let encoder = Encoder::read(&folder.join("model.safetensors"), &config)?;
        Ok(Self { id: id.to_owned(), config, tokenizer, encoder, pools: Mutex::default() })
    }

    /// Tokens of a text that are looked at, counting the two that mark its ends.
    pub fn max_tokens(&self) -> usize {
        self.config.max_tokens
    }

    /// One result per text; `None` once `is_stopped` returns true.
    fn embed_texts(
        &self,
        texts: Vec<String>,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Option<Vec<Result<Vec<f32>, EmbedError>>> {
        self.on_one_thread(|| {
            let mut results: Vec<Result<Vec<f32>, EmbedError>> = Vec::with_capacity(texts.len());
            let mut tokens = Vec::with_capacity(texts.len());
            for text in texts {
                if is_stopped() {
                    return None;
                }
                let text = &text[..text.floor_char_boundary(self.config.max_tokens * BYTES_PER_TOKEN)];
                match self.tokenizer.encode_fast(text, true) {
                    Ok(encoding) => {
                        tokens.push((results.len(), encoding.get_ids().to_vec()));
                        results.push(Ok(vec![0.0; self.config.hidden_size]));
                    }
                    Err(error) => {
                        results.push(Err(EmbedError::Tokenize { model: self.id.clone(), reason: error.to_string() }));
                    }
                }
            }
            for batch in batches(tokens) {
                self.embed_batch(&batch, &mut results, is_stopped)?;
            }
            Some(results)
        })
    }

    fn embed_batch(
        &self,
        batch: &TokenBatch,
        results: &mut [Result<Vec<f32>, EmbedError>],
        is_stopped: &dyn Fn() -> bool,
    ) -> Option<()> {
        match self.encoder.forward(batch, is_stopped).transpose()? {
            Ok(vectors) => {
                for (&text, vector) in batch.texts.iter().zip(vectors.chunks_exact(self.config.hidden_size)) {
                    let mut vector = vector.to_vec();
                    results[text] = if vector.iter().all(|value| value.is_finite()) {
                        normalise(&mut vector);
                        Ok(vector)
                    } else {
                        Err(EmbedError::NotFinite { model: self.id.clone() })
                    };
                }
            }
            Err(error) => {
                for &text in &batch.texts {
                    results[text] = Err(EmbedError::Forward { model: self.id.clone(), reason: error.to_string() });
                }
            }
        }
        Some(())
    }

    fn on_one_thread<T: Send>(&self, work: impl FnOnce() -> T + Send) -> T {
        let lent = self.pools.lock().ok().and_then(|mut pools| pools.pop());
        let pool = lent.or_else(|| rayon::ThreadPoolBuilder::new().num_threads(1).build().ok());
        let Some(pool) = pool else { return work() };
        let result = pool.install(work);
        if let Ok(mut pools) = self.pools.lock() {
            pools.push(pool);
        }
        result
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
