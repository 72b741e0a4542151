//! The reranker, which combines tokenizer, encoder and classification head.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use tokenizers::Tokenizer;

use super::batches::{self, Sequence, batches, beginning};
use super::config::{Config, Pooling};
use super::encoder::Encoder;
use super::head::{CLASSIFIER, ClassificationHead};
use super::reader::Reader;
use super::weights::TensorFile;
use super::{CONFIG, TOKENIZER, WEIGHTS, model_id};
use crate::inference_error::InferenceError;
use crate::model_error::ModelError;
use crate::passage::Passage;
use crate::reranker::Reranker;

/// Maximum number of tokens in a pair. A search waits until all rerankable results are scored, and the time grows with
/// the number of tokens. The limit is sufficient for a query and for the names, signature, documentation and first
/// lines of a chunk.
const MAX_PAIR_TOKENS: usize = 128;
/// Number of special tokens in a pair: `[CLS] query [SEP] passage [SEP]`.
const SPECIAL_TOKENS: usize = 3;
/// Name of the cross-encoder architecture in `config.json`.
const ARCHITECTURE: &str = "BertForSequenceClassification";

/// A [`Reranker`] that runs a BERT encoder over query and passage together (Nogueira and Cho, "Passage re-ranking with
/// BERT", 2019). A classification head with one label scores the pair.
///
/// A score is the logit of the label, as computed by `CrossEncoder.predict` of sentence-transformers without an
/// activation function. A pair has at most 128 tokens, or fewer if the model's limit is lower. If a pair is longer, the
/// query is truncated to half of the tokens, and the passage to the remaining tokens. The pairs of a call are scored on
/// all cores.
pub struct CrossEncoder {
    id: String,
    tokenizer: Tokenizer,
    encoder: Encoder,
    head: ClassificationHead,
    max_tokens: usize,
    /// Id of the token `[CLS]`.
    start: u32,
    /// Id of the token `[SEP]`.
    end: u32,
}

impl CrossEncoder {
    /// Whether the model in `folder` is a cross-encoder: `config.json` names the architecture, or the weights have a
    /// classifier with one label.
    pub(crate) fn is_in(folder: &Path) -> Result<bool, ModelError> {
        let config = Config::read(folder)?;
        let weights = TensorFile::open(&folder.join(WEIGHTS))?;
        let has_one_label = weights.shape(CLASSIFIER) == Some(&[1, config.hidden_size]);
        Ok(has_one_label || config.architectures.iter().any(|name| name == ARCHITECTURE))
    }

    /// Loads the model in `folder`, which contains `config.json`, `tokenizer.json` and `model.safetensors`.
    ///
    /// # Errors
    /// Fails if a file is missing or invalid. The [`ModelError`] names the file and the expected content.
    pub fn load(folder: &Path, name: &str) -> Result<Self, ModelError> {
        Self::load_known(folder, &model_id(folder, name)?)
    }

    /// Like [`CrossEncoder::load`], but the caller already knows the id of the model.
    pub(crate) fn load_known(folder: &Path, id: &str) -> Result<Self, ModelError> {
        let config = Config { pooling: Pooling::FirstToken, ..Config::read(folder)? };
        check_labels(folder)?;
        let max_tokens = config.max_tokens.min(MAX_PAIR_TOKENS);
        if max_tokens < SPECIAL_TOKENS + 2 {
            let reason = format!("a pair of texts does not fit into its {max_tokens} tokens");
            return Err(ModelError::Damaged { path: folder.join(CONFIG), reason });
        }
        let path = folder.join(TOKENIZER);
        let tokenizer = batches::tokenizer(&path, &config)?;
        let token_id = |token: &str| {
            let missing = || ModelError::Damaged { path: path.clone(), reason: format!("it has no token `{token}`") };
            tokenizer.token_to_id(token).ok_or_else(missing)
        };
        let (start, end) = (token_id("[CLS]")?, token_id("[SEP]")?);
        let weights = folder.join(WEIGHTS);
        let mut reader = Reader::open(&weights, &config)?;
        let encoder = Encoder::read(&mut reader)?;
        let head = ClassificationHead::read(&mut reader)?;
        Ok(Self { id: id.to_owned(), tokenizer, encoder, head, max_tokens, start, end })
    }

    /// Returns the maximum number of tokens of a pair that the model reads, including the special tokens.
    pub fn max_tokens(&self) -> usize {
        self.max_tokens
    }

    /// Returns `[CLS] query [SEP] passage [SEP]` for every passage.
    fn pairs(&self, query: &str, passages: &[Passage<'_>]) -> Result<Vec<Sequence>, InferenceError> {
        let room = self.max_tokens - SPECIAL_TOKENS;
        let mut query = self.tokens(query)?;
        query.truncate(room / 2);
        let pair = |(at, passage): (usize, &Passage<'_>)| {
            let mut passage = self.tokens(&passage.located())?;
            passage.truncate(room - query.len());
            let ids = [&[self.start], &*query, &[self.end], &*passage, &[self.end]].concat();
            Ok(Sequence { text: at, ids, first: query.len() + 2 })
        };
        passages.iter().enumerate().map(pair).collect()
    }

    fn tokens(&self, text: &str) -> Result<Vec<u32>, InferenceError> {
        match self.tokenizer.encode_fast(beginning(text, self.max_tokens), false) {
            Ok(encoding) => Ok(encoding.get_ids().to_vec()),
            Err(error) => Err(InferenceError::Tokenize { model: self.id.clone(), reason: error.to_string() }),
        }
    }

    /// Returns the scores of the pairs of a batch.
    fn batch_scores(&self, batch: &[Sequence]) -> Result<Vec<f32>, InferenceError> {
        let failed = |reason: String| InferenceError::Forward { model: self.id.clone(), reason };
        let first_tokens = self.encoder.forward(batch, &|| false).map_err(|error| failed(error.to_string()))?;
        let scores = self.head.scores(&first_tokens.unwrap_or_default());
        if scores.iter().all(|score| score.is_finite()) {
            Ok(scores)
        } else {
            Err(InferenceError::NotFinite { model: self.id.clone(), result: "score" })
        }
    }

    /// Returns the scores of all batches. There is one worker per core, and each worker takes the next batch until no
    /// batch remains.
    fn all_scores(&self, batches: &[Vec<Sequence>]) -> Vec<(usize, Result<Vec<f32>, InferenceError>)> {
        let workers = thread::available_parallelism().map_or(1, usize::from).min(batches.len());
        let next = AtomicUsize::new(0);
        let work = || {
            let taken = std::iter::from_fn(|| {
                let at = next.fetch_add(1, Ordering::Relaxed);
                Some((at, self.batch_scores(batches.get(at)?)))
            });
            taken.collect::<Vec<_>>()
        };
        thread::scope(|scope| {
            let others: Vec<_> =
                (1..workers).filter_map(|_| thread::Builder::new().spawn_scoped(scope, work).ok()).collect();
            let mut scores = work();
            scores.extend(others.into_iter().flat_map(|other| other.join().expect("a worker does not panic")));
            scores
        })
    }
}

impl Reranker for CrossEncoder {
    fn id(&self) -> &str {
        &self.id
    }

    fn scores(&self, query: &str, passages: &[Passage<'_>]) -> Result<Vec<f32>, InferenceError> {
        let batches = batches(self.pairs(query, passages)?);
        let mut scores = vec![0.0; passages.len()];
        for (at, found) in self.all_scores(&batches) {
            for (pair, score) in batches[at].iter().zip(found?) {
                scores[pair.text] = score;
            }
        }
        Ok(scores)
    }
}

/// Checks that the classifier has exactly one label.
fn check_labels(folder: &Path) -> Result<(), ModelError> {
    let path = folder.join(WEIGHTS);
    match TensorFile::open(&path)?.shape(CLASSIFIER) {
        Some(&[labels, _]) if labels != 1 => Err(ModelError::Unsupported {
            path,
            what: "the number of labels",
            found: labels.to_string(),
            supported: "1",
        }),
        _ => Ok(()),
    }
}
